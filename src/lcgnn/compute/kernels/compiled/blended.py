"""Products with a CSR matrix, each plus a share of another matrix, a few columns at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import ONE, TWO, compiled
from lcgnn.compute.kernels.compiled.lanes import load, spread, store
from lcgnn.compute.kernels.compiled.prefetch import AHEAD, LINE, prefetch

_AHEAD = np.uint64(AHEAD)

Kernel = Callable[..., None]


@cache
def multiply_blended(count: int, large: bool) -> Kernel:
    """``factor * (matrix @ dense) + share * added`` for so many columns, several times in a row.

    Each time it is what came out before that is multiplied. Rows of what is added, and of the scratch, which is
    read and written if there are several times, are as long as those of the result. A single time differs from
    ``csr.multiply`` in its end only.
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
        times: int,
        scratch: NDArray[np.float32],
    ) -> None:
        last = np.uint64(columns.size - 1)
        source, source_row = dense, dense_row
        for left in range(times - 1, -1, -1):
            target = scratch if left % 2 else result
            for i in range(offsets.size - 1):
                begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
                if large:
                    for e in range(begin, end):
                        soon = columns[min(e + _AHEAD, last)] * source_row + first
                        for k in range(0, count, LINE):
                            prefetch(source, soon + k)
                total, other = spread(zero, count), spread(zero, count)
                if two:
                    for e in range(begin + ONE, end, TWO):
                        before, here = columns[e - ONE] * source_row + first, columns[e] * source_row + first
                        total = total + spread(values[e - ONE], count) * load(source, before, count)
                        other = other + spread(values[e], count) * load(source, here, count)
                    begin = end - (end - begin) % TWO
                for e in range(begin, end):
                    total = total + spread(values[e], count) * load(source, columns[e] * source_row + first, count)
                place = i * result_row + first
                own = spread(share, count) * load(added, place, count)
                store(target, place, spread(factor, count) * (total + other) + own)
            source, source_row = target, result_row

    return csr_blended_product
