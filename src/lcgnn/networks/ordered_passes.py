"""An epoch whose network sees the nodes in an order of its own, and nobody else does."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from lcgnn.compute.placement.ordered import OrderedTensors
from lcgnn.networks.network import Network, Passes, TrainingOutput


class OrderedPasses(Passes):
    """Logits and gradients in the graph's order, of passes that go by another.

    Args:
        network: One that asks the graph for its rows' numbers, as on ranks.
        graph: The graph in that order.
    """

    def __init__(self, network: Network, graph: OrderedTensors) -> None:
        super().__init__(network, graph)
        self._order, self._places = graph.order, graph.places
        self._passes = network.passes(graph)
        self._answers = 1

    def begin(self) -> None:
        self._passes.begin()

    def validate(self) -> Tensor:
        return self._passes.validate().index_select(0, self._places)

    def train(self, key: int) -> TrainingOutput:
        output = self._passes.train(key)
        self._answers = len(output.answers)
        logits, *further = (answer.index_select(0, self._places) for answer in output.answers)
        return replace(output, logits=logits, further_logits=tuple(further))

    def backward(self, gradient: Tensor, *further: Tensor) -> None:
        given = (gradient, *further)
        ordered = (by_answer.index_select(0, self._order) for by_answer in given[: self._answers])
        self._passes.backward(*ordered, *given[self._answers :])
