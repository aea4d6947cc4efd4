"""What a trainable network looks like to the training loop."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.sparse import GraphTensors
from lcgnn.errors import ConfigError


class Network(nn.Module, ABC):
    """A graph in, logits (N, C) out, in two steps so that training and validation can share the first.

    Randomness comes in only through ``key``: the same key gives the same dropout masks, None gives none.
    """

    two_layers: ClassVar[bool] = False
    """Whether a node's logits depend on nodes at most two edges away, and the last of the two layers goes by the
    graph's ``output_adjacency`` or ``output_neighbourhood``: then a phase may compute only what it reads."""

    def embed(self, graph: GraphTensors) -> Tensor | None:  # noqa: ARG002
        """The part of the forward pass without any dropout; None if there is none worth sharing."""
        return None

    @abstractmethod
    def readout(self, graph: GraphTensors, embedding: Tensor | None, key: int | None) -> Tensor:
        """Logits (N, C) from what ``embed`` returned."""

    def forward(self, graph: GraphTensors, key: int | None = None) -> Tensor:
        """Logits (N, C); with a key for training, without one for prediction."""
        return self.readout(graph, self.embed(graph), key)

    def passes(self, graph: GraphTensors) -> Passes:
        """How an epoch runs through this network; a network may have a faster way than autograd."""
        if isinstance(graph, PartwiseTensors):
            raise ConfigError(f"A {type(self).__name__} needs the whole graph at once. Train it without parts.")
        return Passes(self, graph)


class Passes:
    """An epoch's passes through a network: what is shared, then validation, then training and its gradient.

    Args:
        network: The network.
        graph: What it runs on.
    """

    def __init__(self, network: Network, graph: GraphTensors) -> None:
        self.network, self.graph = network, graph
        self.embedding: Tensor | None = None
        self.logits: Tensor | None = None

    def begin(self) -> None:
        """Compute what validation and training share, with the parameters as they are now."""
        self.embedding = self.network.embed(self.graph)

    @torch.no_grad()
    def validate(self) -> Tensor:
        """Logits (N, C) without dropout."""
        embedding = None if self.embedding is None else self.embedding.detach()
        return self.network.readout(self.graph, embedding, None)

    def train(self, key: int) -> Tensor:
        """Logits (N, C) with dropout."""
        self.logits = self.network.readout(self.graph, self.embedding, key)
        return self.logits.detach()

    def backward(self, gradient: Tensor) -> None:
        """Set every parameter's gradient, given the gradient (N, C) of the last training logits."""
        assert self.logits is not None
        self.logits.backward(gradient)  # type: ignore[no-untyped-call]


def glorot(*shape: int, generator: torch.Generator) -> nn.Parameter:
    """Glorot and Bengio's uniform initialisation over the last two dimensions."""
    bound = math.sqrt(6.0 / (shape[-2] + shape[-1]))
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound, generator=generator))
