"""One table from a file: CSV, TSV or Parquet, read whole or refused in one line that says where and why."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from lcgnn.errors import DataError
from lcgnn.features.table import TableFile, shown
from lcgnn.features.vectors import spread_vectors
from lcgnn.files import for_arrow
from lcgnn.limits import check_memory
from lcgnn.sources.tables.parquet import read_parquet

ENDINGS = (".csv", ".tsv", ".parquet")

_DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|"}
_DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# A row, and the header, must fit into one block.
_BLOCK_BYTES = 16 << 20
_FIRST_BYTES = 1 << 16
# A cell of one character takes two bytes in a file and about six in memory.
_BYTES_IN_MEMORY = 3
_QUOTED = re.compile(r'"[^"]*"')
_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def read_table(path: Path, *, multiline: bool = False, left_out: Collection[str] = ()) -> TableFile:
    """The table in a file; DataError if it is none.

    Args:
        path: Ends in .csv, .tsv or .parquet.
        multiline: Whether a quoted cell may go over several lines, which takes longer to read.
        left_out: Columns that are not read, whatever they hold.
    """
    if path.suffix.lower() == ".parquet":
        table, dropped = read_parquet(path, left_out)
        file = table_file(path, table, left_out=dropped)
    else:
        file = _read_text(path, multiline, left_out)
    if not file.num_rows:
        raise DataError(f"{path} has a header but no rows. Add one line for each node or edge.")
    return file


def table_file(
    path: Path, table: pa.Table, *, in_memory: bool = False, left_out: frozenset[str] = frozenset()
) -> TableFile:
    """The table under the name that messages call it by; columns without a name are left out, twins refused."""
    refuse_twins(path, table.column_names)
    columns = spread_vectors(path, dict(zip(table.column_names, table.columns, strict=True)))
    names = list(columns)
    made = TableFile(path, columns, table.num_rows, in_memory=in_memory, left_out=left_out)
    return _without_nameless(made, names)


def _read_text(path: Path, multiline: bool, left_out: Collection[str]) -> TableFile:
    encoding, first_line = _first_line(path)
    names, delimiter = _header(path, first_line)
    stripped = [name.strip() for name in names]
    notes = []
    if delimiter != _DELIMITERS[_kind(path)][0]:
        notes.append(f"{path.name}: the cells are separated by {_DELIMITER_NAMES[delimiter]}.")
    if encoding != "utf-8":
        notes.append(f"{path.name}: read as {encoding.upper()}.")
    check_memory(f"{path}: a table of {path.stat().st_size:,} bytes", _BYTES_IN_MEMORY * path.stat().st_size)
    read = [place for place, name in enumerate(stripped) if name not in left_out]
    refuse_twins(path, [stripped[place] for place in read])
    table = _parsed(path, len(names), read, delimiter, encoding, multiline)
    line_of = partial(_line_of, path, delimiter, encoding)
    columns = {stripped[place]: column for place, column in zip(read, table.columns, strict=True)}
    dropped = frozenset(left_out) & frozenset(stripped)
    notes += _several_lines(path, columns, line_of) if multiline else []
    file = TableFile(path, columns, table.num_rows, line_of, tuple(notes), left_out=dropped)
    return _without_nameless(file, stripped)


def _several_lines(path: Path, columns: dict[str, Any], line_of: Callable[[int], int | None]) -> list[str]:
    """That cells go over several lines, which may be meant, or a quote that is not closed."""
    found = [pc.match_substring(cells, "\n") for cells in columns.values()]
    count = sum(pc.sum(cells).as_py() or 0 for cells in found)
    if not count:
        return []
    line = line_of(min(row for cells in found if (row := pc.index(cells, True).as_py()) >= 0))
    where = "" if line is None else f" (one that ends in line {line} is the first)"
    cells = "1 cell goes" if count == 1 else f"{count:,} cells go"
    return [f"{path.name}: {cells} over several lines{where}. If that is not meant, a quote is not closed there."]


def _kind(path: Path) -> str:
    return ".tsv" if path.suffix.lower() == ".tsv" else ".csv"


def _first_line(path: Path) -> tuple[str, str]:
    """The encoding of a file, and its first line that is not empty, however long."""
    size = _FIRST_BYTES
    while True:
        try:
            with path.open("rb") as stream:
                start = stream.read(size)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
        if not start.strip():
            raise DataError(f"{path} is empty. It needs a header line with the names of its columns, and rows.")
        encoding = _encoding(path, start)
        lines = _LINE_ENDS.split(start.decode(encoding, errors="replace").removeprefix("\ufeff"))
        first = next((place for place, line in enumerate(lines) if line), None)
        is_whole = first is not None and first < len(lines) - 1
        if is_whole or len(start) < size:
            return encoding, "" if first is None else lines[first]
        if size >= _BLOCK_BYTES:
            raise DataError(f"{path}: the first line is over {size >> 20} MB long. Name the columns in it.")
        size = min(4 * size, _BLOCK_BYTES)


def _encoding(path: Path, start: bytes) -> str:
    if start.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        raise DataError(f"{path} is UTF-32 text, which is not read. Save the file as UTF-8.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in start:
        raise DataError(f"{path} is not a text file. Save the table as CSV (UTF-8) or as Parquet.")
    return "utf-8"


def _header(path: Path, line: str) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter that gives the most of them."""
    # Counted first, because a line that is read with another delimiter is one cell, longer than a cell may be.
    unquoted = _QUOTED.sub("", line)
    delimiter = max(_DELIMITERS[_kind(path)], key=unquoted.count)
    try:
        return next(csv.reader([line], delimiter=delimiter), []), delimiter
    except csv.Error as error:
        raise DataError(f"{path}, line 1: not a header ({error}). Give the columns names there.") from error


def refuse_twins(path: Path, names: Sequence[str]) -> None:
    """Refuse two columns of the same name."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise DataError(f"{path}, line 1: two columns are called {shown(name)}. Rename one of them.")
        seen.add(name)


def _parsed(
    path: Path, num_columns: int, read: list[int], delimiter: str, encoding: str, multiline: bool
) -> pa.Table:
    # Columns are read by their number: names may be anything, and every cell stays the text that it is.
    numbered = [str(number) for number in range(num_columns)]
    try:
        table = arrow_csv.read_csv(
            for_arrow(path) if encoding == "utf-8" else _in_utf_8(path, encoding),
            read_options=arrow_csv.ReadOptions(column_names=numbered, block_size=_BLOCK_BYTES),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=multiline),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(numbered, pa.string()),
                include_columns=[str(number) for number in read],
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _explained(path, num_columns, delimiter, encoding, error) from error
    # The first row is the header.
    return table.slice(1)


def _in_utf_8(path: Path, encoding: str) -> pa.BufferReader:
    """The file as Arrow reads it, whose own threads would decode by Python and may outlive a program that ends."""
    return pa.BufferReader(path.read_bytes().decode(encoding).encode())


def _explained(path: Path, num_columns: int, delimiter: str, encoding: str, error: Exception) -> DataError:
    """What is wrong with a text file that could not be parsed."""
    if isinstance(error, UnicodeError) or "UTF8" in str(error):
        line = _first_undecodable_line(path, encoding)
        return DataError(
            f"{path}{line}: not {encoding.upper()} text. Save the file as UTF-8 "
            "(in a spreadsheet: 'CSV UTF-8'; with a program: iconv -f LATIN1 -t UTF-8)."
        )
    if "columns, got" in str(error):
        found = _first_ragged_line(path, num_columns, delimiter, encoding)
        if found:
            return DataError(
                f"{path}, line {found[0]}: {found[1]} cells, but the header has {num_columns}. "
                "Check the delimiter, and put cells that contain it into quotes."
            )
    if "straddl" in str(error) or "too large" in str(error).lower():
        return DataError(f"{path}: a line is over {_BLOCK_BYTES >> 20} MB long. Is a quote not closed?")
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return DataError(f"{path} cannot be read as a table: {reason[:200]}. Check the delimiter and the quotes.")


def _first_undecodable_line(path: Path, encoding: str) -> str:
    if encoding != "utf-8":
        return ""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return f", line {number}"
    return ""


def _first_ragged_line(path: Path, num_columns: int, delimiter: str, encoding: str) -> tuple[int, int] | None:
    try:
        for line, cells in _text_rows(path, delimiter, encoding):
            if len(cells) != num_columns:
                return line, len(cells)
    except (OSError, ValueError, csv.Error):
        pass
    return None


def _line_of(path: Path, delimiter: str, encoding: str, row: int) -> int | None:
    """The line where a row of the table ends."""
    try:
        for number, (line, _) in enumerate(_text_rows(path, delimiter, encoding)):
            if number == row + 1:
                return line
    except (OSError, ValueError, csv.Error):
        pass
    return None


def _text_rows(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Every row with the line where it ends: slow, for messages only."""
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    with path.open(encoding=codec, newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def _without_nameless(file: TableFile, names: Sequence[str]) -> TableFile:
    """The table without columns that have no name, such as the row numbers that pandas writes."""
    if "" not in file:
        return file
    columns = {name: column for name, column in file.columns.items() if name}
    if not columns:
        raise DataError(f"{file.path}, line 1: no column has a name. Give the columns names in the first line.")
    places = ", ".join(str(place) for place, name in enumerate(names, start=1) if not name)
    note = f"{file.path.name}: column {places} has no name and is left out."
    return replace(file, columns=columns, notes=(*file.notes, note))
