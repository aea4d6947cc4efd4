"""Cut a graph into parts: who holds which nodes, and which rows a part needs from the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.compute.placement.disk import disk_array
from lcgnn.compute.placement.rows import NormalizedRows
from lcgnn.compute.placement.streaming import assigned_by_stream
from lcgnn.errors import ConfigError, DataError
from lcgnn.extras import need
from lcgnn.graph import Features, Graph, Split
from lcgnn.limits import available
from lcgnn.mapping import blocks, let_go
from lcgnn.sources.parts.part import Part, split_uses

By: TypeAlias = Literal["auto", "metis", "stream"]
BYS: tuple[By, ...] = ("auto", "metis", "stream")
# What METIS takes for an entry of the adjacency: 3.1 GB for the 19.8 million of a generated graph.
_METIS_BYTES = 160
_NODE_WORK = 10
# Rows of features, and entries, that are in memory at a time.
_ROWS, _ENTRIES = 2**16, 2**21


def checked_by(name: str) -> By:
    """A way to find out who holds which nodes, by its name; ConfigError if there is none of that name."""
    found = next((by for by in BYS if by == name), None)
    if found is None:
        raise ConfigError(f"A graph can be cut by {', '.join(BYS)}, not {name!r}.")
    return found


def settled(by: By, graph: Graph) -> By:
    """What a graph is cut by: METIS, if there is memory for it, where that was left open."""
    if by != "auto":
        return by
    return "metis" if _METIS_BYTES * int(graph.adjacency.nnz) <= available() else "stream"


def assign(graph: Graph, num_parts: int, by: By = "auto") -> NDArray[np.int64]:
    """(N,) the part of every node: few edges between parts and the same amount of work in each.

    Args:
        graph: The graph.
        num_parts: How many.
        by: "metis", which holds the whole graph and what it makes of it, or "stream", which goes through the edges
            again and again and holds none of them; "auto" for METIS where there is memory for it.
    """
    by = checked_by(by)
    if num_parts < 1:
        raise DataError(f"A graph can be cut into 1 part or more, not {num_parts}.")
    if num_parts == 1:
        return np.zeros(graph.num_nodes, dtype=np.int64)
    if settled(by, graph) == "metis":
        parts = _assigned_by_metis(graph, num_parts)
    else:
        parts = assigned_by_stream(graph.adjacency, _work(np.diff(graph.adjacency.indptr)), num_parts)
    if np.unique(parts).size < num_parts:
        raise DataError(
            f"{graph.name}: {graph.num_nodes} nodes do not fall into {num_parts} parts. Ask for fewer parts."
        )
    return parts


def _assigned_by_metis(graph: Graph, num_parts: int) -> NDArray[np.int64]:
    pymetis = need("pymetis", "Cutting a graph into parts")
    has_loops = bool(graph.adjacency.diagonal().any())
    # A graph's own arrays are not written to.
    simple = csr_array(graph.adjacency, copy=has_loops)
    if has_loops:
        simple.setdiag(0)
        simple.eliminate_zeros()
    _, assignment = pymetis.part_graph(
        num_parts,
        adjacency=pymetis.CSRAdjacency(simple.indptr, simple.indices),
        vweights=_work(np.diff(simple.indptr)),
        options=pymetis.Options(seed=0),
    )
    return np.asarray(assignment, dtype=np.int64)


def _work(degree: NDArray[np.int64]) -> NDArray[np.int64]:
    # An epoch's time is spent on a node's neighbours, and on the node itself as on about so many more of them.
    return degree + _NODE_WORK


def cut(graph: Graph, split: Split, assignment: NDArray[np.int64]) -> Iterator[Part]:
    """The parts, one after the other; a part's edges and features are read in pieces, into temporary files."""
    rows = NormalizedRows.of(graph.adjacency)
    uses = split_uses(split, graph.num_nodes)
    num_parts = int(assignment.max()) + 1
    for part in range(num_parts):
        yield _part(graph, rows, uses, assignment, part, num_parts)


def _part(
    graph: Graph,
    rows: NormalizedRows,
    uses: NDArray[np.int8],
    assignment: NDArray[np.int64],
    part: int,
    num_parts: int,
) -> Part:
    own = np.flatnonzero(assignment == part)
    offsets = np.concatenate([[0], np.cumsum(rows.counts[own])])
    values, columns = disk_array((int(offsets[-1]),), np.float32), disk_array((int(offsets[-1]),), np.int32)
    sent: list[NDArray[np.int64]] = []
    needed = np.zeros(graph.num_nodes, dtype=bool)
    first_row = first_entry = 0
    for block in rows.blocks(own):
        entries = slice(first_entry, first_entry + block.nnz)
        values[entries], columns[entries] = block.data, block.indices
        holders = assignment[block.indices]
        foreign = holders != part
        needed[block.indices[foreign]] = True
        # The adjacency is symmetric: a part needs the rows of exactly those nodes here that need one of its rows.
        targets = np.repeat(np.arange(first_row, first_row + block.shape[0]), np.diff(block.indptr))
        sent.append(np.unique(holders[foreign] * own.size + targets[foreign]))
        first_row, first_entry = first_row + block.shape[0], entries.stop
        let_go(values, columns)
    boundary = np.flatnonzero(needed)
    boundary = boundary[np.argsort(assignment[boundary], kind="stable")]
    _renumber(columns, graph.num_nodes, own, boundary)
    pairs = np.sort(np.concatenate(sent))
    index_type = np.int32 if offsets[-1] <= np.iinfo(np.int32).max else np.int64
    return Part(
        nodes=own,
        labels=graph.labels[own],
        uses=uses[own],
        features=_features_of(graph.features, own),
        adjacency=csr_array(
            (values, columns, offsets.astype(index_type)), shape=(own.size, own.size + boundary.size)
        ),
        row_starts=np.concatenate([[0], np.cumsum(rows.counts)])[own],
        send_rows=pairs % own.size,
        send_counts=np.bincount(pairs // own.size, minlength=num_parts),
        receive_counts=np.bincount(assignment[boundary], minlength=num_parts),
    )


def _renumber(
    columns: NDArray[np.int32], num_nodes: int, own: NDArray[np.int64], boundary: NDArray[np.int64]
) -> None:
    """Replace numbers of nodes in the graph by those in a part: own ones first, then the boundary."""
    local = np.empty(num_nodes, dtype=np.int32)
    local[own] = np.arange(own.size)
    local[boundary] = np.arange(own.size, own.size + boundary.size)
    for entries in blocks(columns.size, _ENTRIES):
        columns[entries] = local[columns[entries]]
        let_go(columns)


def _features_of(features: Features | None, own: NDArray[np.int64]) -> Features | None:
    """The own nodes' features; dense ones in a temporary file."""
    if features is None or isinstance(features, csr_array):
        return None if features is None else features[own]
    taken = disk_array((own.size, features.shape[1]), np.float32)
    for rows in blocks(own.size, _ROWS):
        taken[rows] = features[own[rows]]
        let_go(taken, features)
    return taken
