"""Numbers in the cells of a column, plain or as people write them: 3,5 and 1,000 and 5 % and $5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.features.cells import is_numeric, without_gaps

# How numbers may be written, beside plainly: what all cells have to look like, what is removed, what is the point.
_SPACE = r"[ \x{00a0}\x{202f}]"
_STYLES = {
    "plain": (r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$", r"^\+", "."),
    "thousands": (rf"^[-+]?\d{{1,3}}((,\d{{3}})*|('\d{{3}})*|({_SPACE}\d{{3}})*)(\.\d+)?$|^[-+]?\d+(\.\d+)?$",
                  rf"^\+|[,']|{_SPACE}", "."),
    "comma": (rf"^[-+]?\d{{1,3}}((\.\d{{3}})*|({_SPACE}\d{{3}})*)(,\d+)?$|^[-+]?\d+(,\d+)?$",
              rf"^\+|\.|{_SPACE}", ","),
}  # fmt: skip
_UNITS = ("%", "€", "$", "£", "¥")
# Between a style and a unit.
_AND = " "
NOTATIONS = ("", *(style + unit for style in _STYLES for unit in ("", *(_AND + sign for sign in _UNITS))))

_ALIKE = r"^[-+]?[€$£¥]?\s*[-+]?[\d.,' \x{00a0}\x{202f}]*\d[\d.,']*([eE][-+]?\d+)?\s*[%€$£¥]?$"


def plain_numbers(column: Any) -> NDArray[np.float64] | None:
    """(N,) the cells as numbers, NaN where missing, or None if some cell is none."""
    if is_numeric(column):
        return _values(column)
    if not pa.types.is_string(column.type):
        return None
    try:
        return _values(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        pass
    try:
        return _values(without_gaps(column).cast(pa.float64()))
    except pa.ArrowInvalid:
        return None


def written_numbers(column: Any, notation: str) -> NDArray[np.float64] | None:
    """(N,) the cells as numbers, by how they are written, or None if some cell is written otherwise."""
    if not notation or not pa.types.is_string(column.type):
        return plain_numbers(column)
    style, _, unit = notation.partition(_AND)
    pattern, removed, point = _STYLES[style]
    cells = _without_unit(without_gaps(column), unit)
    if not _all_match(cells, pattern):
        return None
    cells = pc.replace_substring_regex(cells, removed, "")
    return _values(pc.replace_substring(cells, point, ".").cast(pa.float64()))


def notation_of(column: Any) -> str | None:
    """How the numbers of a text column are written, if all cells are numbers written in one of these ways.

    Where 1,000 may be a thousand or a one with three decimals, it is a thousand.
    """
    cells = without_gaps(column)
    if not _all_match(cells, _ALIKE):
        return None
    unit = next((sign for sign in _UNITS if pc.any(pc.match_substring(cells, sign)).as_py()), "")
    # A share and a number are not the same; a price is one with and without its sign.
    if unit == "%" and not _all_match(cells, "%"):
        return None
    bare = _without_unit(cells, unit)
    for style, (pattern, _, _) in _STYLES.items():
        if _all_match(bare, pattern):
            return style + (unit and _AND + unit)
    return None


def told_notation(example: str, notation: str, value: float) -> str:
    """How the numbers of a column were read, by an example."""
    how = {"thousands": "write 1.5 for a decimal point", "comma": "write 1500 for thousands", "plain": ""}
    style, _, unit = notation.partition(_AND)
    without = f", without {unit}" if unit else ""
    advice = f" If it means something else, {how[style]}." if how[style] else ""
    return f"numbers are written as {example!r}, which is read as {value:g}{without}.{advice}"


def looks_like_numbers(column: Any) -> bool:
    """Whether at least half of the cells that say something look like numbers."""
    cells = without_gaps(column).drop_null()
    alike = pc.match_substring_regex(cells, _ALIKE)
    return bool(len(cells)) and pc.mean(pc.cast(alike, pa.float64())).as_py() >= 0.5


def first_not_plain(column: Any) -> int:
    """The row of the first cell that says something and is not a number as a program writes it."""
    alike = pc.fill_null(pc.match_substring_regex(without_gaps(column), _STYLES["plain"][0]), True)
    return int(pc.index(alike, False).as_py())


def _without_unit(cells: Any, unit: str) -> Any:
    if not unit:
        return cells
    sign = "\\" + unit if unit == "$" else unit
    return pc.replace_substring_regex(cells, rf"^([-+]?){sign}\s*|\s*{sign}$", r"\1")


def _all_match(cells: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def _values(column: Any) -> NDArray[np.float64]:
    return np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
