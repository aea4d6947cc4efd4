"""The simple graph convolution of Wu et al. (2019): propagate first, then a linear layer on every row."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels import dense
from lcgnn.compute.kernels.dense import plus_bias
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.networks.forms import kept_with_graph
from lcgnn.networks.network import Network, glorot


class SGC(Network):
    r"""Logits :math:`\hat A^K X W + b`: a GCN of K layers without what is not linear in it.

    Dense features are propagated once and for all, so that an epoch touches no edge. Sparse ones, which would not
    stay sparse, are projected first: :math:`\hat A^K (X W)`.

    Args:
        num_features: F.
        num_classes: C.
        steps: K, how often features are averaged over neighbours.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "on ranks"})

    def __init__(self, num_features: int, num_classes: int, *, steps: int = 2, generator: torch.Generator) -> None:
        super().__init__()
        self.steps = steps
        self.weight = glorot(num_features, num_classes, generator=generator)
        self.bias = nn.Parameter(torch.zeros(num_classes))

    def embed(self, graph: Placement) -> Tensor:
        """The logits, which have no dropout before them."""
        features = graph.features
        if isinstance(features, SparseMatrix):
            projected = features @ self.weight
            for _ in range(self.steps):
                projected = graph.adjacency @ projected
            return plus_bias(projected, self.bias)
        return plus_bias(dense.projected(_propagations(graph).of(graph, self.steps), self.weight), self.bias)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        assert embedding is not None
        return embedding


class _Propagations:
    """A graph's dense features after every number of steps that was asked for."""

    def __init__(self) -> None:
        self._by_steps: dict[int, Tensor] = {}

    def of(self, graph: Placement, steps: int) -> Tensor:
        if steps not in self._by_steps:
            assert isinstance(graph.features, Tensor)
            propagated = graph.features
            for _ in range(steps):
                propagated = graph.adjacency.product(propagated)
            self._by_steps[steps] = propagated
        return self._by_steps[steps]


@kept_with_graph
def _propagations(graph: Placement) -> _Propagations:  # noqa: ARG001
    return _Propagations()
