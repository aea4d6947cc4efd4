"""The dense half of a deep network's layer, for code that is itself an alternative where ``fused`` says so."""

from __future__ import annotations

import torch
from torch import Tensor

from lcgnn.compute.kernels.csr import csr_tensor
from lcgnn.compute.kernels.dropout import Dropout

# Columns of the weight that are multiplied at a time: as many as stay in the registers.
_MOST_COLUMNS = 64


def activated_product(rows: Tensor, weight: Tensor, dropout: Dropout, result: Tensor) -> Tensor:
    """Fill ``result`` with ``dropout(relu(rows @ weight))`` for (N, D) rows and a (D, D) weight."""
    from lcgnn.compute.kernels.compiled.convolution import multiply_activated

    width = weight.shape[0]
    flat = [matrix.view(-1).numpy() for matrix in (rows, weight, result)]
    for first in range(0, width, _MOST_COLUMNS):
        multiply = multiply_activated(min(_MOST_COLUMNS, width - first))
        multiply(*flat[:2], width, first, *dropout.arguments(), dropout.row_numbers, flat[2])
    return result


class PositiveEntries:
    """Memory for the gradient of a layer before its activation, most of which is zero.

    Args:
        num_rows: N.
        num_columns: D.
    """

    def __init__(self, num_rows: int, num_columns: int) -> None:
        self.shape = num_rows, num_columns
        self.offsets = torch.empty(num_rows + 1, dtype=torch.int32)
        self.columns = torch.empty(num_rows * num_columns + 1, dtype=torch.int32)
        self.values = torch.empty(num_rows * num_columns + 1)

    def where(self, output: Tensor, gradient: Tensor, scale: float) -> Tensor:
        """(N, D) the scaled gradient where the output is positive, as a CSR matrix that holds until the next call."""
        from lcgnn.compute.kernels.compiled.convolution import keep_positive

        given = output.numpy(), gradient.numpy(), output.new_tensor(scale).numpy()[()]
        count = keep_positive(*given, self.offsets.numpy(), self.columns.numpy(), self.values.numpy())
        return csr_tensor(self.offsets, self.columns[:count], self.values[:count], self.shape)
