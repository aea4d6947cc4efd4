"""The two-layer mixture model network of Monti et al. (2017)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from torch import Tensor, nn

from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.csr import csr_tensor
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import dropped_product
from lcgnn.networks.forms import kept_with_graph
from lcgnn.networks.network import Network, glorot

COORDINATES = 2
_EPS = 1e-15  # PyTorch Geometric's, so that a kernel of width zero divides nothing by zero.


class MoNet(Network):
    r"""Two layers of Gaussian kernels over the degrees of neighbouring nodes, with a ReLU between them.

    A pair of neighbours has the pseudo-coordinates :math:`u_{ij} = \tanh(A (d_i^{-1/2}, d_j^{-1/2}) + c)`, where a
    node is its own neighbour and counts in its degree d, and a layer with K kernels gives

    .. math::
        out_i = \frac{1}{d_i} \sum_{j \in N(i)} \sum_k w_k(u_{ij})\, x_j G_k + b, \quad
        w_k(u) = \exp\Big(-\tfrac12 \sum_d (u_d - \mu_{kd})^2 / \sigma_{kd}^2\Big)

    It equals PyTorch Geometric's ``GMMConv(root_weight=False)`` with the same weights and edges.
    Dropout of the same rate acts on the features and on the hidden layer.

    Args:
        num_features: F.
        num_classes: C.
        kernels: K, the number of Gaussian kernels.
        hidden: Width of the hidden layer.
        dropout: Rate on features and hidden layer.
        generator: Draws the initial weights.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        kernels: int = 3,
        hidden: int = 32,
        dropout: float = 0.8,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.layer_0 = GaussianMixture(num_features, hidden, kernels, generator)
        self.layer_1 = GaussianMixture(hidden, num_classes, kernels, generator)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        neighbours = degree_pairs(graph)
        products = dropped_product(graph.features, self.layer_0.weight, graph.dropout(self.dropout, key, "input"))
        dropout = graph.dropout(self.dropout, key, "hidden")
        hidden = activate(self.layer_0(products, neighbours), self.layer_0.bias, "relu", dropout)
        output: Tensor = self.layer_1(hidden @ self.layer_1.weight, neighbours)
        return output + self.layer_1.bias


class GaussianMixture(nn.Module):
    """One layer, from the products of its input with ``weight`` onwards.

    Args:
        inputs: Width of the input.
        outputs: Width of the output.
        kernels: K.
        generator: Draws the initial weights.
    """

    def __init__(self, inputs: int, outputs: int, kernels: int, generator: torch.Generator) -> None:
        super().__init__()
        self.kernels = kernels
        self.weight = glorot(inputs, kernels * outputs, generator=generator)
        self.projection = glorot(COORDINATES, COORDINATES, generator=generator)
        self.shift = nn.Parameter(torch.zeros(COORDINATES))
        self.mean = nn.Parameter(torch.empty(kernels, COORDINATES).normal_(0.0, 0.1, generator=generator))
        self.width = nn.Parameter(torch.ones(kernels, COORDINATES))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, products: Tensor, neighbours: DegreePairs) -> Tensor:
        """(N, D) from the input's products (N, K * D), the bias not yet added."""
        weights = self.kernel_weights(neighbours.coordinates).index_select(0, neighbours.kind)  # (P, K)
        pattern = neighbours.pattern(self.kernels)
        terms = products.reshape(-1, products.shape[1] // self.kernels)  # (N * K, D)
        output: Tensor = _KernelSum.apply(weights.reshape(-1), terms, pattern)  # type: ignore[no-untyped-call]
        return output / neighbours.degree

    def kernel_weights(self, coordinates: Tensor) -> Tensor:
        """(U, K): what every kernel says of U pairs' inverse square roots of degrees (U, 2)."""
        pseudo = torch.tanh(coordinates @ self.projection + self.shift)  # (U, 2)
        distance = (pseudo[:, None] - self.mean).square() / (_EPS + self.width.square())  # (U, K, 2)
        return torch.exp(-0.5 * distance.sum(dim=2))


@dataclass(frozen=True, eq=False)
class KernelPattern:
    """Where the pairs' weights of K kernels stand in a sparse matrix (N, N * K) and in its transpose.

    Args:
        offsets: (N + 1,) where a node's entries begin; entries are pairs in order, their kernels side by side.
        columns: (P * K,) neighbour times K plus kernel.
        transposed_offsets: (N * K + 1,).
        transposed_columns: (P * K,) nodes.
        transposition: (P * K,) which entry stands at each place of the transpose.
    """

    offsets: Tensor
    columns: Tensor
    transposed_offsets: Tensor
    transposed_columns: Tensor
    transposition: Tensor

    def matrix(self, weights: Tensor) -> Tensor:
        """(N, N * K)."""
        shape = (self.offsets.shape[0] - 1, self.transposed_offsets.shape[0] - 1)
        return csr_tensor(self.offsets, self.columns, weights, shape)

    def transpose(self, weights: Tensor) -> Tensor:
        """(N * K, N)."""
        shape = (self.transposed_offsets.shape[0] - 1, self.offsets.shape[0] - 1)
        return csr_tensor(self.transposed_offsets, self.transposed_columns, weights[self.transposition], shape)


@dataclass(frozen=True, eq=False)
class DegreePairs:
    """Every node's neighbours and itself, and the degrees on both sides, of which few pairs are different.

    Args:
        adjacency: (N, N) with self-loops; its values do not matter.
        degree: (N, 1) entries of each row.
        coordinates: (U, 2) inverse square roots of the degrees of node and neighbour, each combination once.
        kind: (P,) which of them every pair has.
        device: Where the tensors live.
    """

    adjacency: csr_array
    degree: Tensor
    coordinates: Tensor
    kind: Tensor
    device: torch.device
    _patterns: dict[int, KernelPattern] = field(default_factory=dict)

    def pattern(self, kernels: int) -> KernelPattern:
        """The places of the pairs' weights of so many kernels."""
        if kernels not in self._patterns:
            self._patterns[kernels] = self._expand(kernels)
        return self._patterns[kernels]

    def _expand(self, kernels: int) -> KernelPattern:
        num_nodes = self.adjacency.shape[0]
        columns = (self.adjacency.indices[:, None] * np.int64(kernels) + np.arange(kernels)).ravel()
        numbered = csr_array(
            (np.arange(columns.size), columns, self.adjacency.indptr * np.int64(kernels)),
            shape=(num_nodes, num_nodes * kernels),
        )
        transposed = csr_array(numbered.T)
        return KernelPattern(
            offsets=self._indices(numbered.indptr),
            columns=self._indices(numbered.indices),
            transposed_offsets=self._indices(transposed.indptr),
            transposed_columns=self._indices(transposed.indices),
            transposition=torch.tensor(transposed.data, device=self.device),
        )

    def _indices(self, array: NDArray[Any]) -> Tensor:
        return torch.tensor(array.astype(np.int32), device=self.device)


@kept_with_graph
def degree_pairs(graph: Placement) -> DegreePairs:
    """The pairs of a graph with their degrees, edge weights left aside."""
    adjacency = csr_array(graph.links + eye_array(graph.num_nodes, format="csr"))
    adjacency.sort_indices()
    degree = np.diff(adjacency.indptr)
    ends = np.stack([np.repeat(degree, degree), degree[adjacency.indices]], axis=1)
    combinations, kind = np.unique(ends, axis=0, return_inverse=True)
    return DegreePairs(
        adjacency,
        torch.tensor(degree[:, None], dtype=torch.float32, device=graph.device),
        torch.tensor(1.0 / np.sqrt(combinations), dtype=torch.float32, device=graph.device),
        torch.tensor(kind, device=graph.device),
        graph.device,
    )


class _KernelSum(torch.autograd.Function):
    """The sparse matrix of the weights (P * K) times the terms (N * K, D)."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, terms: Tensor, pattern: KernelPattern) -> Tensor:
        ctx.save_for_backward(weights, terms)
        ctx.pattern = pattern
        return pattern.matrix(weights) @ terms

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, terms = ctx.saved_tensors
        grad_output = grad_output.contiguous()
        grad_terms = ctx.pattern.transpose(weights) @ grad_output
        matrix = ctx.pattern.matrix(weights)
        grad_weights = torch.sparse.sampled_addmm(matrix, grad_output, terms.T, beta=0.0).values()
        return grad_weights, grad_terms, None
