"""Dense products and sums of tall matrices with few columns, which the usual routines are slow at."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels.backend import Constant

# A product with fewer columns than this takes longer than one with this many.
_COLUMNS = 16


class NarrowProduct:
    """``tall @ weight`` for a (D, K) weight that changes in place and keeps its shape.

    Args:
        weight: Padded to a width that the product is fast at; ``update`` takes over its values.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight
        width, columns = weight.shape
        self.padded = torch.zeros(width, max(columns, _COLUMNS))
        self.inner = self.padded[:, :columns]

    def update(self) -> None:
        """The weight has changed."""
        self.inner.copy_(self.weight)

    def __call__(self, tall: Tensor) -> Tensor:
        """The product, which may be a part of a wider matrix."""
        return (tall @ self.padded)[:, : self.inner.shape[1]]


def tall_product(tall: Tensor, weight: Tensor) -> Tensor:
    """``tall @ weight`` for (N, D) and (D, K), which may be a part of a wider matrix."""
    columns = weight.shape[1]
    if columns >= _COLUMNS:
        return tall @ weight
    return (tall @ torch.nn.functional.pad(weight, (0, _COLUMNS - columns)))[:, :columns]


def transposed_product(tall: Tensor, other: Tensor) -> Tensor:
    """``tall.T @ other`` for (N, D) and (N, K), the fast way round."""
    return (other.T @ tall).T.contiguous()


def add_bias(columns: Constant, matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    """Add the (K,) bias to every row of the (N, K) matrix; for code that is used where ``fused`` says so."""
    from lcgnn.compute.kernels.compiled import dense

    dense.add_bias(columns, matrix, bias)
