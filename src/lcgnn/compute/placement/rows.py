"""The normalised adjacency some rows at a time, for graphs whose matrix is never whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.mapping import let_go

# Entries that are in memory at a time.
ENTRIES = 2**21


@dataclass(frozen=True, eq=False)
class NormalizedRows:
    r"""Rows of :math:`D^{-1/2} (A + I) D^{-1/2}`; a self-loop that is there keeps its weight.

    Args:
        adjacency: (N, N) whose arrays may be memory maps.
        scale: (N,) the inverse roots of the degrees.
        counts: (N,) entries of every row.
    """

    adjacency: csr_array
    scale: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, adjacency: csr_array) -> NormalizedRows:
        """Those of an adjacency; equal to the bit to those of `normalized_adjacency`."""
        sums, counts = [], []
        for nodes in node_blocks(adjacency, np.arange(adjacency.shape[0])):
            looped = _looped(adjacency, nodes)
            sums.append(np.asarray(looped.sum(axis=1), dtype=np.float64).ravel())
            counts.append(np.diff(looped.indptr))
        return cls(adjacency, 1.0 / np.sqrt(np.concatenate(sums)), np.concatenate(counts).astype(np.int64))

    def blocks(self, nodes: NDArray[np.int64]) -> Iterator[csr_array]:
        """The rows of these nodes in their order, some at a time: (n, N) in float32."""
        for block in node_blocks(self.adjacency, nodes):
            looped = _looped(self.adjacency, block)
            values = np.repeat(self.scale[block], np.diff(looped.indptr))
            values *= looped.data
            values *= self.scale[looped.indices]
            parts = values.astype(np.float32), looped.indices, looped.indptr
            yield csr_array(parts, shape=looped.shape)


def node_blocks(adjacency: csr_array, nodes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The nodes in their order, as many at a time as have about ``ENTRIES`` entries, one at least."""
    offsets = adjacency.indptr
    ends = np.cumsum(offsets[nodes + 1] - offsets[nodes], dtype=np.int64)
    first = 0
    while first < nodes.size:
        before = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, before + ENTRIES, side="right")), first + 1)
        yield nodes[first:last]
        first = last
        let_go(adjacency.indices, adjacency.data)


def _looped(adjacency: csr_array, nodes: NDArray[np.int64]) -> csr_array:
    """Some nodes' rows of the adjacency in double precision, with a self-loop of weight 1 where there is none."""
    in_range = bool(nodes[-1] - nodes[0] + 1 == nodes.size)
    taken = (adjacency[nodes[0] : nodes[-1] + 1] if in_range else adjacency[nodes]).astype(np.float64)
    own = np.arange(nodes.size)
    rows = np.repeat(own, np.diff(taken.indptr))
    missing = np.ones(nodes.size)
    missing[rows[taken.indices == nodes[rows]]] = 0
    looped = csr_array(taken + csr_array((missing, (own, nodes)), shape=taken.shape))
    looped.eliminate_zeros()
    looped.sort_indices()
    return looped
