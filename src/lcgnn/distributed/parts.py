"""A graph cut into parts: who holds which nodes, and which rows a part needs from the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pymetis
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.graph import Features, Graph, Split
from lcgnn.sparse import normalized_adjacency

USES = ("other", "train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Part:
    """The nodes that one rank holds, with all that it has to know of the others.

    Own nodes are numbered first and in order; after them come the boundary nodes, which are other parts' nodes
    with a neighbour here: grouped by the part that holds them, in order.

    Args:
        nodes: (n,) the own nodes' numbers in the whole graph.
        labels: (n,) of them.
        uses: (n,) what each is for: a position in ``USES``.
        features: (n, F) of them, sparse or dense.
        adjacency: (n, n + b) their rows of the whole graph's normalised adjacency. A row's entries are in the
            order that they have there.
        row_starts: (n,) where each of these rows begins among the entries of the whole matrix.
        send_rows: (s,) the own nodes whose rows other parts need, grouped by part; one may be there several times.
        send_counts: (K,) how many of them go to each part.
        receive_counts: (K,) how many boundary nodes each part holds.
    """

    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    uses: NDArray[np.int8]
    features: Features | None
    adjacency: csr_array
    row_starts: NDArray[np.int64]
    send_rows: NDArray[np.int64]
    send_counts: NDArray[np.int64]
    receive_counts: NDArray[np.int64]

    @property
    def num_nodes(self) -> int:
        return int(self.nodes.size)

    @property
    def num_boundary(self) -> int:
        return int(self.receive_counts.sum())

    def used_for(self, use: str) -> NDArray[np.int64]:
        """The own nodes, by their number here, that the split has for a use."""
        return np.flatnonzero(self.uses == USES.index(use))


def assign(graph: Graph, num_parts: int) -> NDArray[np.int64]:
    """(N,) the part of every node: METIS, few edges between parts and the same amount of work in each."""
    if num_parts < 1:
        raise DataError(f"A graph can be cut into 1 part or more, not {num_parts}.")
    if num_parts == 1:
        return np.zeros(graph.num_nodes, dtype=np.int64)
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


def split_uses(split: Split, num_nodes: int) -> NDArray[np.int8]:
    """(N,) what the split has every node for."""
    uses = np.zeros(num_nodes, dtype=np.int8)
    for position, use in enumerate(USES[1:], start=1):
        uses[getattr(split, use)] = position
    return uses


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
