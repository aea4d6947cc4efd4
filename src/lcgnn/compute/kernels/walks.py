"""Random walks on a graph, each step a pure function of a key and its number."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.compute.kernels.backend import fused
from lcgnn.compute.kernels.dropout import random_bits


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
    offsets = adjacency.indptr.astype(np.int64, copy=False)
    neighbours = adjacency.indices.astype(np.int32, copy=False)
    if fused():
        from lcgnn.compute.kernels.compiled.walks import walk

        walk(offsets, neighbours, np.array([key], dtype=np.uint32), walks)
    else:
        _walk_plain(offsets, neighbours, key, walks)
    return walks


def _walk_plain(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int32], key: int, walks: NDArray[np.int32]
) -> None:
    """All walks a step at a time."""
    num_walks, length = walks.shape
    first, degrees = offsets[:-1], np.diff(offsets)
    for step in range(1, length):
        node = walks[:, step - 1].copy()
        bits = random_bits(key, torch.arange(num_walks) * length + step).numpy().astype(np.uint64)
        # The high half of bits * degree is uniform below degree.
        chosen = ((bits * degrees[node].astype(np.uint64)) >> np.uint64(32)).astype(np.int64)
        moves = degrees[node] > 0
        node[moves] = neighbours[(first[node] + chosen)[moves]]
        walks[:, step] = node
