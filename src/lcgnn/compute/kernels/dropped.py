"""Dropout on dense features and the projection after it, without a second copy of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels.dense import transposed_product
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.kernels.jit import compiled, random_bits

# Rows that are dropped out and multiplied at a time.
_ROWS = 2**14


def dropped_dense_product(features: Tensor, weight: Tensor, dropout: Dropout) -> Tensor:
    """``dropout(features) @ weight`` for (N, F) features that no gradient is wanted for."""
    result: Tensor = _DroppedProduct.apply(features, weight, dropout)  # type: ignore[no-untyped-call]
    return result


class _DroppedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, dropout: Dropout) -> Tensor:
        ctx.features, ctx.dropout = features, dropout
        result = torch.empty(features.shape[0], weight.shape[1])
        for first in range(0, features.shape[0], _ROWS):
            rows = slice(first, first + _ROWS)
            torch.mm(_dropped(features, dropout, rows), weight, out=result[rows])
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[None, Tensor, None]:
        grad_weight = torch.zeros(ctx.features.shape[1], grad_output.shape[1])
        for first in range(0, grad_output.shape[0], _ROWS):
            rows = slice(first, first + _ROWS)
            grad_weight += transposed_product(_dropped(ctx.features, ctx.dropout, rows), grad_output[rows])
        return None, grad_weight, None


def _dropped(features: Tensor, dropout: Dropout, rows: slice) -> Tensor:
    chosen = features[rows].contiguous()
    result = torch.empty_like(chosen)
    numbers = (
        dropout.row_numbers[rows] if dropout.row_numbers.size else np.arange(rows.start, rows.start + len(chosen))
    )
    _drop(chosen.numpy(), *dropout.arguments(), numbers, result.numpy())
    return result


@compiled
def _drop(
    values: NDArray[np.float32],
    key: NDArray[np.uint32],
    scale: np.float32,
    numbers: NDArray[np.int64],
    result: NDArray[np.float32],
) -> None:
    rows, columns = values.shape
    key_bits, threshold = key[0], key[1]
    for i in range(rows):
        first = numbers[i] * columns
        for k in range(columns):
            kept = random_bits(key_bits, first + k) >= threshold
            result[i, k] = values[i, k] * scale if kept else np.float32(0)
