"""Sums of tall matrices with few columns, which the usual routines are slow at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.backend import Constant
from lcgnn.compute.kernels.compiled.jit import compiled, value_of


@compiled
def add_bias(columns: Constant, matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    """Add the (K,) bias to every row of the (N, K) matrix."""
    for i in range(matrix.shape[0]):
        for k in range(value_of(columns, matrix.shape[1])):
            matrix[i, k] += bias[k]
