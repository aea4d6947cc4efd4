"""A part of a graph: its nodes, and which rows it needs from the other parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.graph import Features, Split

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


def split_uses(split: Split, num_nodes: int) -> NDArray[np.int8]:
    """(N,) what the split has every node for."""
    uses = np.zeros(num_nodes, dtype=np.int8)
    for position, use in enumerate(USES[1:], start=1):
        uses[getattr(split, use)] = position
    return uses
