"""A network of your own, registered from outside the package: it gets label consistency and all controls."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lcgnn import create, load
from lcgnn.assessment.evaluation import accuracy
from lcgnn.compute.placement.base import Placement
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.network import Network, glorot


class TwoHops(Network):
    """Logistic regression on features averaged over two hops."""

    def __init__(self, num_features: int, num_classes: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = glorot(num_features, num_classes, generator=generator)

    def readout(self, graph: Placement, _embedding: Tensor | None, _key: int | None) -> Tensor:
        return graph.adjacency @ (graph.adjacency @ (graph.features @ self.weight))


@register_network("two-hops", "TwoHops")
@dataclass(frozen=True)
class TwoHopsMethod(TwoPhase):
    """Settings are those of every two-phase method."""

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> Network:
        return TwoHops(num_features, num_classes, generator)


graph, split = load("cora")
fit = create("lc-two-hops", learning_rate=0.2, weight_decay=5e-6, epochs=200).fit(graph, split)
for stage in fit.stages:
    print(f"{stage.name}: {accuracy(stage.label_distribution, graph.labels, split.test):.1%}")
