"""Adam's step as one pass over a parameter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled


@compiled
def update(
    parameter: NDArray[np.float32],
    gradient: NDArray[np.float32],
    mean: NDArray[np.float32],
    square: NDArray[np.float32],
    factors: NDArray[np.float32],
) -> None:
    """Move the parameter and its moments by one step; the factors are those of ``Adam.factors``."""
    weight_decay, first, rest_of_first = factors[0], factors[1], factors[2]
    second, rest_of_second = factors[3], factors[4]
    rate, correction, eps = factors[5], factors[6], factors[7]
    # 1 - 0.999 in single precision is off by a twentieth of a thousandth: the rests are computed in double.
    for k in range(parameter.size):
        grad = gradient[k] + weight_decay * parameter[k]
        mean[k] = first * mean[k] + rest_of_first * grad
        square[k] = second * square[k] + rest_of_second * grad * grad
        parameter[k] -= rate * mean[k] / (np.sqrt(square[k]) * correction + eps)
