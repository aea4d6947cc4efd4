"""Noise by the number of an element."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled, random_bits
from lcgnn.compute.kernels.noise import DEVIATION, MEAN

_MEAN, _SCALE = np.float32(MEAN), np.float32(1 / DEVIATION)
_BYTE = np.uint32(255)


@compiled
def fill(key: np.uint32, numbers: NDArray[np.int64], result: NDArray[np.float32]) -> None:
    """Fill ``result`` (N, D) with noise; ``numbers`` as in ``Dropout.row_numbers``."""
    rows, columns = result.shape
    for i in range(rows):
        first = (numbers[i] if numbers.size else i) * columns
        for k in range(columns):
            bits = np.uint32(random_bits(key, first + k))
            low = (bits & _BYTE) + ((bits >> np.uint32(8)) & _BYTE)
            high = ((bits >> np.uint32(16)) & _BYTE) + (bits >> np.uint32(24))
            result[i, k] = (np.float32(low + high) - _MEAN) * _SCALE
