"""The deep adaptive graph neural network of Liu, Gao and Ji (2020)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels.gates import gated_sum
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.networks.mlp import MLP
from lcgnn.networks.network import glorot
from lcgnn.networks.propagation import powers


class DAGNN(MLP):
    r"""Logits :math:`\sum_{k \le K} \sigma(H_k s + b) \odot H_k` with :math:`H_k = \hat A^k\, \mathrm{MLP}(X)`.

    Every node weighs what it gets from each distance by a gate of its own, of which s and b are learnt.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of the hidden layer.
        dropout: Rate on the features and on the hidden layer.
        steps: K.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "on ranks"})

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int = 64,
        dropout: float = 0.8,
        steps: int = 10,
        generator: torch.Generator,
    ) -> None:
        super().__init__(
            num_features, num_classes, hidden=hidden, dropout=dropout, input_dropout=dropout, generator=generator
        )
        self.steps = steps
        self.gate = glorot(num_classes, 1, generator=generator)
        self.gate_bias = nn.Parameter(torch.zeros(1))

    @property
    def kept_of_a_node(self) -> int:
        return super().kept_of_a_node + (self.steps + 1) * self.gate.shape[0]

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        answers = powers(graph.adjacency, super().readout(graph, embedding, key), self.steps)  # (K + 1, N, C)
        return gated_sum(answers, self.gate, self.gate_bias)
