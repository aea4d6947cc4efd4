"""The two-layer graph convolutional network of Kipf and Welling (2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lcgnn.kernels.activation import activate
from lcgnn.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.models.network import Network, glorot
from lcgnn.sparse import GraphTensors, dropped_product


class GCN(Network):
    r"""Logits :math:`\hat A\, \mathrm{ReLU}(\hat A X W_0 + b_0)\, W_1 + b_1` (equation 1, with biases).

    Dropout acts on the hidden layer only, as in the LC-GNN authors' code, so the hidden layer before dropout is
    the same in training and in validation.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of the hidden layer.
        dropout: Rate on the hidden layer.
        generator: Draws the initial weights.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int = 16,
        dropout: float = 0.5,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.weight_0 = glorot(num_features, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(hidden))
        self.weight_1 = glorot(hidden, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))

    def embed(self, graph: GraphTensors) -> Tensor:
        return graph.adjacency @ dropped_product(graph.features, self.weight_0, NO_DROPOUT)

    def readout(self, graph: GraphTensors, embedding: Tensor | None, key: int | None) -> Tensor:
        assert embedding is not None
        dropout = NO_DROPOUT if key is None else Dropout(self.dropout, key)
        hidden = activate(embedding, self.bias_0, "relu", dropout)
        return graph.adjacency @ (hidden @ self.weight_1) + self.bias_1
