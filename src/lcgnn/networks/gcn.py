"""The two-layer graph convolutional network of Kipf and Welling (2017)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.placement.base import EVERYWHERE, Kind, Placement
from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.sparse import dropped_product
from lcgnn.networks.gcn_partwise import GCNPartwisePasses
from lcgnn.networks.gcn_passes import GCNPasses
from lcgnn.networks.network import Network, Passes, glorot


class GCN(Network):
    r"""Logits :math:`\hat A\, \mathrm{ReLU}(\hat A X W_0 + b_0)\, W_1 + b_1` (equation 1, with biases).

    By default dropout acts on the hidden layer only, as in the LC-GNN authors' code, so the hidden layer before
    dropout is the same in training and in validation.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of the hidden layer.
        dropout: Rate on the hidden layer.
        input_dropout: Rate on the features; above 0 training and validation share nothing.
        bias: Whether the layers have biases; without, they are zero and not trained.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = EVERYWHERE

    bias_0: Tensor
    bias_1: Tensor

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int = 16,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        bias: bool = True,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.weight_0 = glorot(num_features, hidden, generator=generator)
        self._add_bias("bias_0", hidden, trained=bias)
        self.weight_1 = glorot(hidden, num_classes, generator=generator)
        self._add_bias("bias_1", num_classes, trained=bias)

    def _add_bias(self, name: str, width: int, *, trained: bool) -> None:
        if trained:
            self.register_parameter(name, nn.Parameter(torch.zeros(width)))
        else:
            self.register_buffer(name, torch.zeros(width), persistent=False)

    @property
    def placements(self) -> frozenset[Kind]:
        # What is kept of a graph in turn is the propagated features, and dropout on the input comes before that.
        return self.runs_on - {"in turn"} if self.input_dropout else self.runs_on

    def embed(self, graph: Placement) -> Tensor | None:
        return None if self.input_dropout else self._first_layer(graph, NO_DROPOUT)

    def _first_layer(self, graph: Placement, dropout: Dropout) -> Tensor:
        return graph.adjacency @ dropped_product(graph.features, self.weight_0, dropout)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        if embedding is None:
            embedding = self._first_layer(graph, graph.dropout(self.input_dropout, key, "input"))
        dropout = graph.dropout(self.dropout, key)
        projected = hidden_layer(embedding, self.bias_0, self.weight_1, "relu", dropout)
        return graph.output_adjacency.product_plus(projected, self.bias_1)

    def passes(self, graph: Placement) -> Passes:
        trained = all(bias.requires_grad for bias in (self.bias_0, self.bias_1))
        plain = graph.kind != "in turn" and not self.input_dropout and trained
        return GCNPasses(self, graph) if plain and fused(self.weight_0) else super().passes(graph)

    def passes_in_turn(self, graph: PartwiseTensors) -> Passes:
        return super().passes_in_turn(graph) if self.input_dropout else GCNPartwisePasses(self, graph)
