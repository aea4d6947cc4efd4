"""Dense products of tall matrices with few columns, and the addition of a bias to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.kernels.jit import compiled

# A product with fewer columns than this takes longer than one with this many.
_COLUMNS = 16


def product(tall: Tensor, weight: Tensor) -> Tensor:
    """``tall @ weight`` for (N, D) and (D, K); the result may be a part of a wider matrix."""
    width, columns = weight.shape
    if columns >= _COLUMNS:
        return tall @ weight
    padded = weight.new_zeros(width, _COLUMNS)
    padded[:, :columns] = weight
    return (tall @ padded)[:, :columns]


def transposed_product(tall: Tensor, other: Tensor) -> Tensor:
    """``tall.T @ other`` for (N, D) and (N, K), the fast way round."""
    return (other.T @ tall).T.contiguous()


@compiled
def add_bias(matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    """Add the (K,) bias to every row of the (N, K) matrix."""
    rows, columns = matrix.shape
    for i in range(rows):
        for k in range(columns):
            matrix[i, k] += bias[k]
