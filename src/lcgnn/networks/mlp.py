"""A two-layer perceptron: every node by its own features, without the edges."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels.dense import plus_bias
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.sparse import dropped_product
from lcgnn.networks.network import Network, glorot


class MLP(Network):
    r"""Logits :math:`\mathrm{ReLU}(X W_0 + b_0)\, W_1 + b_1`: a GCN on a graph without edges.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of the hidden layer.
        dropout: Rate on the hidden layer.
        input_dropout: Rate on the features; at 0 training and validation share the first product.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "reached", "on ranks"})
    reach: ClassVar[int] = 0

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int = 16,
        dropout: float = 0.5,
        input_dropout: float = 0.5,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.weight_0 = glorot(num_features, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(hidden))
        self.weight_1 = glorot(hidden, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))

    def embed(self, graph: Placement) -> Tensor | None:
        return None if self.input_dropout else self._projected(graph, NO_DROPOUT)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        if embedding is None:
            embedding = self._projected(graph, graph.dropout(self.input_dropout, key, "input"))
        dropout = graph.dropout(self.dropout, key, "hidden")
        return plus_bias(hidden_layer(embedding, self.bias_0, self.weight_1, "relu", dropout), self.bias_1)

    def _projected(self, graph: Placement, dropout: Dropout) -> Tensor:
        return dropped_product(graph.features, self.weight_0, dropout)
