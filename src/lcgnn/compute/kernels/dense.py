"""Dense products and sums of tall matrices with few columns, which the usual routines are slow at.

All of them work on blocks of rows (``threads``); of few rows they are torch's own expressions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import fused, threads
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

    def write(self, tall: Tensor, result: Tensor) -> None:
        """Fill the result with the product, which may have more columns than the weight."""
        torch.mm(tall, self.padded, out=result)


def product(tall: Tensor, weight: Tensor) -> Tensor:
    """``tall @ weight`` for (N, D) and (D, K), outside of autograd."""
    if threads.is_one_block(tall.shape[0]):
        return tall @ weight
    result = tall.new_empty(tall.shape[0], weight.shape[1])
    threads.for_rows(lambda rows: torch.mm(tall[rows], weight, out=result[rows]), tall.shape[0])
    return result


def tall_product(tall: Tensor, weight: Tensor) -> Tensor:
    """``tall @ weight`` for (N, D) and (D, K), which may be a part of a wider matrix."""
    columns = weight.shape[1]
    if columns >= _COLUMNS:
        return product(tall, weight)
    return product(tall, torch.nn.functional.pad(weight, (0, _COLUMNS - columns)))[:, :columns]


def transposed_product(tall: Tensor, other: Tensor) -> Tensor:
    """``tall.T @ other`` for (N, D) and (N, K), the fast way round."""
    return threads.sum_over_rows(lambda rows: other[rows].T @ tall[rows], tall.shape[0]).T.contiguous()


def column_sums(matrix: Tensor) -> Tensor:
    """(D,) the sums over the rows of an (N, D) matrix."""
    return threads.sum_over_rows(lambda rows: matrix[rows].sum(dim=0), matrix.shape[0])


def add_bias(columns: Constant, matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    """Add the (K,) bias to every row of the (N, K) matrix; for code that is used where ``fused`` says so."""
    from lcgnn.compute.kernels.compiled import dense

    threads.for_rows(lambda rows: dense.add_bias(columns, matrix[rows], bias), matrix.shape[0])


def projected(tall: Tensor, weight: Tensor) -> Tensor:
    """``tall @ weight`` for (N, D) and (D, K), as a part of autograd's graph."""
    if threads.is_one_block(tall.shape[0]) or not fused(tall, weight):
        return tall @ weight
    result: Tensor = _Projected.apply(tall, weight)  # type: ignore[no-untyped-call]
    return result


def plus_bias(matrix: Tensor, bias: Tensor) -> Tensor:
    """``matrix + bias`` for (N, K) and (K,), as a part of autograd's graph."""
    if threads.is_one_block(matrix.shape[0]) or not fused(matrix, bias):
        return matrix + bias
    result: Tensor = _PlusBias.apply(matrix, bias)  # type: ignore[no-untyped-call]
    return result


class _Projected(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tall: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(tall, weight)
        return product(tall, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, Tensor | None]:
        tall, weight = ctx.saved_tensors
        by_tall, by_weight = ctx.needs_input_grad
        return (
            product(grad_output, weight.T) if by_tall else None,
            transposed_product(tall, grad_output) if by_weight else None,
        )


class _PlusBias(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, bias: Tensor) -> Tensor:  # noqa: ARG004
        result = torch.empty_like(matrix)
        threads.for_rows(lambda rows: torch.add(matrix[rows], bias, out=result[rows]), matrix.shape[0])
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor | None]:
        return grad_output, column_sums(grad_output) if ctx.needs_input_grad[1] else None
