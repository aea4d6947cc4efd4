"""Random walks, one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled, random_bits


@compiled
def walk(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    key: NDArray[np.uint32],
    walks: NDArray[np.int32],
) -> None:
    """Fill ``walks`` (S, length), whose first column is where they begin."""
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
