"""Graphs from data frames of pandas and polars, and from tables of pyarrow."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from lcgnn.errors import InputError
from lcgnn.features.table import TableFile
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.files import plain
from lcgnn.sources.tables.reading import TableFiles, graph_of_tables


def from_frames(
    nodes: Any,
    edges: Any,
    *,
    id: str | None = None,
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    ignore: Iterable[str] = (),
    name: str = "graph",
) -> Loaded:
    """The graph in two data frames, of pandas, polars or pyarrow, made as from the same tables in files.

    Every column of the nodes that is not its id, label or split becomes features; see `Loaded` for what comes
    out. The index of a pandas frame is not read: ``frame.reset_index()`` makes a column of it.

    Args:
        nodes: A row a node.
        edges: A row an edge.
        id: Column of a node's id; this and the next four are guessed by the names of the columns if not given.
        label: Column of its label, empty where there is none.
        source: Column of where an edge begins.
        target: Column of where it ends.
        weight: Column of its weight.
        ignore: Columns of the nodes that are not to be used.
        name: What to call the graph.
    """
    columns = Columns(id, label, source, target, weight, tuple(ignore))
    files = TableFiles(table_of(nodes, "nodes"), table_of(edges, "edges"), complete=True)
    return graph_of_tables(files, columns, name)


def is_frame(value: Any) -> bool:
    """Whether it is a data frame of pandas or polars, or a table of pyarrow."""
    kinds = [pa.Table]
    for library in ("pandas", "polars"):
        if library in sys.modules:
            kinds.append(sys.modules[library].DataFrame)
    return isinstance(value, tuple(kinds))


def table_of(frame: Any, name: str) -> TableFile:
    """The frame as a table with plain columns; ``name`` is what messages call it."""
    if not is_frame(frame):
        raise InputError(
            f"{name}: {type(frame).__name__} is no data frame. Give one of pandas, polars or pyarrow."
        )
    table = _as_arrow(frame, name)
    if not table.num_rows:
        raise InputError(f"{name}: the frame has no rows. Give one for each node or edge.")
    return plain(TableFile(Path(name), table, in_memory=True))


def _as_arrow(frame: Any, name: str) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        reason = str(error.args[-1] if error.args else error).splitlines()[0]
        raise InputError(
            f"{name}: {reason}. Give every column a name of its own and cells of one type."
        ) from error
