"""GCN's epoch with its gradient written out, for the CPU: the sparse products and little else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from lcgnn.compute.kernels import activation, dense, threads
from lcgnn.compute.kernels.backend import constant
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.networks.network import Passes, TrainingOutput

if TYPE_CHECKING:
    from lcgnn.networks.gcn import GCN


class GCNPasses(Passes):
    """The same numbers as autograd gives, without its bookkeeping.

    Dense features are multiplied by the adjacency once, A (X W) = (A X) W, and an epoch's first layer needs no
    sparse product at all.

    Args:
        network: A GCN without dropout on its input.
        graph: What it runs on.
    """

    def __init__(self, network: GCN, graph: Placement) -> None:
        super().__init__(network, graph)
        self.adjacency = graph.output_adjacency
        sparse = isinstance(graph.features, SparseMatrix)
        self.first_layer: _FirstLayer = _Convolution(graph) if sparse else _Propagated(graph)
        self.rate = network.dropout
        # Detached parameters, and their arrays, share their memory with the optimiser's.
        self.weight_0, self.weight_1 = network.weight_0.detach(), network.weight_1.detach()
        self.bias_0, self.bias_1 = network.bias_0.detach().numpy(), network.bias_1.detach().numpy()
        self.parameters = (network.weight_0, network.bias_0, network.weight_1, network.bias_1)
        self.hidden = torch.empty(graph.num_nodes, self.weight_0.shape[1])
        self.grad_embedding = torch.empty_like(self.hidden)
        self.project = dense.NarrowProduct(self.weight_1)
        self.projected = torch.empty(graph.num_nodes, self.project.padded.shape[1])
        self.classes = constant(self.weight_1.shape[1])
        self.dropout = NO_DROPOUT

    def begin(self) -> None:
        self.project.update()
        self.embedding = self.first_layer.product(self.weight_0)

    def validate(self) -> Tensor:
        return self._readout(NO_DROPOUT)

    def train(self, key: int) -> TrainingOutput:
        self.dropout = self.graph.dropout(self.rate, key)
        return TrainingOutput(self._readout(self.dropout))

    def _readout(self, dropout: Dropout) -> Tensor:
        assert self.embedding is not None
        embedding, hidden = self.embedding.numpy(), self.hidden.numpy()

        def of_rows(rows: slice) -> None:
            activation.forward(embedding[rows], self.bias_0, False, dropout.of_rows(rows), hidden[rows])
            self.project.write(self.hidden[rows], self.projected[rows])

        threads.for_rows(of_rows, self.graph.num_nodes)
        logits = self.adjacency.product(self.projected[:, : self.weight_1.shape[1]])
        dense.add_bias(self.classes, logits.numpy(), self.bias_1)
        return logits

    def backward(self, gradient: Tensor, *further: Tensor) -> None:  # noqa: ARG002
        grad_projected = self.adjacency.transposed_product(gradient)
        hidden, grad_embedding = self.hidden.numpy(), self.grad_embedding.numpy()
        width, classes = self.weight_1.shape

        def of_rows(rows: slice) -> Tensor:
            """(H C + H + C,) the rows' share of the gradients by the second weight and by both biases."""
            grad_hidden = grad_projected[rows] @ self.weight_1.T
            masks = self.dropout.of_rows(rows)
            activation.backward(hidden[rows], grad_hidden.numpy(), False, masks, grad_embedding[rows])
            by_weight = grad_projected[rows].T @ self.hidden[rows]
            sums = self.grad_embedding[rows].sum(dim=0), gradient[rows].sum(dim=0)
            return torch.cat([by_weight.view(-1), *sums])

        summed = threads.sum_over_rows(of_rows, self.graph.num_nodes)
        by_weight, by_bias_0, by_bias_1 = torch.split(summed, [classes * width, width, classes])
        gradients = (
            self.first_layer.gradient(self.grad_embedding),
            by_bias_0.clone(),
            by_weight.view(classes, width).T.contiguous(),
            by_bias_1.clone(),
        )
        for parameter, value in zip(self.parameters, gradients, strict=True):
            parameter.grad = value


class _FirstLayer(Protocol):
    """A X W, by whichever order of products is cheaper."""

    def product(self, weight: Tensor) -> Tensor: ...

    def gradient(self, grad_product: Tensor) -> Tensor:
        """By the weight."""


class _Convolution:
    """A (X W) for sparse features."""

    def __init__(self, graph: Placement) -> None:
        assert isinstance(graph.features, SparseMatrix)
        self.features, self.adjacency = graph.features, graph.adjacency

    def product(self, weight: Tensor) -> Tensor:
        return self.adjacency.product(self.features.product(weight))

    def gradient(self, grad_product: Tensor) -> Tensor:
        return self.features.transposed_product(self.adjacency.transposed_product(grad_product))


class _Propagated:
    """(A X) W for dense features, A X kept."""

    def __init__(self, graph: Placement) -> None:
        self.propagated = graph.propagated

    def product(self, weight: Tensor) -> Tensor:
        return dense.product(self.propagated, weight)

    def gradient(self, grad_product: Tensor) -> Tensor:
        return dense.transposed_product(self.propagated, grad_product)
