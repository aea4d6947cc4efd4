"""The normalised adjacency some rows at a time, for graphs whose matrix is never whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
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
    """

    adjacency: csr_array
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, adjacency: csr_array, dtype: DTypeLike = np.float32) -> NormalizedRows:
        """Those of an adjacency, whose rows are added up in a type of numbers."""
        sums = [
            np.asarray(_looped(adjacency, rows, dtype).sum(axis=1), dtype=np.float64).ravel()
            for rows in row_blocks(adjacency, slice(0, adjacency.shape[0]))
        ]
        return cls(adjacency, 1.0 / np.sqrt(np.concatenate(sums)))

    def blocks(self, rows: slice) -> Iterator[tuple[slice, csr_array]]:
        """All of these rows, some at a time: which they are, and they themselves (n, N) in float32."""
        for block in row_blocks(self.adjacency, rows):
            looped = _looped(self.adjacency, block, np.float32)
            values = np.repeat(self.scale[block], np.diff(looped.indptr))
            values *= looped.data
            values *= self.scale[looped.indices]
            parts = values.astype(np.float32), looped.indices, looped.indptr
            yield block, csr_array(parts, shape=looped.shape)


def row_blocks(adjacency: csr_array, rows: slice) -> Iterator[slice]:
    """Slices of the rows that have about ``ENTRIES`` entries each, one row at least."""
    offsets, first = adjacency.indptr, rows.start
    while first < rows.stop:
        last = int(np.searchsorted(offsets, int(offsets[first]) + ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), rows.stop)
        yield slice(first, last)
        first = last
        let_go(adjacency.indices, adjacency.data)


def _looped(adjacency: csr_array, rows: slice, dtype: DTypeLike) -> csr_array:
    """Some rows of the adjacency, with a self-loop of weight 1 where there is none."""
    taken = adjacency[rows].astype(dtype)
    own = np.arange(rows.stop - rows.start)
    missing = (taken.diagonal(rows.start) == 0).astype(dtype)
    looped = csr_array(taken + csr_array((missing, (own, own + rows.start)), shape=taken.shape))
    looped.eliminate_zeros()
    looped.sort_indices()
    return looped
