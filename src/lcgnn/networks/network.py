"""What a trainable network looks like to the training loop."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.errors import DataError


@dataclass(frozen=True, eq=False)
class TrainingOutput:
    """What a training pass gives.

    Args:
        logits: (N, C).
        further_logits: More answers (N, C), which are trained for the same as the logits but not reported.
        extra_loss: A scalar of the network's own that is added to the objective's loss, with the objective's
            ``extra_weight``.
        share: What the objective's loss of each answer counts: 1 adds them up, 1 / their number takes the mean.
    """

    logits: Tensor
    further_logits: tuple[Tensor, ...] = ()
    extra_loss: Tensor | None = None
    share: float = 1.0

    @property
    def answers(self) -> tuple[Tensor, ...]:
        """All logits."""
        return (self.logits, *self.further_logits)


class Network(nn.Module, ABC):
    """A graph in, logits (N, C) out, in two steps so that training and validation can share the first.

    Randomness comes in only through ``key``: the same key gives the same dropout masks, None gives none. Dropout
    comes from the graph (``graph.dropout``), which knows the rows' numbers wherever they live.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole"})
    """Where the rows may live that the network is trained on. Whoever names "reached" promises that a node's
    logits depend on nodes at most ``reach`` edges away, and that the last of two layers goes by the graph's
    ``output_adjacency`` or ``output_neighbourhood``: then a phase may compute only what it reads."""

    reach: ClassVar[int] = 2
    """Over how many edges a node is heard at most, of a network that runs on what some nodes reach."""

    @property
    def placements(self) -> frozenset[Kind]:
        """The same with the network's settings taken into account."""
        return self.runs_on

    @property
    def kept_of_a_node(self) -> int:
        """How many numbers a training pass keeps of every node for the gradient, at least: the widest layer."""
        return max((weight.shape[-1] for weight in self.parameters() if weight.ndim > 1), default=0)

    def prepare(self, graph: Placement, seed: int) -> None:
        """Measure what the network has to know of the graph that it will be trained on; mostly nothing."""

    def embed(self, graph: Placement) -> Tensor | None:  # noqa: ARG002
        """The part of the forward pass without any dropout; None if there is none worth sharing."""
        return None

    @abstractmethod
    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        """Logits (N, C) from what ``embed`` returned."""

    def train_pass(self, graph: Placement, embedding: Tensor | None, key: int) -> TrainingOutput:
        """What is trained: the logits, and for a network with a loss of its own what else there is."""
        return TrainingOutput(self.readout(graph, embedding, key))

    def forward(self, graph: Placement, key: int | None = None) -> Tensor:
        """Logits (N, C); with a key for training, without one for prediction."""
        if isinstance(graph, PartwiseTensors):
            passes = self.passes_in_turn(graph)
            return passes.validate() if key is None else passes.train(key).logits
        return self.readout(graph, self.embed(graph), key)

    def passes(self, graph: Placement) -> Passes:
        """How an epoch runs through this network; a network may have a faster way than autograd."""
        return self.passes_in_turn(graph) if isinstance(graph, PartwiseTensors) else Passes(self, graph)

    def passes_in_turn(self, graph: PartwiseTensors) -> Passes:
        """How an epoch runs through a graph whose parts are in memory in turn, for networks that say they can."""
        raise graph.refused(f"What a {type(self).__name__} reads")

    def state(self) -> dict[str, Tensor]:
        """What is learnt, by name and over the network's own memory: parameters, and buffers that are kept."""
        learnt: dict[str, Tensor] = dict(self.named_parameters())
        for name, value in self.state_dict(keep_vars=True).items():
            if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
                learnt[name] = value
        return {name: value.detach() for name, value in learnt.items()}

    def fits(self, state: Mapping[str, Tensor]) -> bool:
        """Whether a state is one of a network of this form."""
        own = self.state()
        return own.keys() == state.keys() and all(value.shape == state[name].shape for name, value in own.items())

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take over what ``state`` gave before; DataError if it is not of a network of this form."""
        if not self.fits(state):
            raise DataError("The parameters do not fit the method's settings and the number of features.")
        for name, value in self.state().items():
            value.copy_(state[name])

    @contextmanager
    def holding(self, state: Mapping[str, Tensor]) -> Iterator[None]:
        """Hold another state for a while, and afterwards the one that it has."""
        before = {name: value.clone() for name, value in self.state().items()}
        self.load(state)
        try:
            yield
        finally:
            self.load(before)


class Passes:
    """An epoch's passes through a network: what is shared, then validation, then training and its gradient.

    Args:
        network: The network.
        graph: What it runs on.
    """

    def __init__(self, network: Network, graph: Placement) -> None:
        self.network, self.graph = network, graph
        self.embedding: Tensor | None = None
        self.output: TrainingOutput | None = None

    def begin(self) -> None:
        """Compute what validation and training share, with the parameters as they are now."""
        self.embedding = self.network.embed(self.graph)

    @torch.no_grad()
    def validate(self) -> Tensor:
        """Logits (N, C) without dropout."""
        embedding = None if self.embedding is None else self.embedding.detach()
        return self.network.readout(self.graph, embedding, None)

    def train(self, key: int) -> TrainingOutput:
        """Logits (N, C) with dropout, and what else is trained; none of it is part of autograd's graph."""
        self.output = self.network.train_pass(self.graph, self.embedding, key)
        extra = self.output.extra_loss
        answers = [logits.detach() for logits in self.output.answers]
        return TrainingOutput(
            answers[0], tuple(answers[1:]), None if extra is None else extra.detach(), self.output.share
        )

    def backward(self, gradient: Tensor, *further: Tensor) -> None:
        """Set every parameter's gradient.

        Args:
            gradient: (N, C) by the last training logits.
            further: By the further logits, and by the extra loss, if there were such.
        """
        assert self.output is not None
        extra = () if self.output.extra_loss is None else (self.output.extra_loss,)
        torch.autograd.backward((*self.output.answers, *extra), (gradient, *further))


def glorot(*shape: int, generator: torch.Generator) -> nn.Parameter:
    """Glorot and Bengio's uniform initialisation over the last two dimensions."""
    return uniform(*shape, bound=math.sqrt(6.0 / (shape[-2] + shape[-1])), generator=generator)


def uniform(*shape: int, bound: float, generator: torch.Generator) -> nn.Parameter:
    """Weights drawn evenly from -bound to bound."""
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound, generator=generator))
