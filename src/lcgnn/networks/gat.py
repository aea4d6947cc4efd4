"""The two-layer graph attention network of Velickovic et al. (2018)."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels.attention import attend
from lcgnn.compute.kernels.dense import plus_bias
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.sparse import dropped_product
from lcgnn.networks.network import Network, glorot


class GAT(Network):
    """Eight attention heads side by side, ELU, then one output head or the mean of several.

    Dropout of the same rate acts on the input, the hidden layer and the attention coefficients of both layers.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of each head of the first layer.
        heads: Heads of the first layer.
        output_heads: Heads of the second layer, which are averaged.
        dropout: Rate of dropout everywhere.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "reached", "on ranks"})

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int = 8,
        heads: int = 8,
        output_heads: int = 1,
        dropout: float = 0.6,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.output_heads = output_heads
        self.weight_0 = glorot(num_features, heads * hidden, generator=generator)
        self.source_0 = glorot(heads, hidden, generator=generator)
        self.target_0 = glorot(heads, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(heads * hidden))
        self.weight_1 = glorot(heads * hidden, output_heads * num_classes, generator=generator)
        self.source_1 = glorot(output_heads, num_classes, generator=generator)
        self.target_1 = glorot(output_heads, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        dropout = partial(graph.dropout, self.dropout, key)
        projected = dropped_product(graph.features, self.weight_0, dropout("input"))
        attended = attend(projected, self.source_0, self.target_0, graph.neighbourhood, dropout("attention 0"))
        hidden = hidden_layer(attended, self.bias_0, self.weight_1, "elu", dropout("hidden"))
        output = attend(hidden, self.source_1, self.target_1, graph.output_neighbourhood, dropout("attention 1"))
        if self.output_heads > 1:
            output = output.view(graph.num_nodes, self.output_heads, -1).mean(dim=1)
        return plus_bias(output, self.bias_1)
