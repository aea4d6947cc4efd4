"""Tables in Parquet, read batch by batch up to the memory that there is: a small file may unpack to any size."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from lcgnn.errors import DataError
from lcgnn.files import for_arrow
from lcgnn.limits import check_memory

_BATCH_ROWS = 1 << 16


def read_parquet(path: Path, left_out: Collection[str] = ()) -> tuple[pa.Table, frozenset[str]]:
    """The table in a file, and which of the columns to leave out were there; DataError if there is no table.

    Also one that is too large is refused, before there is room made for it.
    """
    try:
        # Opened as one file: a name with '=' or a folder is not a partitioned dataset here.
        with parquet.ParquetFile(for_arrow(path)) as file:
            there = file.schema_arrow.names
            names = [name for name in there if name not in left_out]
            texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        # As a dictionary, a text that is repeated takes no room until it is known how much it would.
        with parquet.ParquetFile(
            for_arrow(path), read_dictionary=[name for name in texts if name in names]
        ) as file:
            rows = file.metadata.num_rows
            check_memory(f"{path}: {rows:,} rows of {len(names):,} columns", 4 * rows * len(names))
            return _unpacked(path, file, names), frozenset(left_out) & frozenset(there)
    except FileNotFoundError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise DataError(f"{path} is not a readable Parquet file. Write it again, or give CSV.") from error


def _unpacked(path: Path, file: Any, names: list[str]) -> pa.Table:
    batches: list[pa.RecordBatch] = []
    size = 0
    for batch in file.iter_batches(_BATCH_ROWS, columns=names):
        batch.validate()
        size += sum(_size(column) for column in batch.columns)
        check_memory(f"{path}: unpacked, the table", size)
        columns = [column.dictionary_decode() if _is_encoded(column) else column for column in batch.columns]
        batches.append(pa.RecordBatch.from_arrays(columns, names=batch.schema.names))
    if not batches:
        return file.read(columns=names)
    return pa.Table.from_batches(batches)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_encoded(column: Any) -> bool:
    return bool(pa.types.is_dictionary(column.type))


def _size(column: Any) -> int:
    """The bytes of a column once it is no dictionary."""
    if not _is_encoded(column):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0) + 4 * len(column)
