"""Bias, activation and dropout of a hidden layer in one pass, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import activation as by_rows
from lcgnn.compute.kernels.compiled.jit import compiled, exp, random_bits
from lcgnn.compute.kernels.dense import column_sums
from lcgnn.compute.kernels.dropout import Dropout


class Activate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor, elu: bool, dropout: Dropout) -> Tensor:
        x = x.contiguous()
        output = torch.empty_like(x)
        by_rows.forward(x.numpy(), bias.numpy(), elu, dropout, output.numpy())
        ctx.save_for_backward(output)
        ctx.elu, ctx.dropout = elu, dropout
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (output,) = ctx.saved_tensors
        grad_x = torch.empty_like(output)
        gradient = grad_output.contiguous().numpy()
        by_rows.backward(output.numpy(), gradient, ctx.elu, ctx.dropout, grad_x.numpy())
        return grad_x, column_sums(grad_x), None, None


@compiled
def forward(
    x: NDArray[np.float32],
    bias: NDArray[np.float32],
    elu: bool,
    key: NDArray[np.uint32],
    scale: np.float32,
    numbers: NDArray[np.int64],
    output: NDArray[np.float32],
) -> None:
    """Fill ``output`` (N, D) with the activated, dropped out values; ``numbers`` as in ``Dropout.row_numbers``."""
    rows, columns = x.shape
    zero, one = np.float32(0), np.float32(1)
    key_bits, threshold = key[0], key[1]
    if threshold == 0 and not elu:
        for i in range(rows):
            for k in range(columns):
                output[i, k] = max(x[i, k] + bias[k], zero)
        return
    for i in range(rows):
        first = (numbers[i] if numbers.size else i) * columns
        for k in range(columns):
            value = x[i, k] + bias[k]
            if elu:
                value = value if value > zero else exp(value) - one
            else:
                value = max(value, zero)
            kept = random_bits(key_bits, first + k) >= threshold
            output[i, k] = value * scale if kept else zero


@compiled
def backward(
    output: NDArray[np.float32],
    grad_output: NDArray[np.float32],
    elu: bool,
    key: NDArray[np.uint32],
    scale: np.float32,
    numbers: NDArray[np.int64],
    grad_x: NDArray[np.float32],
) -> None:
    """Fill ``grad_x`` (N, D) from the output and its gradient."""
    rows, columns = output.shape
    zero = np.float32(0)
    key_bits, threshold = key[0], key[1]
    for i in range(rows):
        first = (numbers[i] if numbers.size else i) * columns
        for k in range(columns):
            # Of ELU below zero: output = scale * (e^x - 1), so its slope scale * e^x is output + scale.
            below = output[i, k] + scale if elu else zero
            slope = scale if output[i, k] > zero else below
            kept = random_bits(key_bits, first + k) >= threshold
            grad_x[i, k] = slope * grad_output[i, k] if kept else zero
