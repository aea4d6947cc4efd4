"""Cut a graph into parts: who holds which nodes, and which rows a part needs from the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.compute.sparse import normalized_adjacency
from lcgnn.errors import DataError
from lcgnn.extras import need
from lcgnn.graph import Graph, Split
from lcgnn.sources.parts.part import Part, split_uses


def assign(graph: Graph, num_parts: int) -> NDArray[np.int64]:
    """(N,) the part of every node: METIS, few edges between parts and the same amount of work in each."""
    if num_parts < 1:
        raise DataError(f"A graph can be cut into 1 part or more, not {num_parts}.")
    if num_parts == 1:
        return np.zeros(graph.num_nodes, dtype=np.int64)
    pymetis = need("pymetis", "Cutting a graph into parts")
    simple = csr_array(graph.adjacency)
    simple.setdiag(0)
    simple.eliminate_zeros()
    degree = np.diff(simple.indptr)
    # An epoch's time is spent on a node's neighbours, and on the node itself as on about so many more of them.
    work = degree + _NODE_WORK
    _, assignment = pymetis.part_graph(
        num_parts,
        adjacency=pymetis.CSRAdjacency(simple.indptr, simple.indices),
        vweights=work,
        options=pymetis.Options(seed=0),
    )
    parts = np.asarray(assignment, dtype=np.int64)
    if np.unique(parts).size < num_parts:
        raise DataError(
            f"{graph.name}: {graph.num_nodes} nodes do not fall into {num_parts} parts. Ask for fewer parts."
        )
    return parts


_NODE_WORK = 10


def cut(graph: Graph, split: Split, assignment: NDArray[np.int64]) -> Iterator[Part]:
    """The parts, one after the other."""
    adjacency = normalized_adjacency(graph.adjacency)
    uses = split_uses(split, graph.num_nodes)
    num_parts = int(assignment.max()) + 1
    for part in range(num_parts):
        yield _part(graph, adjacency, uses, assignment, part, num_parts)


def _part(
    graph: Graph,
    adjacency: csr_array,
    uses: NDArray[np.int8],
    assignment: NDArray[np.int64],
    part: int,
    num_parts: int,
) -> Part:
    own = np.flatnonzero(assignment == part)
    rows = adjacency[own]
    targets = np.repeat(np.arange(own.size), np.diff(rows.indptr))
    holders = assignment[rows.indices]
    foreign = holders != part
    boundary = np.unique(rows.indices[foreign])
    boundary = boundary[np.argsort(assignment[boundary], kind="stable")]
    local = np.empty(graph.num_nodes, dtype=np.int32)
    local[own] = np.arange(own.size)
    local[boundary] = np.arange(own.size, own.size + boundary.size)
    # The adjacency is symmetric: a part needs the rows of exactly those nodes here that need one of its rows.
    sent = np.unique(np.stack([holders[foreign], targets[foreign]]), axis=1)
    return Part(
        nodes=own,
        labels=graph.labels[own],
        uses=uses[own],
        features=None if graph.features is None else graph.features[own],
        adjacency=csr_array(
            (rows.data, local[rows.indices], rows.indptr), shape=(own.size, own.size + boundary.size)
        ),
        row_starts=adjacency.indptr[own].astype(np.int64),
        send_rows=sent[1].astype(np.int64),
        send_counts=np.bincount(sent[0], minlength=num_parts),
        receive_counts=np.bincount(assignment[boundary], minlength=num_parts),
    )
