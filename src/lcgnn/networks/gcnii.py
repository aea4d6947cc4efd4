"""GCNII: the deep graph convolutional network of Chen, Wei, Huang, Ding and Li (2020)."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.dense import plus_bias
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.sparse import dropped_product
from lcgnn.networks.gcnii_passes import GCNIIPasses
from lcgnn.networks.network import Network, Passes, glorot, uniform
from lcgnn.networks.propagation import blended


class GCNII(Network):
    r"""L convolutions :math:`H_l = \mathrm{ReLU}(P_l ((1 - \beta_l) I + \beta_l W_l))` between two dense layers.

    :math:`P_l = (1 - \alpha) \hat A H_{l-1} + \alpha H_0` keeps a share of the first layer
    :math:`H_0 = \mathrm{ReLU}(X W_0 + b_0)`, and :math:`\beta_l = \log(\lambda / l + 1)` lets a weight matter the
    less the deeper it is. A convolution equals PyTorch Geometric's ``GCN2Conv`` with shared weights.

    Dropout of the same rate acts on the features, before every convolution and before the last layer.

    Args:
        num_features: F.
        num_classes: C.
        layers: L.
        hidden: Width of every layer.
        dropout: Rate of dropout everywhere.
        teleport: The share of the first layer, the paper's alpha.
        strength: How much the weights matter, the paper's lambda.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "on ranks"})

    no_bias: Tensor

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        layers: int = 8,
        hidden: int = 64,
        dropout: float = 0.5,
        teleport: float = 0.1,
        strength: float = 0.5,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout, self.teleport = dropout, teleport
        self.strengths = [math.log(strength / layer + 1) for layer in range(1, layers + 1)]
        self.weight_0 = glorot(num_features, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(hidden))
        self.convolutions = uniform(layers, hidden, hidden, bound=1 / math.sqrt(hidden), generator=generator)
        self.weight_1 = glorot(hidden, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))
        self.register_buffer("no_bias", torch.zeros(hidden), persistent=False)

    @property
    def kept_of_a_node(self) -> int:
        layers, hidden, _ = self.convolutions.shape
        return int(layers * hidden)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        dropout = partial(graph.dropout, self.dropout, key)
        projected = dropped_product(graph.features, self.weight_0, dropout("input"))
        first = current = activate(projected, self.bias_0)
        for layer, (weight, strength) in enumerate(zip(self.convolutions, self.strengths, strict=True)):
            # What comes in is a ReLU's input, or after one: the activation is the same.
            dropped = activate(current, self.no_bias, "relu", dropout(f"layer {layer}"))
            support = blended(graph.adjacency, dropped, 1 - self.teleport, first, self.teleport)
            current = torch.addmm(support, support, weight, beta=1 - strength, alpha=strength)
        answers = hidden_layer(current, self.no_bias, self.weight_1, "relu", dropout("output"))
        return plus_bias(answers, self.bias_1)

    def passes(self, graph: Placement) -> Passes:
        here = graph.kind != "in turn" and fused(self.weight_0)
        return GCNIIPasses(self, graph) if here else super().passes(graph)
