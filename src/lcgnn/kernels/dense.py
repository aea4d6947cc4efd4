"""Dense products and sums of tall matrices with few columns, which the usual routines are slow at."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.kernels.jit import compiled

# A product with fewer columns than this takes longer than one with this many.
_COLUMNS = 16

# Rows that are treated as one long row, so that a loop over it is a vector operation.
_ROWS = 8


class NarrowProduct:
    """``tall @ weight`` for a (D, K) weight that changes in place and keeps its shape.

    Args:
        weight: Padded to a width that the product is fast at.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight
        width, columns = weight.shape
        self.padded = torch.zeros(width, max(columns, _COLUMNS))
        self.inner = self.padded[:, :columns]

    def __call__(self, tall: Tensor) -> Tensor:
        """The product, which may be a part of a wider matrix."""
        self.inner.copy_(self.weight)
        return (tall @ self.padded)[:, : self.inner.shape[1]]


def transposed_product(tall: Tensor, other: Tensor) -> Tensor:
    """``tall.T @ other`` for (N, D) and (N, K), the fast way round."""
    return (other.T @ tall).T.contiguous()


@compiled
def add_bias(matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    """Add the (K,) bias to every row of the contiguous (N, K) matrix."""
    rows, columns = matrix.shape
    flat, long = matrix.reshape(-1), _ROWS * columns
    repeated = np.empty(long, dtype=np.float32)
    for k in range(long):
        repeated[k] = bias[k % columns]
    whole = rows // _ROWS * long
    for start in range(0, whole, long):
        for k in range(long):
            flat[start + k] += repeated[k]
    for k in range(whole, flat.size):
        flat[k] += repeated[k - whole]
