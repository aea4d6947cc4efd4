"""Sums of matrices whose every row has a gate of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import fused, threads
from lcgnn.compute.kernels.backend import constant


def gated_sum(matrices: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    r""":math:`\sum_k \sigma(M_k w + b) \odot M_k` (N, D) for matrices (K, N, D), a (D, 1) weight, a (1,) bias."""
    if fused(matrices, weight, bias):
        result: Tensor = _GatedSum.apply(matrices, weight, bias)  # type: ignore[no-untyped-call]
        return result
    return (torch.sigmoid(matrices @ weight + bias) * matrices).sum(dim=0)


class _GatedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrices: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        from lcgnn.compute.kernels.compiled.gates import forward

        gates, result = torch.empty(matrices.shape[:2]), torch.zeros(matrices.shape[1:])
        arrays = matrices.numpy(), weight.view(-1).numpy(), np.float32(bias.item())
        filled = gates.numpy(), result.numpy()

        def of_rows(rows: slice) -> None:
            forward(constant(matrices.shape[2]), *arrays, *filled, rows.start, rows.stop)

        threads.for_rows(of_rows, matrices.shape[1])
        ctx.save_for_backward(matrices, weight, gates)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        from lcgnn.compute.kernels.compiled.gates import backward

        matrices, weight, gates = ctx.saved_tensors
        by_matrices, width = torch.empty_like(matrices), weight.shape[0]
        arrays = (matrices.numpy(), weight.view(-1).numpy(), gates.numpy(), grad_output.contiguous().numpy())

        def of_rows(rows: slice) -> NDArray[np.float64]:
            """(D + 1,) by the weight and by the bias."""
            result = np.zeros(width + 1)
            filled = by_matrices.numpy(), result[:width]
            result[width] = backward(constant(width), *arrays, *filled, rows.start, rows.stop)
            return result

        summed = torch.from_numpy(threads.sum_over_rows(of_rows, matrices.shape[1])).float()
        return by_matrices, summed[:width, None], summed[width:]
