"""A dense square product with the activation and the dropout that follow it, and what its gradient begins with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled, inlined
from lcgnn.compute.kernels.compiled.lanes import kept, larger, load, spread, store

# Rows that are multiplied at a time: with 64 columns each, their sums fill the registers.
_ROWS = 6


@cache
def multiply_activated(count: int) -> Callable[..., None]:
    """``dropout(relu(rows @ weight))`` for so many columns of the weight, from one on."""

    @inlined
    def finish(total: Any, key: Any, place: Any, number: Any, scale: Any, result: Any) -> None:
        positive = larger(spread(np.float32(0), count), total)
        store(result, place, positive * kept(key[0], number, 1, key[1], scale, count))

    @compiled
    def activated_product(
        rows: NDArray[np.float32],
        weight: NDArray[np.float32],
        width: int,
        first: int,
        key: NDArray[np.uint32],
        scale: np.float32,
        numbers: NDArray[np.int64],
        result: NDArray[np.float32],
    ) -> None:
        num_rows, zero = rows.size // width, np.float32(0)
        for i in range(0, num_rows, _ROWS):
            # The last rows are multiplied once more where they do not fill the registers.
            i = max(min(i, num_rows - _ROWS), 0)
            a, b = i * width, min(i + 1, num_rows - 1) * width
            c, d = min(i + 2, num_rows - 1) * width, min(i + 3, num_rows - 1) * width
            e, f = min(i + 4, num_rows - 1) * width, min(i + 5, num_rows - 1) * width
            total_a, total_b, total_c = spread(zero, count), spread(zero, count), spread(zero, count)
            total_d, total_e, total_f = spread(zero, count), spread(zero, count), spread(zero, count)
            for k in range(width):
                right = load(weight, k * width + first, count)
                total_a = total_a + spread(rows[a + k], count) * right
                total_b = total_b + spread(rows[b + k], count) * right
                total_c = total_c + spread(rows[c + k], count) * right
                total_d = total_d + spread(rows[d + k], count) * right
                total_e = total_e + spread(rows[e + k], count) * right
                total_f = total_f + spread(rows[f + k], count) * right
            sums = (a, total_a), (b, total_b), (c, total_c), (d, total_d), (e, total_e), (f, total_f)
            for place, total in sums:
                row = place // width
                number = (numbers[row] if numbers.size else row) * width + first
                finish(total, key, place + first, number, scale, result)

    return activated_product


@compiled
def keep_positive(
    output: NDArray[np.float32],
    gradient: NDArray[np.float32],
    scale: np.float32,
    offsets: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
) -> int:
    """Fill the arrays of a CSR matrix with the scaled gradient where the output is positive; their number."""
    count = 0
    offsets[0] = 0
    for i in range(output.shape[0]):
        for k in range(output.shape[1]):
            columns[count] = k
            values[count] = gradient[i, k] * scale
            count += output[i, k] > np.float32(0)
        offsets[i + 1] = count
    return count
