"""A hidden layer and the projection after it as one operation of autograd."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import activation
from lcgnn.compute.kernels.dense import column_sums, product, tall_product, transposed_product
from lcgnn.compute.kernels.dropout import Dropout


class HiddenLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor, weight: Tensor, elu: bool, dropout: Dropout) -> Tensor:
        hidden = torch.empty(x.shape)
        activation.forward(x.contiguous().numpy(), bias.numpy(), elu, dropout, hidden.numpy())
        ctx.save_for_backward(hidden, weight)
        ctx.elu, ctx.dropout = elu, dropout
        return tall_product(hidden, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        hidden, weight = ctx.saved_tensors
        grad_hidden = product(grad_output, weight.T)
        grad_x = torch.empty_like(hidden)
        activation.backward(hidden.numpy(), grad_hidden.numpy(), ctx.elu, ctx.dropout, grad_x.numpy())
        return grad_x, column_sums(grad_x), transposed_product(hidden, grad_output), None, None
