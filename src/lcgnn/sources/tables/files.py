"""One table from a file: CSV, TSV or Parquet, read whole or refused in one line that says where and why."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from lcgnn.errors import DataError
from lcgnn.features.table import TableFile, shown

ENDINGS = (".csv", ".tsv", ".parquet")

_DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|"}
_DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# A row, and the header, must fit into one block.
_BLOCK_BYTES = 16 << 20
_HEADER_BYTES = 1 << 16


def read_table(path: Path, *, multiline: bool = False) -> TableFile:
    """The table in a file; DataError if it is none.

    Args:
        path: Ends in .csv, .tsv or .parquet.
        multiline: Whether a quoted cell may go over several lines, which takes longer to read.
    """
    file = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_text(path, multiline)
    if not file.table.num_rows:
        raise DataError(f"{path} has a header but no rows. Add one line for each node or edge.")
    return file


def _read_text(path: Path, multiline: bool) -> TableFile:
    start = _first_bytes(path)
    encoding = _encoding(path, start)
    names, delimiter = _header(path, start, encoding)
    notes = []
    if delimiter != _DELIMITERS[_kind(path)][0]:
        notes.append(f"{path.name}: the cells are separated by {_DELIMITER_NAMES[delimiter]}.")
    if encoding != "utf-8":
        notes.append(f"{path.name}: read as {encoding.upper()}.")
    table = _parsed(path, names, delimiter, encoding, multiline)
    trimmed = [_trimmed(column) for column in table.columns]
    stripped = [name.strip() for name in names]
    line_of = partial(_line_of, path, delimiter, encoding)
    file = TableFile(path, pa.table(trimmed, names=stripped), line_of, tuple(notes))
    return _without_nameless(file)


def _kind(path: Path) -> str:
    return ".tsv" if path.suffix.lower() == ".tsv" else ".csv"


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            start = stream.read(_HEADER_BYTES)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not start.strip():
        raise DataError(f"{path} is empty. It needs a header line with the names of its columns, and rows.")
    return start


def _encoding(path: Path, start: bytes) -> str:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in start:
        raise DataError(f"{path} is not a text file. Save the table as CSV (UTF-8) or as Parquet.")
    return "utf-8"


def _header(path: Path, start: bytes, encoding: str) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter that gives the most of them."""
    text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    line = next((line for line in re.split(r"\r\n|\r|\n", text) if line), "")
    best: list[str] = []
    chosen = ","
    for delimiter in _DELIMITERS[_kind(path)]:
        try:
            names = next(csv.reader([line], delimiter=delimiter), [])
        except csv.Error as error:
            raise DataError(f"{path}, line 1: not a header ({error}). Give the columns names there.") from error
        if len(names) > len(best):
            best, chosen = names, delimiter
    _refuse_twins(path, [name.strip() for name in best])
    return best, chosen


def _refuse_twins(path: Path, names: list[str]) -> None:
    for position, name in enumerate(names):
        if name and name in names[:position]:
            raise DataError(f"{path}, line 1: two columns are called {shown(name)}. Rename one of them.")


def _parsed(path: Path, names: list[str], delimiter: str, encoding: str, multiline: bool) -> pa.Table:
    # Columns are read by their number: names may be anything, and every cell stays the text that it is.
    numbered = [str(number) for number in range(len(names))]
    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                column_names=numbered,
                encoding="utf8" if encoding == "utf-8" else encoding,
                block_size=_BLOCK_BYTES,
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=multiline),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in numbered},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _explained(path, len(names), delimiter, encoding, error) from error
    # The first row is the header.
    return table.slice(1)


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


def _trimmed(column: Any) -> Any:
    """Text without the spaces around it; a cell of spaces only is missing."""
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _without_nameless(file: TableFile) -> TableFile:
    """The table without columns that have no name, such as the row numbers that pandas writes."""
    nameless = [position for position, name in enumerate(file.names) if not name]
    if not nameless:
        return file
    named = [position for position in range(len(file.names)) if position not in nameless]
    if not named:
        raise DataError(f"{file.path}, line 1: no column has a name. Give the columns names in the first line.")
    places = ", ".join(str(position + 1) for position in nameless)
    note = f"{file.path.name}: column {places} has no name and is left out."
    return replace(file, table=file.table.select(named), notes=(*file.notes, note))


def _read_parquet(path: Path) -> TableFile:
    try:
        # Read as one file: a name with '=' or a folder is not a partitioned dataset here.
        table = parquet.ParquetFile(path).read()
    except FileNotFoundError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path} is not a readable Parquet file. Write it again, or give CSV.") from error
    return plain(TableFile(path, table))


def plain(file: TableFile) -> TableFile:
    """The table with columns of the few types that the rest of the package knows."""
    _refuse_twins(file.path, file.names)
    columns = [_plain(file.column(name), name, file.path) for name in file.names]
    return _without_nameless(replace(file, table=pa.table(columns, names=file.names)))


def _plain(column: Any, name: str, path: Path) -> Any:
    """A Parquet column as text, whole numbers, numbers, truth values or times."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    try:
        if types.is_boolean(kind) or types.is_integer(kind):
            return column
        if types.is_string(kind):
            return _trimmed(column)
        if types.is_floating(kind) or types.is_decimal(kind):
            return column.cast(pa.float64())
        if types.is_date(kind) or types.is_timestamp(kind):
            return column.cast(pa.timestamp("s"), safe=False)
        if types.is_large_string(kind) or types.is_null(kind) or str(kind) == "string_view":
            return _trimmed(column.cast(pa.string()))
    except pa.ArrowException as error:
        raise DataError(f"{path}, column {shown(name)}: cannot be read ({error}).") from error
    raise DataError(
        f"{path}, column {shown(name)}: cells of type {shown(kind)}. "
        "Give numbers, truth values, dates or text, one value a cell, or leave the column out."
    )
