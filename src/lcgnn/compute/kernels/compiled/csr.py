"""Products with CSR matrices, a few columns of the dense matrix at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import ONE, TWO, compiled
from lcgnn.compute.kernels.compiled.lanes import load, spread, store
from lcgnn.compute.kernels.compiled.prefetch import AHEAD, LINE, prefetch

# Of up to so many columns there is room for two sums, and one does not wait for the other.
_FEW_COLUMNS = 32

_AHEAD = np.uint64(AHEAD)

Kernel = Callable[..., None]


@cache
def multiply(count: int, large: bool) -> Kernel:
    """``matrix @ dense`` for so many columns, of a matrix that no cache holds if it is large."""
    zero = np.float32(0)
    two = count <= _FEW_COLUMNS

    @compiled
    def csr_product(
        offsets: NDArray[np.int32],
        columns: NDArray[np.int32],
        values: NDArray[np.float32],
        first: int,
        dense: NDArray[np.float32],
        dense_row: int,
        result: NDArray[np.float32],
        result_row: int,
    ) -> None:
        last = np.uint64(columns.size - 1)
        for i in range(offsets.size - 1):
            begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
            if large:
                for e in range(begin, end):
                    soon = columns[min(e + _AHEAD, last)] * dense_row + first
                    for k in range(0, count, LINE):
                        prefetch(dense, soon + k)
            total, other = spread(zero, count), spread(zero, count)
            if two:
                for e in range(begin + ONE, end, TWO):
                    before, here = columns[e - ONE] * dense_row + first, columns[e] * dense_row + first
                    total = total + spread(values[e - ONE], count) * load(dense, before, count)
                    other = other + spread(values[e], count) * load(dense, here, count)
                begin = end - (end - begin) % TWO
            for e in range(begin, end):
                total = total + spread(values[e], count) * load(dense, columns[e] * dense_row + first, count)
            store(result, i * result_row + first, total + other)

    return csr_product


@cache
def add_transposed(count: int, large: bool) -> Kernel:
    """Adds ``matrix.T @ dense`` for so many columns to the result."""

    @compiled
    def csr_transposed_product(
        offsets: NDArray[np.int32],
        columns: NDArray[np.int32],
        values: NDArray[np.float32],
        first: int,
        dense: NDArray[np.float32],
        dense_row: int,
        result: NDArray[np.float32],
        result_row: int,
    ) -> None:
        last = np.uint64(columns.size - 1)
        for i in range(offsets.size - 1):
            begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
            if large:
                for e in range(begin, end):
                    soon = columns[min(e + _AHEAD, last)] * result_row + first
                    for k in range(0, count, LINE):
                        prefetch(result, soon + k)
            row = load(dense, i * dense_row + first, count)
            for e in range(begin, end):
                place = columns[e] * result_row + first
                store(result, place, load(result, place, count) + spread(values[e], count) * row)

    return csr_transposed_product
