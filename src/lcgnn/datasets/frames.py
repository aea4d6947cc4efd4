"""Graphs from data frames of pandas and polars, and from tables of pyarrow."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

from lcgnn.datasets.table_files import TableFile, table_in_memory
from lcgnn.errors import InputError


def is_frame(value: Any) -> bool:
    """Whether it is a data frame of pandas or polars, or a table of pyarrow."""
    kinds = [pa.Table]
    for library in ("pandas", "polars"):
        if library in sys.modules:
            kinds.append(sys.modules[library].DataFrame)
    return isinstance(value, tuple(kinds))


def table_of(frame: Any, name: str) -> TableFile:
    """The frame as a table with plain columns; ``name`` is what messages call it."""
    if isinstance(frame, pa.Table):
        return table_in_memory(frame, name)
    if not is_frame(frame):
        raise InputError(
            f"{name}: {type(frame).__name__} is no data frame. Give one of pandas, polars or pyarrow."
        )
    if hasattr(frame, "to_arrow"):
        return table_in_memory(frame.to_arrow(), name)
    try:
        return table_in_memory(pa.Table.from_pandas(frame, preserve_index=False), name)
    except (pa.ArrowException, ValueError, TypeError) as error:
        reason = str(error.args[-1] if error.args else error).splitlines()[0]
        raise InputError(
            f"{name}: {reason}. Give every column a name of its own and cells of one type."
        ) from error
