"""Graphs from NetworkX: a table of its nodes with their attributes, and one of its edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from lcgnn.errors import InputError
from lcgnn.features.table import shown
from lcgnn.sources.frames import table_of
from lcgnn.sources.links import is_networkx
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.reading import TableFiles, graph_of_tables

# Names for the two tables that no attribute is likely to have.
_ID, _SOURCE, _TARGET = "(node)", "(source)", "(target)"


def from_networkx(
    graph: Any,
    *,
    label: str = "label",
    weight: str | None = "weight",
    ignore: Iterable[str] = (),
    name: str | None = None,
) -> Loaded:
    """The graph in a NetworkX graph; its nodes keep their order, and their names as text.

    The nodes' attributes become features as the columns of a table do: numbers, truth values, categories, text,
    and lists of numbers of one length. What a node lacks is missing. Without attributes, features are made from
    the edges.

    Args:
        graph: Any of NetworkX's graphs; directions and parallel edges are merged.
        label: The attribute that holds a node's label; None or no such attribute where there is none.
        weight: The attribute of an edge that holds its weight; an edge without it has weight 1.
        ignore: Attributes that are not to be used.
        name: What to call the graph, if it has no name itself.
    """
    files, columns = networkx_tables(graph, label, weight, ignore)
    if label not in files.nodes.names:
        attributes = [shown(text) for text in files.nodes.names if text != _ID]
        known = f"there are {', '.join(attributes)}" if attributes else "there are none"
        raise InputError(
            f"nodes: no node has an attribute {shown(label)}; {known}. Say which is the label: label=..."
        )
    return graph_of_tables(files, columns, name or str(graph.name or "graph"))


def networkx_tables(
    graph: Any, label: str, weight: str | None, ignore: Iterable[str] = ()
) -> tuple[TableFiles, Columns]:
    """A table of the nodes with their attributes and one of the edges, and which column is what."""
    if not is_networkx(graph):
        raise InputError(
            f"{type(graph).__name__} is no NetworkX graph. Give one, or use from_frames or from_arrays."
        )
    columns = {_ID: [str(node) for node in graph], **_attributes(graph, {*ignore})}
    nodes = table_of(_table(columns, "nodes"), "nodes")
    edges = table_of(_table(_edges(graph, weight), "edges"), "edges")
    named = Columns(
        _ID,
        label if label in nodes.names else None,
        _SOURCE,
        _TARGET,
        weight if weight in edges.names else None,
    )
    return TableFiles(nodes, edges, complete=True), named


def _attributes(graph: Any, ignored: set[str]) -> dict[str, list[Any]]:
    """Every attribute of the nodes, with None where a node lacks it; a list of numbers is a column for each."""
    names = {str(name): name for _, held in graph.nodes(data=True) for name in held}
    columns: dict[str, list[Any]] = {}
    for text, name in names.items():
        if text in ignored:
            continue
        cells = [held.get(name) for _, held in graph.nodes(data=True)]
        columns |= _spread(text, cells)
    return columns


def _spread(name: str, cells: list[Any]) -> dict[str, list[Any]]:
    given = [cell for cell in cells if cell is not None]
    if not any(isinstance(cell, list | tuple | np.ndarray) for cell in given):
        return {name: cells}
    lengths = {np.shape(cell) for cell in given}
    if len(lengths) > 1 or len(next(iter(lengths))) != 1:
        raise InputError(
            f"nodes: attribute {shown(name)} is a list of another length at every node. Give one length."
        )
    width = next(iter(lengths))[0]
    return {
        f"{name}[{place}]": [None if cell is None else cell[place] for cell in cells] for place in range(width)
    }


def _edges(graph: Any, weight: str | None) -> dict[str, list[Any]]:
    ends = list(graph.edges(data=True))
    if not ends:
        raise InputError("edges: the graph has none. Use LCGNNClassifier without an adjacency, or add edges.")
    columns: dict[str, list[Any]] = {
        _SOURCE: [str(source) for source, _, _ in ends],
        _TARGET: [str(target) for _, target, _ in ends],
    }
    if weight is not None and any(weight in held for _, _, held in ends):
        columns[weight] = [held.get(weight, 1) for _, _, held in ends]
    return columns


def _table(columns: dict[str, list[Any]], name: str) -> pa.Table:
    arrays = {}
    for column, cells in columns.items():
        try:
            arrays[column] = pa.array(cells, from_pandas=True)
        except pa.ArrowException as error:
            raise InputError(
                f"{name}: attribute {shown(column)} has values of several types. "
                "Give it one: numbers, truth values or text."
            ) from error
    return pa.table(arrays)
