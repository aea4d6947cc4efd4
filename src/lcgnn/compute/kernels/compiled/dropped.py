"""Dropout on the rows of a dense matrix and on the entries of a sparse one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled, random_bits


@compiled
def drop_rows(
    values: NDArray[np.float32],
    key: NDArray[np.uint32],
    scale: np.float32,
    numbers: NDArray[np.int64],
    result: NDArray[np.float32],
) -> None:
    """Fill ``result`` with the values that are kept, scaled; the rows have these numbers in the whole matrix."""
    rows, columns = values.shape
    key_bits, threshold = key[0], key[1]
    for i in range(rows):
        first = numbers[i] * columns
        for k in range(columns):
            kept = random_bits(key_bits, first + k) >= threshold
            result[i, k] = values[i, k] * scale if kept else np.float32(0)


@compiled
def drop_entries(
    offsets: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    numbers: NDArray[np.uint32],
    key: NDArray[np.uint32],
    scale: np.float32,
    kept_rows: NDArray[np.bool_],
    kept_offsets: NDArray[np.int32],
    kept_columns: NDArray[np.int32],
    kept_values: NDArray[np.float32],
) -> int:
    """Fill the arrays of a CSR matrix with the entries that are kept, scaled, and return how many there are.

    Only rows that are kept have entries; of ``kept_rows`` without elements, all are.
    """
    keep = np.empty(columns.size, dtype=np.uint8)
    key_bits, threshold = key[0], key[1]
    for e in range(columns.size):
        keep[e] = random_bits(key_bits, numbers[e]) >= threshold
    kept = np.uint64(0)
    kept_offsets[0] = 0
    for i in range(offsets.size - 1):
        if kept_rows.size == 0 or kept_rows[i]:
            for e in range(np.uint64(offsets[i]), np.uint64(offsets[i + 1])):
                kept_columns[kept] = columns[e]
                kept_values[kept] = values[e] * scale
                kept += np.uint64(keep[e])
        kept_offsets[i + 1] = kept
    return int(kept)
