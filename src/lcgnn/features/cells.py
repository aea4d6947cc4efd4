"""What the cells of a column say: as text, as numbers, as truth values; what counts as missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.features.table import TableFile, shown

# What spreadsheets, pandas, R and databases write into a cell that has no value.
GAPS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
# Beyond this a standard deviation would overflow; no honest feature is so large.
LARGEST_NUMBER = 1e30

# The first letters of a cell that a spreadsheet would take as a formula.
FORMULAS = "=+-@\t\r"

_TRUE = ("true", "yes", "t", "y")
_FALSE = ("false", "no", "f", "n")


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
    """Whether every cell of a text column is a date or time as in ISO 8601."""
    return _parses(cells, pa.timestamp("s"))


def _parses(cells: Any, kind: Any) -> bool:
    try:
        cells.cast(kind)
    except pa.ArrowException:
        return False
    return True


def truth_values(column: Any) -> Any | None:
    """The column as truth values, or None if some cell is neither true nor false."""
    if pa.types.is_boolean(column.type):
        return column
    if not pa.types.is_string(column.type):
        return None
    lower = pc.utf8_lower(column)
    known = pc.is_in(lower, value_set=pa.array(_TRUE + _FALSE))
    if not pc.all(pc.or_(known, column.is_null())).as_py():
        return None
    return pc.if_else(column.is_null(), None, pc.is_in(lower, value_set=pa.array(_TRUE)))


def as_times(file: TableFile, name: str, column: Any) -> NDArray[np.float64]:
    """(N,) dates as seconds, NaN where missing; DataError names the first that is none."""
    try:
        seconds = column.cast(pa.timestamp("s")).cast(pa.int64())
    except pa.ArrowException as error:
        cell = first_bad(column, lambda cells: not parses_as_date(cells))
        raise DataError(
            f"{file.path}, column {shown(name)}: {cell} is not a date such as 2024-05-31. "
            "Correct it or leave the cell empty."
        ) from error
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
