"""Sums of matrices whose every row has a gate of its own, and their gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.backend import Constant
from lcgnn.compute.kernels.compiled.jit import compiled, exp, value_of


@compiled
def forward(
    columns: Constant,
    matrices: NDArray[np.float32],
    weight: NDArray[np.float32],
    bias: np.float32,
    gates: NDArray[np.float32],
    result: NDArray[np.float32],
    start: int,
    stop: int,
) -> None:
    """Fill the gates (K, N) and add the gated matrices (K, N, D) to the result (N, D), from a row to another."""
    one = np.float32(1)
    for k in range(matrices.shape[0]):
        for i in range(start, stop):
            score = bias
            for c in range(value_of(columns, matrices.shape[2])):
                score += matrices[k, i, c] * weight[c]
            # Of the two forms of the logistic function the one whose exponential cannot overflow.
            small = exp(-abs(score))
            gate = (one if score > np.float32(0) else small) / (one + small)
            gates[k, i] = gate
            for c in range(value_of(columns, matrices.shape[2])):
                result[i, c] += gate * matrices[k, i, c]


@compiled
def backward(
    columns: Constant,
    matrices: NDArray[np.float32],
    weight: NDArray[np.float32],
    gates: NDArray[np.float32],
    gradient: NDArray[np.float32],
    by_matrices: NDArray[np.float32],
    by_weight: NDArray[np.float64],
    start: int,
    stop: int,
) -> float:
    """Fill the gradient by the matrices, add the one by the weight to what is there, and return the bias's.

    Only the rows from one to another count.
    """
    by_bias = 0.0
    for k in range(matrices.shape[0]):
        for i in range(start, stop):
            slope = np.float32(0)
            for c in range(value_of(columns, matrices.shape[2])):
                slope += matrices[k, i, c] * gradient[i, c]
            gate = gates[k, i]
            slope *= gate * (np.float32(1) - gate)
            by_bias += slope
            for c in range(value_of(columns, matrices.shape[2])):
                by_matrices[k, i, c] = gate * gradient[i, c] + slope * weight[c]
                by_weight[c] += slope * matrices[k, i, c]
    return by_bias
