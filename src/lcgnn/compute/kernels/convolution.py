"""A deep network's layer and its gradient, a few rows at a time, so that what is between them stays in the cache.

For code that is itself an alternative where ``fused`` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.csr import Entries, add_transposed_product, write_blended_product, write_product
from lcgnn.compute.kernels.dropout import Dropout

# Columns of the weight that are multiplied at a time: as many as stay in the registers.
_MOST_COLUMNS = 64
# Numbers of a matrix that are worked on at a time: as many as the cache of a core holds with what they turn into.
_NUMBERS = 2**18


@dataclass(frozen=True, eq=False)
class Support:
    """``factor * (A @ before) + share * first``, which a layer multiplies with its weight.

    Args:
        entries: Of A, (N, M).
        before: (M, D).
        factor: Of the product.
        first: (N, D).
        share: Of the matrix that is added.
    """

    entries: Entries
    before: Tensor
    factor: float
    first: Tensor
    share: float

    def write(self, rows: slice, result: Tensor) -> None:
        """Fill the result with some rows of it."""
        entries, first = self.entries.of_rows(rows), self.first[rows]
        write_blended_product(entries, self.before, self.factor, first, self.share, result)


def convolve(support: Support, weight: Tensor, dropout: Dropout, result: Tensor) -> None:
    """Fill the result with ``dropout(relu(support @ weight))`` for a (D, D) weight."""

    def of_rows(block: slice) -> None:
        memory = torch.empty(_rows_at_a_time(result), result.shape[1])
        for rows in _a_few_of(block, result):
            part = memory[: rows.stop - rows.start]
            support.write(rows, part)
            _write_activated_product(part, weight, dropout, rows, result[rows])

    threads.for_rows(of_rows, result.shape[0], support.entries.offsets)


def convolution_gradient(
    support: Support, weight: Tensor, output: Tensor, scale: float, by_output: Tensor, by_support: Tensor
) -> Tensor:
    """(D, D) by the weight, given the gradient by what ``convolve`` gave; the one by the support is written.

    The gradient before the activation is zero where the output is, so that both products are sparse ones.

    Args:
        support: As it was.
        weight: As it was.
        output: (N, D) what came out.
        scale: Of what dropout keeps.
        by_output: (N, D) the gradient by it.
        by_support: (N, D) is filled.
    """
    width, transposed = output.shape[1], weight.T.contiguous()

    def of_rows(block: slice) -> Tensor:
        memory, entries = torch.empty(_rows_at_a_time(output), width), _Positive(output)
        by_transposed = torch.zeros(width, width)
        for rows in _a_few_of(block, output):
            part = memory[: rows.stop - rows.start]
            support.write(rows, part)
            before = entries.where(output[rows], by_output[rows], scale)
            add_transposed_product(before, part, by_transposed)
            write_product(before, transposed, by_support[rows])
        return by_transposed

    return threads.sum_over_rows(of_rows, output.shape[0], support.entries.offsets).T


class _Positive:
    """Memory for the entries of some rows' gradient before the activation."""

    def __init__(self, matrix: Tensor) -> None:
        rows = _rows_at_a_time(matrix)
        self.offsets = np.empty(rows + 1, dtype=np.int32)
        self.columns = np.empty(rows * matrix.shape[1] + 1, dtype=np.int32)
        self.values = np.empty(rows * matrix.shape[1] + 1, dtype=np.float32)

    def where(self, output: Tensor, gradient: Tensor, scale: float) -> Entries:
        """The scaled gradient where the output is positive; it holds until the next call."""
        from lcgnn.compute.kernels.compiled.convolution import keep_positive

        offsets = self.offsets[: output.shape[0] + 1]
        given = output.numpy(), gradient.numpy(), np.float32(scale)
        count = keep_positive(*given, offsets, self.columns, self.values)
        return Entries(offsets, self.columns[:count], self.values[:count])


def _write_activated_product(part: Tensor, weight: Tensor, dropout: Dropout, rows: slice, result: Tensor) -> None:
    from lcgnn.compute.kernels.compiled.convolution import multiply_activated

    width = weight.shape[0]
    flat = [matrix.view(-1).numpy() for matrix in (part, weight, result)]
    for first in range(0, width, _MOST_COLUMNS):
        multiply = multiply_activated(min(_MOST_COLUMNS, width - first))
        multiply(*flat[:2], width, first, *dropout.arguments(), dropout.numbers_of(rows), flat[2])


def _rows_at_a_time(matrix: Tensor) -> int:
    return max(min(_NUMBERS // matrix.shape[1], matrix.shape[0]), 1)


def _a_few_of(block: slice, matrix: Tensor) -> Iterator[slice]:
    step = _rows_at_a_time(matrix)
    return (slice(first, min(first + step, block.stop)) for first in range(block.start, block.stop, step))
