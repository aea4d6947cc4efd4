"""Dropout on features without a second copy of them: dense ones and the projection after it, and sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels.csr import csr_tensor
from lcgnn.compute.kernels.dense import transposed_product
from lcgnn.compute.kernels.dropout import Dropout

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
        return None, dropped_transposed_product(ctx.features, ctx.dropout, grad_output), None


def dropped_transposed_product(features: Tensor, dropout: Dropout, dense: Tensor) -> Tensor:
    """``dropout(features).T @ dense`` for (N, F) features, outside of autograd."""
    result = torch.zeros(features.shape[1], dense.shape[1])
    for first in range(0, dense.shape[0], _ROWS):
        rows = slice(first, first + _ROWS)
        result += transposed_product(_dropped(features, dropout, rows), dense[rows])
    return result


def _dropped(features: Tensor, dropout: Dropout, rows: slice) -> Tensor:
    from lcgnn.compute.kernels.compiled.dropped import drop_rows

    chosen = features[rows].contiguous()
    result = torch.empty_like(chosen)
    numbers = (
        dropout.row_numbers[rows] if dropout.row_numbers.size else np.arange(rows.start, rows.start + len(chosen))
    )
    drop_rows(chosen.numpy(), *dropout.arguments(), numbers, result.numpy())
    return result


_ALL_ROWS = np.empty(0, dtype=np.bool_)


def dropped_entries(
    matrix: Tensor, numbers: NDArray[np.uint32], dropout: Dropout, kept_rows: Tensor | None = None
) -> Tensor:
    """Only the entries of a CSR matrix that are kept, so that the product itself gets cheaper as well.

    Args:
        matrix: (N, F).
        numbers: Of every stored entry in the whole dense matrix.
        dropout: Of entries.
        kept_rows: (N,) whether a row is kept; None for all.
    """
    from lcgnn.compute.kernels.compiled.dropped import drop_entries

    offsets, columns, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    kept_offsets, kept_columns, kept_values = map(torch.empty_like, (offsets, columns, values))
    kept = drop_entries(
        offsets.numpy(),
        columns.numpy(),
        values.numpy(),
        numbers,
        *dropout.arguments(),
        _ALL_ROWS if kept_rows is None else kept_rows.numpy(),
        kept_offsets.numpy(),
        kept_columns.numpy(),
        kept_values.numpy(),
    )
    return csr_tensor(kept_offsets, kept_columns[:kept], kept_values[:kept], matrix.shape)
