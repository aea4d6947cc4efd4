"""What the cells of a column say: as text, as numbers, as truth values; what counts as missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.features.table import TableFile, shown

# What spreadsheets, pandas, R and databases write into a cell that has no value.
GAPS = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "NAN", "nan", "NULL", "Null", "null", "None", r"\N")
# Beyond this a standard deviation would overflow; no honest feature is so large.
LARGEST_NUMBER = 1e30

# The first letters of a cell that a spreadsheet would take as a formula.
FORMULAS = "=+-@\t\r"

# The ways to write dates and times; 05/06/2024 is not among them, which is in May or in June.
_TIMES = (pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC"))
# 31.05.2024, with a time or without; 1.2.3 is none, but may be a version.
_DAY_FIRST = {
    "%d.%m.%Y": r"^(?P<day>\d{1,2})\.\d{1,2}\.\d{4}$",
    "%d.%m.%Y %H:%M": r"^(?P<day>\d{1,2})\.\d{1,2}\.\d{4} \d{1,2}:\d{2}$",
}
_LIKE_A_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{2,4}([ T]\d{1,2}:\d{2}.*)?")
# So many different cells are looked at one by one.
_MOST_LOOKED_AT = 10_000
# What is true and what is false, in each of the ways to write it.
_TRUTH = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))


def without_gaps(column: Any) -> Any:
    """The column with null where it says NA, NaN or the like."""
    if pa.types.is_string(column.type):
        gap = pc.is_in(column, value_set=pa.array(GAPS))
        return pc.if_else(gap, pa.scalar(None, pa.string()), column)
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def as_text(column: Any) -> Any:
    """Ids or labels as text; whole numbers that were stored with a fraction lose it."""
    if pa.types.is_string(column.type):
        return column
    if pa.types.is_floating(column.type):
        column = without_gaps(column)
        values = column.drop_null().to_numpy()
        if np.isfinite(values).all() and (values == np.floor(values)).all() and (abs(values) < 2**53).all():
            column = column.cast(pa.int64())
    return column.cast(pa.string())


def defused(cell: str) -> str:
    """A cell with an apostrophe in front if a spreadsheet would take it as a formula."""
    return f"'{cell}" if cell.startswith(tuple(FORMULAS)) else cell


def as_before_defused(cell: str) -> str:
    """What a cell was before its apostrophe, if it has one for that reason."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(tuple(FORMULAS)) else cell


def is_numeric(column: Any) -> bool:
    """Whether the file itself says that these are numbers."""
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def parses_as_date(cells: Any) -> bool:
    """Whether every cell of a text column is a date or time as in ISO 8601, or as 31.05.2024."""
    return _seconds(cells) is not None


def _seconds(column: Any) -> Any | None:
    """Dates and times as whole seconds, be it with fractions or a time zone; None if some cell is neither."""
    for kind in _TIMES:
        try:
            return column.cast(kind).cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        except pa.ArrowException:
            continue
    for form, pattern in _DAY_FIRST.items():
        try:
            days = pc.struct_field(pc.extract_regex(column, pattern), "day").cast(pa.int64())
            times = pc.strptime(column, form, "s")
        except pa.ArrowException:
            continue
        # A cell that has not this form has no day here; the 31st of February is one in March there.
        if days.null_count == column.null_count and pc.all(pc.equal(pc.day(times), days), min_count=0).as_py():
            return times.cast(pa.int64())
    return None


def looks_like_a_date(cell: str) -> bool:
    """Whether a cell is numbers that are set apart as those of a date are."""
    return _LIKE_A_DATE.fullmatch(cell) is not None


def first_not_a_date(column: Any) -> int | None:
    """The row of the first cell that is no date on its own; None if every one is, though together they are not."""
    for cell in pc.unique(column.drop_null()).slice(0, _MOST_LOOKED_AT):
        if not parses_as_date(pa.chunked_array([[cell.as_py()]])):
            return int(pc.index(column, cell).as_py())
    return None


def truth_values(column: Any) -> Any | None:
    """The column as truth values, or None if some cell is neither true nor false."""
    if pa.types.is_boolean(column.type):
        return column
    if not pa.types.is_string(column.type):
        return None
    lower = pc.utf8_lower(column)
    for true, false in _TRUTH:
        known = pc.is_in(lower, value_set=pa.array((true, false)))
        if pc.all(pc.or_(known, column.is_null())).as_py():
            return pc.if_else(column.is_null(), None, pc.equal(lower, true))
    return None


def as_times(file: TableFile, name: str, column: Any) -> NDArray[np.float64]:
    """(N,) dates as seconds, NaN where missing; DataError names the first that is none."""
    seconds = _seconds(column)
    if seconds is None:
        cell = first_bad(column, lambda cells: not parses_as_date(cells))
        raise DataError(
            f"{file.path}, column {shown(name)}: {cell} is not a date such as 2024-05-31, or not written as the "
            "others are. Correct it or leave the cell empty."
        )
    return np.array(seconds.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def as_truth(file: TableFile, name: str, column: Any) -> NDArray[np.float64]:
    """(N,) truth values as 0 and 1, NaN where missing; DataError if a cell is neither."""
    truth = truth_values(column)
    if truth is None:
        raise DataError(f"{file.path}, column {shown(name)}: a cell is neither true nor false. Correct it.")
    return np.array(truth.cast(pa.int8()).cast(pa.float64()).to_numpy(), dtype=np.float64)


def first_bad(column: Any, is_bad: Callable[[Any], bool]) -> str:
    """The first cell that is bad on its own, as it can stand in a message."""
    for cell in pc.unique(column.drop_null()):
        if is_bad(pa.chunked_array([[cell.as_py()]])):
            return shown(cell.as_py())
    return "a cell"


def refuse_too_large(file: TableFile, name: str, values: NDArray[np.float64]) -> None:
    """Refuse numbers that no feature can be, with the place of the first."""
    with np.errstate(invalid="ignore"):
        bad = np.abs(values) > LARGEST_NUMBER
    if bad.any():
        row = int(bad.argmax())
        what = "infinity" if np.isinf(values[row]) else f"beyond {LARGEST_NUMBER:g}"
        raise DataError(
            f"{file.place(row, name)}: {values[row]:g} is {what}, which cannot be a feature. "
            "Correct it or leave the cell empty."
        )
