"""Predict then propagate: the network of Klicpera, Bojchevski and Guennemann (2019)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.networks.mlp import MLP
from lcgnn.networks.propagation import Smoothing, smoothed


class APPNP(MLP):
    r"""Logits :math:`\Pi\, (\mathrm{ReLU}(X W_0 + b_0)\, W_1 + b_1)`: a perceptron, averaged over the graph.

    :math:`\Pi` is personalised PageRank after K steps. It acts on C columns, whatever the number of features.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of the hidden layer.
        dropout: Rate on the hidden layer.
        input_dropout: Rate on the features; at 0 training and validation share the first product.
        steps: K.
        teleport: The share of a node's own answer in every step, the paper's alpha.
        smoothing: Personalised PageRank, the mean of the powers (SSGC) or the last power (SGC).
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "on ranks"})

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int = 64,
        dropout: float = 0.5,
        input_dropout: float = 0.5,
        steps: int = 10,
        teleport: float = 0.1,
        smoothing: Smoothing = "personalized",
        generator: torch.Generator,
    ) -> None:
        super().__init__(
            num_features,
            num_classes,
            hidden=hidden,
            dropout=dropout,
            input_dropout=input_dropout,
            generator=generator,
        )
        self.steps, self.teleport, self.smoothing = steps, teleport, smoothing

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        answers = super().readout(graph, embedding, key)
        return smoothed(graph.adjacency, answers, self.smoothing, self.steps, self.teleport)
