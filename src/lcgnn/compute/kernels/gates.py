"""Sums of matrices whose every row has a gate of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import fused
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
        forward(constant(matrices.shape[2]), *arrays, gates.numpy(), result.numpy())
        ctx.save_for_backward(matrices, weight, gates)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        from lcgnn.compute.kernels.compiled.gates import backward

        matrices, weight, gates = ctx.saved_tensors
        by_matrices, by_weight = torch.empty_like(matrices), np.zeros(weight.shape[0])
        arrays = (matrices.numpy(), weight.view(-1).numpy(), gates.numpy(), grad_output.contiguous().numpy())
        by_bias = backward(constant(weight.shape[0]), *arrays, by_matrices.numpy(), by_weight)
        return by_matrices, torch.from_numpy(by_weight[:, None]).float(), torch.tensor([by_bias]).float()
