"""A table in memory: its columns, and words that lead a person to a cell of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lcgnn.errors import DataError

_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table and the file that it came from.

    A column is judged when it is asked for: one that nobody uses may hold anything.

    Args:
        path: The file.
        columns: By their names, as they were read.
        num_rows: In each.
        line_of: The line of a text file in which a row ends, or None if it is not to be found; None for Parquet.
        notes: What was not as expected but could be read.
        in_memory: Whether it is no file at all but was passed in from Python, and ``path`` is what to call it.
        left_out: Columns that are there and were not read, because they are not to be used.
    """

    path: Path
    columns: dict[str, Any]
    num_rows: int
    line_of: Callable[[int], int | None] | None = None
    notes: tuple[str, ...] = ()
    in_memory: bool = False
    left_out: frozenset[str] = frozenset()
    _judged: set[str] = field(default_factory=set, repr=False)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def column(self, name: str) -> Any:
        """A column of text, whole numbers, numbers, truth values or times; what is missing is null.

        DataError if its cells are of another type.
        """
        if name not in self._judged:
            self._refuse_late_quotes(name)
            self.columns[name] = _plain(self.columns[name], name, self.path)
            self._judged.add(name)
        return self.columns[name]

    def _refuse_late_quotes(self, name: str) -> None:
        """Refuse cells of a text file whose quotes come after a space, and so are part of them."""
        cells = self.columns[name]
        if self.line_of is None or not pa.types.is_string(cells.type):
            return
        # Quotes around a part of the cell are its own.
        row = pc.index(pc.match_substring_regex(cells, r'^ +"[^"]*"\s*$'), True).as_py()
        if row >= 0:
            raise DataError(
                f"{self.place(row, name)}: a quote after a space is part of the cell. Leave out the spaces after "
                "the delimiters."
            )

    def place(self, row: int, column: str | None = None) -> str:
        """Where a row is, counted from 0, in words that lead to it: "nodes.csv, line 7, column 'age'"."""
        where = f"{self.path}, {self.line(row)}"
        return where if column is None else f"{where}, column {shown(column)}"

    def option(self, role: str, column: str | None = None) -> str:
        """How to say which column has a role: by an option of the command line, or by an argument in Python."""
        if self.in_memory:
            return f"{role}=" + ("..." if column is None else repr([column] if role == "ignore" else column))
        return f"--{role}-column" + ("" if column is None else f" {column}")

    def line(self, row: int) -> str:
        """A row, counted from 0, by the line of the file where that is known: "line 7", else "row 6"."""
        line = self.line_of(row) if self.line_of else None
        return f"row {row + 1}" if line is None else f"line {line}"


def shown(value: object) -> str:
    """A cell or a name as it can stand in a message: quoted, on one line, not too long."""
    text = str(value)
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "...")


def listed(names: list[str], most: int = 8) -> str:
    """The first names of a list as they can stand in a message."""
    return ", ".join(shown(name) for name in names[:most]) + (", ..." if len(names) > most else "")


def counted(number: int, one: str, several: str | None = None) -> str:
    """So many of something, in words: "1 row", "2 rows"."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def is_list(kind: Any) -> bool:
    """Whether the cells of a column of this type are lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_number(kind: Any) -> bool:
    """Whether this is a type of numbers, or of truth values, which are 0 and 1 in a vector."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _plain(column: Any, name: str, path: Path) -> Any:
    """A column as one of the few types that the rest of the package knows."""
    types = pa.types
    try:
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if types.is_boolean(kind) or types.is_integer(kind):
            return column
        if types.is_string(kind):
            # Trimming looks at the ends of a text only.
            column.validate(full=True)
            return _trimmed(column)
        if types.is_decimal(kind):
            return _of_decimals(column)
        if types.is_floating(kind):
            return column.cast(pa.float64())
        if types.is_date(kind) or types.is_timestamp(kind):
            return column.cast(pa.timestamp("s"), safe=False)
        if types.is_large_string(kind) or types.is_null(kind) or str(kind) == "string_view":
            return _plain(column.cast(pa.string()), name, path)
        if is_list(kind) and is_number(kind.value_type):
            lengths = pc.min_max(pc.list_value_length(column))
            raise DataError(
                f"{path}, column {shown(name)}: lists of {lengths['min']} to {lengths['max']} numbers. Give as "
                "many in every row, at least one, or leave the column out."
            )
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path}, column {shown(name)}: cannot be read ({reason}).") from error
    raise DataError(
        f"{path}, column {shown(name)}: cells of type {shown(kind)}. "
        "Give numbers, truth values, dates or text, one value a cell, or leave the column out."
    )


def _of_decimals(column: Any) -> Any:
    """Whole numbers as such, or as text where they are too large to count by, as ids may be; others as numbers."""
    for kinds in ((pa.int64(),), (pa.decimal256(76, 0), pa.string())):
        try:
            taken = column
            for kind in kinds:
                taken = taken.cast(kind)
        except pa.ArrowException:
            continue
        return taken
    return column.cast(pa.float64())


def _trimmed(column: Any) -> Any:
    """Text without the spaces around it; a cell of spaces only is missing."""
    text = pc.utf8_trim_whitespace(column)
    if pc.min(pc.binary_length(text)).as_py() == 0:
        return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    return text
