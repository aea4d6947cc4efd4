"""A hidden layer and the projection after it as one operation: bias, activation, dropout and a dense product."""

from __future__ import annotations

from torch import Tensor

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.activation import Activation, activate
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout


def hidden_layer(
    x: Tensor, bias: Tensor, weight: Tensor, activation: Activation = "relu", dropout: Dropout = NO_DROPOUT
) -> Tensor:
    """``dropout(activation(x + bias)) @ weight`` for (N, D) inputs, a (D,) bias and a (D, K) weight."""
    if fused(x, bias, weight):
        from lcgnn.compute.kernels.compiled.hidden import HiddenLayer

        output: Tensor = HiddenLayer.apply(x, bias, weight, activation == "elu", dropout)  # type: ignore[no-untyped-call]
        return output
    return activate(x, bias, activation, dropout) @ weight
