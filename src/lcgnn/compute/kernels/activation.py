"""Bias, activation and dropout of a hidden layer in one pass."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout

Activation = Literal["relu", "elu"]


def activate(x: Tensor, bias: Tensor, activation: Activation = "relu", dropout: Dropout = NO_DROPOUT) -> Tensor:
    """``dropout(activation(x + bias))`` for (N, D) inputs and a (D,) bias."""
    if fused(x, bias):
        from lcgnn.compute.kernels.compiled.activation import Activate

        output: Tensor = Activate.apply(x, bias, activation == "elu", dropout)  # type: ignore[no-untyped-call]
        return output
    hidden: Tensor = getattr(torch.nn.functional, activation)(x + bias)
    return hidden * dropout.mask_like(hidden) if dropout.rate else hidden


def forward(*arguments: Any) -> None:
    """The compiled pass, for code that is itself an alternative where ``fused`` says so."""
    from lcgnn.compute.kernels.compiled import activation

    activation.forward(*arguments)


def backward(*arguments: Any) -> None:
    """The compiled pass of the gradient."""
    from lcgnn.compute.kernels.compiled import activation

    activation.backward(*arguments)
