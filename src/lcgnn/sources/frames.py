"""Graphs from data frames of pandas and polars, and from tables of pyarrow."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from lcgnn.errors import InputError
from lcgnn.features.table import TableFile
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.files import table_file
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
    files = TableFiles(table_of(nodes, "nodes", columns.ignore), table_of(edges, "edges"), complete=True)
    return graph_of_tables(files, columns, name)


def is_frame(value: Any) -> bool:
    """Whether it is a data frame of pandas or polars, or a table of pyarrow."""
    kinds = [pa.Table]
    for library in ("pandas", "polars"):
        if library in sys.modules:
            kinds.append(sys.modules[library].DataFrame)
    return isinstance(value, tuple(kinds))


def table_of(frame: Any, name: str, left_out: Collection[str] = ()) -> TableFile:
    """The frame as a table; ``name`` is what messages call it, ``left_out`` are columns that may hold anything."""
    if not is_frame(frame):
        raise InputError(
            f"{name}: {type(frame).__name__} is no data frame. Give one of pandas, polars or pyarrow."
        )
    names = [str(column) for column in _columns(frame)]
    read = [place for place, column in enumerate(names) if column not in left_out]
    table = _as_arrow(frame if len(read) == len(names) else _selected(frame, read), name)
    if not table.num_rows:
        raise InputError(f"{name}: the frame has no rows. Give one for each node or edge.")
    dropped = frozenset(left_out) & frozenset(names)
    return table_file(Path(name), table, in_memory=True, left_out=dropped)


def row_names(frame: Any) -> list[Any] | None:
    """What the index of a pandas frame calls its rows; None if there is no index, or two rows are called alike."""
    library = sys.modules.get("pandas")
    if library is None or not isinstance(frame, library.DataFrame) or not frame.index.is_unique:
        return None
    return list(frame.index.tolist())


def _columns(frame: Any) -> Any:
    return frame.column_names if isinstance(frame, pa.Table) else frame.columns


def _selected(frame: Any, places: list[int]) -> Any:
    if isinstance(frame, pa.Table):
        return frame.select(places)
    return frame.iloc[:, places] if hasattr(frame, "iloc") else frame[:, places]


def _as_arrow(frame: Any, name: str) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = str(error.args[-1] if error.args else error).splitlines()[0]
        raise InputError(
            f"{name}: {reason}. Give every column a name of its own and cells of one type."
        ) from error
