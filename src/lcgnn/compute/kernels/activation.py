"""Bias, activation and dropout of a hidden layer in one pass."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels import fused, threads
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout

Activation = Literal["relu", "elu"]
Floats = NDArray[np.float32]


def activate(x: Tensor, bias: Tensor, activation: Activation = "relu", dropout: Dropout = NO_DROPOUT) -> Tensor:
    """``dropout(activation(x + bias))`` for (N, D) inputs and a (D,) bias."""
    if fused(x, bias):
        from lcgnn.compute.kernels.compiled.activation import Activate

        output: Tensor = Activate.apply(x, bias, activation == "elu", dropout)  # type: ignore[no-untyped-call]
        return output
    hidden: Tensor = getattr(torch.nn.functional, activation)(x + bias)
    return hidden * dropout.mask_like(hidden) if dropout.rate else hidden


def forward(x: Floats, bias: Floats, elu: bool, dropout: Dropout, output: Floats) -> None:
    """The compiled pass, for code that is itself an alternative where ``fused`` says so."""
    from lcgnn.compute.kernels.compiled import activation

    def of_rows(rows: slice) -> None:
        activation.forward(x[rows], bias, elu, *dropout.arguments(), dropout.numbers_of(rows), output[rows])

    threads.for_rows(of_rows, x.shape[0])


def backward(output: Floats, grad_output: Floats, elu: bool, dropout: Dropout, grad_x: Floats) -> None:
    """The compiled pass of the gradient."""
    from lcgnn.compute.kernels.compiled import activation

    def of_rows(rows: slice) -> None:
        given = output[rows], grad_output[rows], elu
        activation.backward(*given, *dropout.arguments(), dropout.numbers_of(rows), grad_x[rows])

    threads.for_rows(of_rows, output.shape[0])
