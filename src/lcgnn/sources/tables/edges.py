"""The edges in a table, by the numbers of the nodes that they join."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.features.cells import as_text
from lcgnn.features.numbers import first_not_plain, notation_of, plain_numbers, told_notation, written_numbers
from lcgnn.features.table import TableFile, listed, shown
from lcgnn.graph import UNLABELLED, Graph
from lcgnn.sources.class_names import as_it_looks

# Weights this many times the median outweigh all others.
_FAR_BEYOND = 100
# So many names are looked up that might be written otherwise.
_MOST_LOOKED_UP = 20


def read_endpoints(edges: TableFile, column: str) -> Any:
    ends = as_text(edges.column(column))
    if ends.null_count:
        row = pc.index(ends.is_null(), True).as_py()
        raise DataError(f"{edges.place(row, column)}: the cell is empty. Name a node there or drop the edge.")
    return ends


def node_numbers(
    edges: TableFile, columns: tuple[str, str], ends: list[Any], nodes: TableFile, ids: Any
) -> NDArray[np.int64]:
    """(2, M) the edges by the numbers of their nodes."""
    known = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    links = np.empty((2, len(ends[0])), dtype=np.int64)
    for position, (column, cells) in enumerate(zip(columns, ends, strict=True)):
        found = pc.index_in(cells, value_set=known)
        if found.null_count:
            _refuse_unknown(edges, column, cells, found, nodes, known)
        links[position] = found.to_numpy()
    if not (links[0] != links[1]).any():
        raise DataError(f"{edges.path}: every edge leads from a node to itself. Edges between nodes are needed.")
    return links


def _refuse_unknown(edges: TableFile, column: str, cells: Any, found: Any, nodes: TableFile, ids: Any) -> None:
    row = pc.index(found.is_null(), True).as_py()
    name = cells[row].as_py()
    hint = "Add it there or drop the edge."
    alike = _written_otherwise(name, ids, _spellings(ids))
    if alike is not None:
        hint = f"There it is {_told_apart(alike, name)}: write ids the same way in both tables."
    others = found.null_count - 1
    more = " (nor is the end of another edge)" if others == 1 else f" (nor are the ends of {others:,} other edges)"
    more = more if others else ""
    raise DataError(f"{edges.place(row, column)}: node {shown(name)} is not in {nodes.path}{more}. {hint}")


def refuse_otherwise_written(nodes: TableFile, column: str, ids: Any, edges: TableFile, ends: list[Any]) -> None:
    """Refuse a table that does not list all nodes if it writes the id of one otherwise than the edges do."""
    known = pc.unique(pa.chunked_array([*ends[0].chunks, *ends[1].chunks], pa.string()))
    missing = ids.filter(pc.invert(pc.is_in(ids, value_set=known)))
    # What the table lists as well is a node of its own, whatever it looks like.
    known = known.filter(pc.invert(pc.is_in(known, value_set=ids)))
    spellings = _spellings(known)
    for name in missing.slice(0, _MOST_LOOKED_UP).to_pylist():
        alike = _written_otherwise(name, known, spellings)
        if alike is not None:
            row = pc.index(ids, name).as_py()
            raise DataError(
                f"{nodes.place(row, column)}: no edge ends at node {shown(name)}. In {edges.path} it is "
                f"{_told_apart(alike, name)}: write ids the same way in both tables."
            )


def _told_apart(name: str, other: str) -> str:
    """A name so that it can be told from another, which may look the same."""
    return ascii(name) if as_it_looks(name) == as_it_looks(other) else shown(name)


def _written_otherwise(name: str, ids: Any, spellings: Mapping[str, str]) -> str | None:
    """The id that means the same number as a name, looks the same, or differs from it in case only."""
    for candidate in (_as_whole(name), name.lower(), name.upper()):
        if candidate is not None and candidate != name and pc.index(ids, candidate).as_py() >= 0:
            return candidate
    return spellings.get(_meant(name))


def _spellings(ids: Any) -> dict[str, str]:
    """Ids by what they mean, not all of very many."""
    return {_meant(name): name for name in ids.slice(0, 100_000).to_pylist()}


def _meant(name: str) -> str:
    """What is the same of names that mean the same whole number, or look the same."""
    whole = _as_whole(name)
    return as_it_looks(name) if whole is None else whole


def _as_whole(text: str) -> str | None:
    try:
        value = float(text)
        return str(int(value)) if value == int(value) else None
    except (ValueError, OverflowError):
        return None


def read_weights(
    edges: TableFile, column: str | None, ends: set[str], notes: list[str]
) -> NDArray[np.float32] | None:
    """(M,) the weights, or None if there are none."""
    unused = [name for name in edges.names if name not in {column, *ends}]
    if unused:
        would_do = next((name for name in unused if column is None and _are_weights(edges, name)), None)
        weigh = "" if would_do is None else f" Edges are weighed with {edges.option('weight', would_do)}."
        notes.append(f"{edges.path.name}: not used: {listed(unused)}.{weigh}")
    if column is None:
        return None
    values = _numbers(edges, column, notes)
    with np.errstate(over="ignore", under="ignore"):
        weights = values.astype(np.float32)
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        row = int(bad.argmax())
        what = "the weight is missing" if np.isnan(values[row]) else f"the weight is {values[row]:g}"
        count = int(bad.sum()) - 1
        more = f" ({'another is' if count == 1 else f'{count:,} others are'} not, either)" if count else ""
        raise DataError(
            f"{edges.place(row, column)}: {what}; weights must be positive and finite{more}. "
            "Correct it, or drop the edge."
        )
    low, middle, high = (float(weights.min()), float(np.median(weights)), float(weights.max()))
    if high >= _FAR_BEYOND * middle:
        notes.append(
            f"{edges.path.name}, column {shown(column)}: weights go from {low:.3g} to {high:,.3g}, half of them "
            f"are below {middle:,.3g}: a few edges decide. Their logarithm may tell more."
        )
    return weights


def _are_weights(edges: TableFile, column: str) -> bool:
    """Whether a column might say how strong edges are: numbers above zero that differ."""
    try:
        values = plain_numbers(edges.column(column))
    except DataError:
        return False
    return values is not None and bool(values.size and (values > 0).all() and (values != values[0]).any())


def _numbers(edges: TableFile, column: str, notes: list[str]) -> NDArray[np.float64]:
    """(M,) the weights as they are written, NaN where missing."""
    cells = edges.column(column)
    values = plain_numbers(cells)
    if values is not None:
        return values
    notation = notation_of(cells) if pa.types.is_string(cells.type) else None
    values = None if notation is None else written_numbers(cells, notation)
    if values is None or notation is None:
        raise DataError(f"{edges.path}, column {shown(column)}: some weight is not a number. Correct it.")
    row = max(first_not_plain(cells), 0)
    told = told_notation(cells[row].as_py(), notation, float(values[row]))
    notes.append(f"{edges.path.name}, column {shown(column)}: {told}")
    return values


def tell_edges(graph: Graph, links: NDArray[np.int64], file: str, notes: list[str]) -> None:
    loops = int((links[0] == links[1]).sum())
    again = links.shape[1] - loops - graph.num_edges
    if loops:
        are = "edge from a node to itself is" if loops == 1 else "edges from a node to itself are"
        notes.append(f"{file}: {loops:,} {are} left out.")
    if again:
        data = graph.adjacency.data
        which = ", with the largest weight" if data.size and (data != data[0]).any() else ""
        repeat = "edge repeats" if again == 1 else "edges repeat"
        notes.append(
            f"{file}: {again:,} {repeat} another, in the same or the other direction; each counts once{which}."
        )
    told = _isolated_in_words(graph)
    if told is not None:
        notes.append(told)


def _isolated_in_words(graph: Graph) -> str | None:
    """That nodes have no edge, and what tells the class of those that have no label either."""
    isolated = np.diff(graph.adjacency.indptr) == 0
    count, unlabelled = int(isolated.sum()), int((isolated & (graph.labels == UNLABELLED)).sum())
    if not count:
        return None
    which = "1 node has no edge" if count == 1 else f"{count:,} nodes have no edge"
    if not unlabelled:
        return f"{which}, but {'a label' if count == 1 else 'labels'}."
    whose = "its" if unlabelled == 1 else "their"
    tells = f"only {whose} features tell" if graph.num_features else "nothing tells"
    if unlabelled == count:
        return f"{which}; {tells} {whose} class."
    rest = "one" if unlabelled == 1 else f"{unlabelled:,}"
    return f"{which}; {tells} the class of the {rest} without a label."
