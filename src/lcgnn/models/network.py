"""What a trainable network looks like to the training loop."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from lcgnn.sparse import GraphTensors


class Network(nn.Module, ABC):
    """A graph in, logits (N, C) out, in two steps so that training and validation can share the first.

    Randomness comes in only through ``key``: the same key gives the same dropout masks, None gives none.
    """

    def embed(self, graph: GraphTensors) -> Tensor | None:  # noqa: ARG002
        """The part of the forward pass without any dropout; None if there is none worth sharing."""
        return None

    @abstractmethod
    def readout(self, graph: GraphTensors, embedding: Tensor | None, key: int | None) -> Tensor:
        """Logits (N, C) from what ``embed`` returned."""

    def forward(self, graph: GraphTensors, key: int | None = None) -> Tensor:
        """Logits (N, C); with a key for training, without one for prediction."""
        return self.readout(graph, self.embed(graph), key)


def glorot(*shape: int, generator: torch.Generator) -> nn.Parameter:
    """Glorot and Bengio's uniform initialisation over the last two dimensions."""
    bound = math.sqrt(6.0 / (shape[-2] + shape[-1]))
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound, generator=generator))
