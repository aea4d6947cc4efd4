"""Dropout on features without a second copy of them: dense ones and the projection after it, and sparse ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import fused, threads
from lcgnn.compute.kernels.csr import csr_tensor
from lcgnn.compute.kernels.dense import transposed_product
from lcgnn.compute.kernels.dropout import Dropout

# Entries that are dropped out and multiplied at a time: few enough to stay in the cache, and for the memory to be
# the same one again, which the system need not clear.
_ENTRIES = 2**20


def dropped_dense_product(features: Tensor, weight: Tensor, dropout: Dropout) -> Tensor:
    """``dropout(features) @ weight`` for (N, F) features that no gradient is wanted for."""
    result: Tensor = _DroppedProduct.apply(features, weight, dropout)  # type: ignore[no-untyped-call]
    return result


class _DroppedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, dropout: Dropout) -> Tensor:
        ctx.features, ctx.dropout = features, dropout
        result = torch.empty(features.shape[0], weight.shape[1])

        def of_rows(block: slice) -> None:
            for rows in _a_few_of(block, features):
                torch.mm(_dropped(features, dropout, rows), weight, out=result[rows])

        threads.for_rows(of_rows, features.shape[0])
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[None, Tensor, None]:
        return None, dropped_transposed_product(ctx.features, ctx.dropout, grad_output), None


def dropped_transposed_product(features: Tensor, dropout: Dropout, dense: Tensor) -> Tensor:
    """``dropout(features).T @ dense`` for (N, F) features, outside of autograd."""

    def of_rows(block: slice) -> Tensor:
        result = torch.zeros(features.shape[1], dense.shape[1])
        for rows in _a_few_of(block, features):
            result += transposed_product(_dropped(features, dropout, rows), dense[rows])
        return result

    return threads.sum_over_rows(of_rows, dense.shape[0])


def kept_rows(dropout: Dropout, column: Tensor) -> Tensor:
    """(N,) which rows are kept where each is one element, as in the (N, 1) column."""
    if not fused(column):
        return dropout.mask_like(column)[:, 0] > 0
    return _dropped(torch.ones_like(column), dropout, slice(0, column.shape[0]))[:, 0] > 0


def _a_few_of(block: slice, features: Tensor) -> Iterator[slice]:
    rows = max(_ENTRIES // max(features.shape[1], 1), 1)
    return (slice(first, min(first + rows, block.stop)) for first in range(block.start, block.stop, rows))


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
    given = offsets.numpy(), columns.numpy(), values.numpy(), numbers
    memory = kept_offsets.numpy(), kept_columns.numpy(), kept_values.numpy()
    chosen = _ALL_ROWS if kept_rows is None else kept_rows.numpy()
    counts: dict[int, int] = {}

    def of_rows(rows: slice) -> None:
        """Each block's entries to where all of them would begin, and how many there are from 0 on."""
        starts = given[0][rows.start : rows.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        counted = np.empty(starts.size, dtype=np.int32)
        counts[rows.start] = drop_entries(
            starts - starts[0],
            given[1][entries],
            given[2][entries],
            given[3][entries],
            *dropout.arguments(),
            chosen[rows],
            counted,
            memory[1][entries],
            memory[2][entries],
        )
        memory[0][rows.start + 1 : rows.stop + 1] = counted[1:]

    memory[0][0] = 0
    threads.for_rows(of_rows, matrix.shape[0], given[0])
    kept = _closed_up(given[0], memory, counts)
    return csr_tensor(kept_offsets, kept_columns[:kept], kept_values[:kept], matrix.shape)


def _closed_up(offsets: NDArray[np.int32], memory: tuple[NDArray[Any], ...], counts: dict[int, int]) -> int:
    """Move the entries of blocks of rows together, given where these begin; how many there are in all."""
    starts, total = sorted(counts), 0
    for start, stop in pairwise([*starts, offsets.size - 1]):
        begin, count = int(offsets[start]), counts[start]
        if total != begin:
            for array in memory[1:]:
                array[total : total + count] = array[begin : begin + count]
        memory[0][start + 1 : stop + 1] += np.int32(total)
        total += count
    return total
