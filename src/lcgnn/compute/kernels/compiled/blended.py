"""A product with a CSR matrix and a share of another matrix in one pass, a few columns at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled
from lcgnn.compute.kernels.compiled.lanes import load, spread, store
from lcgnn.compute.kernels.compiled.prefetch import AHEAD, LINE, prefetch

Kernel = Callable[..., None]


@cache
def multiply_blended(count: int, large: bool) -> Kernel:
    """``factor * (matrix @ dense) + share * added`` for so many columns.

    Rows of what is added are as long as those of the result. It differs from ``csr.multiply`` in its end only.
    """
    zero = np.float32(0)
    two = count <= 32

    @compiled
    def csr_blended_product(
        offsets: NDArray[np.int32],
        columns: NDArray[np.int32],
        values: NDArray[np.float32],
        first: int,
        dense: NDArray[np.float32],
        dense_row: int,
        result: NDArray[np.float32],
        result_row: int,
        added: NDArray[np.float32],
        factor: np.float32,
        share: np.float32,
    ) -> None:
        last = columns.size - 1
        for i in range(offsets.size - 1):
            begin, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
            if large:
                for e in range(begin, end):
                    soon = columns[min(e + AHEAD, last)] * dense_row + first
                    for k in range(0, count, LINE):
                        prefetch(dense, soon + k)
            total, other = spread(zero, count), spread(zero, count)
            if two:
                for e in range(begin + 1, end, 2):
                    before, here = columns[e - 1] * dense_row + first, columns[e] * dense_row + first
                    total = total + spread(values[e - 1], count) * load(dense, before, count)
                    other = other + spread(values[e], count) * load(dense, here, count)
                begin = end - (end - begin) % 2
            for e in range(begin, end):
                total = total + spread(values[e], count) * load(dense, columns[e] * dense_row + first, count)
            place = i * result_row + first
            own = spread(share, count) * load(added, place, count)
            store(result, place, spread(factor, count) * (total + other) + own)

    return csr_blended_product
