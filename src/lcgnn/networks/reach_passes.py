"""An epoch that computes only what training and validation look at, for networks of two layers at most."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from lcgnn.compute.placement.base import Placement
from lcgnn.compute.placement.reach import ReachTensors
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.networks.network import Network, Passes, TrainingOutput
from lcgnn.networks.ordered_passes import OrderedPasses

# Where training reaches more of the nodes than this, it is worth more that it shares a part with validation on the
# whole graph.
_LARGEST_SHARE = 2 / 3
# Finding a better order takes as long as some dozen epochs in it save.
_MANY_EPOCHS = 100


def quickest_passes(
    network: Network, graph: Placement, trained: Tensor | None, validated: Tensor | None, epochs: int
) -> Passes:
    """Passes over the whole graph, or over what reaches the nodes that are read, where that is less work.

    Over the whole graph they go in an order of their own, where that pays over so many epochs.

    Args:
        network: The network.
        graph: What it runs on.
        trained: (T,) the nodes whose logits the loss reads; None for all.
        validated: (V,) the nodes whose logits validation reads, which may be none; None for all.
        epochs: How often.
    """
    narrows = graph.holds_all and "reached" in network.placements
    if narrows and trained is not None and validated is not None:
        passes = ReachPasses(network, graph, trained, validated)
        if passes.share <= _LARGEST_SHARE:
            return passes
    # Whoever runs on ranks asks for the rows' numbers.
    pays = epochs >= _MANY_EPOCHS and "on ranks" in network.placements
    ordered = graph.ordered if pays and isinstance(graph, GraphTensors) else None
    return network.passes(graph) if ordered is None else OrderedPasses(network, ordered)


class ReachPasses(Passes):
    """Logits that are right at the nodes that are read, and zero or outdated elsewhere.

    Training and validation each run on what reaches their own nodes, and share nothing.

    Args:
        network: One that runs on what a few nodes reach.
        graph: The whole graph.
        trained: (T,) the nodes whose logits the loss reads.
        validated: (V,) the nodes whose logits validation reads.
    """

    def __init__(self, network: Network, graph: Placement, trained: Tensor, validated: Tensor) -> None:
        super().__init__(network, graph)
        self._training = _Reached(network, graph, trained)
        self._validation = _Reached(network, graph, validated, backward=False)

    @property
    def share(self) -> float:
        """How much of the graph training reaches."""
        return self._training.graph.num_nodes / self.graph.num_nodes

    def begin(self) -> None:
        """Nothing is shared."""

    def validate(self) -> Tensor:
        passes = self._validation.passes
        passes.begin()
        return self._validation.spread(passes.validate())

    def train(self, key: int) -> TrainingOutput:
        passes = self._training.passes
        passes.begin()
        return TrainingOutput(self._training.spread(passes.train(key).logits))

    def backward(self, gradient: Tensor, *further: Tensor) -> None:  # noqa: ARG002
        self._training.passes.backward(self._training.gather(gradient))


class _Reached:
    """Passes over what reaches some nodes, with logits and gradients of the whole graph's shape."""

    def __init__(self, network: Network, whole: Placement, nodes: Tensor, *, backward: bool = True) -> None:
        self.network, self.whole = network, whole
        self.targets = torch.unique(nodes)
        self.graph = ReachTensors(whole, self.targets.cpu().numpy(), network.reach, backward=backward)

    # Made on first use: whether they are used depends on how large the graph here is.
    @cached_property
    def passes(self) -> Passes:
        return self.network.passes(self.graph)

    @cached_property
    def logits(self) -> Tensor:
        return torch.zeros(self.whole.num_nodes, self.whole.num_classes, device=self.whole.device)

    @cached_property
    def gradient(self) -> Tensor:
        return torch.zeros(self.graph.num_nodes, self.whole.num_classes, device=self.whole.device)

    def spread(self, logits: Tensor) -> Tensor:
        """(N, C) the targets' logits where they are in the whole graph."""
        return self.logits.index_copy_(0, self.targets, logits.index_select(0, self.graph.target_rows))

    def gather(self, gradient: Tensor) -> Tensor:
        """The gradient of the logits here, given the one (N, C) of the whole graph's."""
        return self.gradient.index_copy_(0, self.graph.target_rows, gradient.index_select(0, self.targets))
