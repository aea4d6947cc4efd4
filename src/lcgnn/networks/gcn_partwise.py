"""GCN's epoch on a graph whose parts are in memory one after the other: the same logits and the same gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.placement.disk import disk_tensor
from lcgnn.compute.placement.in_turn import GraphPart, PartwiseTensors
from lcgnn.mapping import let_go
from lcgnn.networks.network import Passes, TrainingOutput

if TYPE_CHECKING:
    from lcgnn.networks.gcn import GCN


class GCNPartwisePasses(Passes):
    r"""Every part's hidden layer is computed again wherever it is needed; nothing of it is kept.

    A forward pass goes through the parts twice: for :math:`H W_1` of all nodes, and for :math:`\hat A` times it.
    The backward pass goes once: the gradient of a part's rows of :math:`H W_1` is, by symmetry, the product of its
    rows of :math:`\hat A` with the logits' gradient, and from there on a part needs no other.

    Args:
        network: A GCN without dropout on its input.
        graph: In parts.
    """

    def __init__(self, network: GCN, graph: PartwiseTensors) -> None:
        super().__init__(network, graph)
        self.gcn, self.parts, self.propagated = network, graph.parts, graph.propagated
        shape = graph.num_nodes, network.weight_1.shape[1]
        self.projected, self.on_disk = disk_tensor(*shape), disk_tensor(*shape)
        self.dropout = NO_DROPOUT

    def begin(self) -> None:
        """Nothing is shared."""

    def validate(self) -> Tensor:
        return self._logits(NO_DROPOUT)

    def train(self, key: int) -> TrainingOutput:
        self.dropout = self.graph.dropout(self.gcn.dropout, key)
        return TrainingOutput(self._logits(self.dropout))

    @torch.no_grad()
    def _logits(self, dropout: Dropout) -> Tensor:
        for part in self.parts:
            self.projected[part.nodes] = self._projected(part, dropout)
            let_go(self.propagated, self.projected)
        for part in self.parts:
            self.on_disk[part.nodes] = part.product(self.projected) + self.gcn.bias_1
            let_go(self.on_disk)
        let_go(self.projected)
        return self.on_disk

    def _projected(self, part: GraphPart, dropout: Dropout) -> Tensor:
        """The part's rows of the hidden layer times the second weight."""
        gcn = self.gcn
        embedding = self.propagated[part.nodes] @ gcn.weight_0
        return hidden_layer(embedding, gcn.bias_0, gcn.weight_1, "relu", part.dropout(dropout))

    def backward(self, gradient: Tensor, *further: Tensor) -> None:  # noqa: ARG002
        for part in self.parts:
            self._projected(part, self.dropout).backward(part.product(gradient))  # type: ignore[no-untyped-call]
            let_go(self.propagated)
        self.gcn.bias_1.grad = torch.stack([gradient[part.nodes].sum(dim=0) for part in self.parts]).sum(dim=0)
        let_go(gradient)
