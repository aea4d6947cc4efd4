"""A table in memory: its columns, and words that lead a person to a cell of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table and the file that it came from.

    Args:
        path: The file.
        table: Columns of text, whole numbers, numbers or truth values; what is missing is null.
        line_of: The line of a text file in which a row ends, or None if it is not to be found; None for Parquet.
        notes: What was not as expected but could be read.
        in_memory: Whether it is no file at all but was passed in from Python, and ``path`` is what to call it.
    """

    path: Path
    table: pa.Table
    line_of: Callable[[int], int | None] | None = None
    notes: tuple[str, ...] = ()
    in_memory: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def column(self, name: str) -> Any:
        """A column by its name."""
        return self.table.column(name)

    def place(self, row: int, column: str | None = None) -> str:
        """Where a row is, counted from 0, in words that lead to it: "nodes.csv, line 7, column 'age'"."""
        where = f"{self.path}, {self._line(row)}"
        return where if column is None else f"{where}, column {shown(column)}"

    def option(self, role: str, column: str | None = None) -> str:
        """How to say which column has a role: by an option of the command line, or by an argument in Python."""
        if self.in_memory:
            return f"{role}=" + ("..." if column is None else repr([column] if role == "ignore" else column))
        return f"--{role}-column" + ("" if column is None else f" {column}")

    def _line(self, row: int) -> str:
        line = self.line_of(row) if self.line_of else None
        return f"row {row + 1}" if line is None else f"line {line}"


def shown(value: object) -> str:
    """A cell or a name as it can stand in a message: quoted, on one line, not too long."""
    text = str(value)
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "...")
