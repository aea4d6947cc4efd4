"""A network as a fit left it, on a graph: its logits with their gradient, and the answer that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcgnn.compute.device import resolve_device
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.consistency import aggregate
from lcgnn.graph import Graph
from lcgnn.methods.base import Method
from lcgnn.methods.blend import Blend
from lcgnn.methods.lc import AGREEMENT, TwoPhase
from lcgnn.methods.phases import nodes_on
from lcgnn.methods.self_training import SelfTraining
from lcgnn.methods.several import tensors_of_each
from lcgnn.networks.network import Network


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A trained network on the graph that it was fitted to, or on another with the same features.

    Args:
        method: What it was trained by.
        network: With the fitted parameters.
        graph: Where the rows live.
        class_agreement: (C, C) of the nodes that it was fitted to.
    """

    method: TwoPhase
    network: Network
    graph: GraphTensors
    class_agreement: Tensor

    @property
    def aggregates(self) -> bool:
        """Whether the answer is an average by agreement: not where a guard has left label consistency out."""
        identity = torch.eye(self.class_agreement.shape[0], device=self.class_agreement.device)
        return self.method.aggregation == "consistency" and not torch.equal(self.class_agreement, identity)

    def logits(self) -> Tensor:
        """(N, C) without dropout, with the gradient by the network's parameters."""
        with torch.enable_grad():
            found: Tensor = self.network(self.graph)
        return found

    def answer(self, logits: Tensor) -> Tensor:
        """(N, C) the label distribution that is made of logits, with its gradient."""
        if self.method.aggregation == "adjacency":
            nobody = nodes_on(self.graph, np.empty(0, dtype=np.int64))
            return self.method.phases(self.graph, nobody)[-1][1].distribution(logits)
        return self.answer_by_rows(logits)

    def answer_by_rows(self, logits: Tensor) -> Tensor:
        """The same (n, C) of any rows of logits, each by itself: what is averaged over the edges is not."""
        distribution = torch.softmax(logits, dim=1)
        agreement = self.class_agreement.to(logits.device)
        return aggregate(distribution, agreement) if self.aggregates else distribution


def fitted_networks(
    method: Method, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto"
) -> tuple[FittedNetwork, ...]:
    """The networks of a fit, several where it is the mean of several models or methods; none of a method without.

    Args:
        method: What was fitted.
        fitted: ``Fit.tensors`` of it.
        graph: With the features that it was fitted to.
        device: A torch device or "auto".
    """
    if isinstance(method, Blend):
        each_of = zip(method.methods.values(), tensors_of_each(len(method.methods), fitted), strict=True)
        found = [fitted_networks(member, own, graph, device) for member, own in each_of]
        # An answer that is in part none of a network's is not explained by the others' networks.
        return tuple(network for of_one in found for network in of_one) if all(found) else ()
    if isinstance(method, SelfTraining):
        return fitted_networks(method.learner, fitted, graph, device)
    if not isinstance(method, TwoPhase):
        return ()
    tensors = GraphTensors(graph, resolve_device(device))
    each = [dict(fitted)] if method.models == 1 else tensors_of_each(method.models, fitted)
    return tuple(_fitted(method, own, tensors) for own in each)


def _fitted(method: TwoPhase, own: dict[str, Tensor], tensors: GraphTensors) -> FittedNetwork:
    class_agreement = own.pop(AGREEMENT).to(tensors.device)
    network = method.network(tensors.num_features, class_agreement.shape[0], torch.Generator())
    network.load(own)
    return FittedNetwork(method, network.to(tensors.device), tensors, class_agreement)
