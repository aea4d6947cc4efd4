"""Random walks on a graph, each step a pure function of a key and its number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.compute.kernels.jit import compiled, random_bits


def random_walks(adjacency: csr_array, starts: NDArray[np.int64], length: int, key: int) -> NDArray[np.int32]:
    """(S, length) nodes: from every start to a random neighbour and on; a node without neighbours stays.

    All neighbours are equally likely, whatever the weights of the edges.

    Args:
        adjacency: (N, N).
        starts: (S,) where the walks begin.
        length: Nodes of each walk, the start included.
        key: 32 bits; the same key gives the same walks.
    """
    walks = np.empty((starts.size, length), dtype=np.int32)
    walks[:, 0] = starts
    _walk(
        adjacency.indptr.astype(np.int64, copy=False),
        adjacency.indices.astype(np.int32, copy=False),
        np.array([key], dtype=np.uint32),
        walks,
    )
    return walks


@compiled
def _walk(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    key: NDArray[np.uint32],
    walks: NDArray[np.int32],
) -> None:
    num_walks, length = walks.shape
    for w in range(num_walks):
        node = walks[w, 0]
        for step in range(1, length):
            degree = offsets[node + 1] - offsets[node]
            if degree > 0:
                bits = np.uint64(random_bits(key[0], w * length + step))
                # The high half of bits * degree is uniform below degree.
                chosen = np.int64((bits * np.uint64(degree)) >> np.uint64(32))
                node = neighbours[offsets[node] + chosen]
            walks[w, step] = node
