"""A perceptron whose hidden layer is an embedding of the graph (Weston et al. 2012)."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array, eye_array
from torch import Tensor, nn

from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.dropout import derive_key, random_bits
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix, dropped_product
from lcgnn.networks.network import Network, TrainingOutput, glorot


class NodePairs:
    """The pairs of nodes that an embedding is trained on: all edges, and random pairs that are none.

    Args:
        adjacency: (N, N) of the graph.
        device: Where the tensors live.
    """

    def __init__(self, adjacency: csr_array, device: torch.device) -> None:
        degree = np.asarray(adjacency.astype(np.float64).sum(axis=1)).ravel()
        laplacian = csr_array(diags_array(degree) - adjacency).astype(np.float32)
        self.laplacian = SparseMatrix.of(laplacian, device, symmetric=True)
        # 1 for a graph without edges, where there is nothing to divide.
        self.total_weight = float(degree.sum() / 2) or 1.0
        closed = csr_array(adjacency + eye_array(adjacency.shape[0])).tocoo()
        rows, columns = closed.coords
        self._adjacent = torch.tensor(np.sort(rows.astype(np.int64) * adjacency.shape[0] + columns), device=device)

    def pull(self, embedding: Tensor) -> Tensor:
        """(N,) the squared distance of neighbours; its sum is the weighted mean over all edges."""
        return (embedding * (self.laplacian @ embedding)).sum(dim=1) / self.total_weight

    def push(self, embedding: Tensor, margin: float, key: int) -> Tensor:
        """(N,) the squared shortfall from the margin of a random stranger; its sum is the mean over strangers."""
        partner, apart = self.strangers(key)
        squared = (embedding - embedding[partner]).square().sum(dim=1)
        # The distance has no slope at zero; the epsilon gives it one.
        distance = (squared + torch.finfo(embedding.dtype).eps).sqrt()
        return apart * (margin - distance).clamp_min(0).square() / apart.sum().clamp_min(1)

    def strangers(self, key: int) -> tuple[Tensor, Tensor]:
        """(N,) a random node for every node, and 1 where the two are neither neighbours nor the same, else 0."""
        num_nodes = self.laplacian.shape[0]
        nodes = torch.arange(num_nodes, device=self._adjacent.device)
        partner = random_bits(key, nodes) % num_nodes
        pair = nodes * num_nodes + partner
        place = torch.searchsorted(self._adjacent, pair).clamp_max(self._adjacent.shape[0] - 1)
        return partner, (self._adjacent[place] != pair).to(torch.float32)


class SemiEmb(Network):
    r"""Logits :math:`f(X) W_1 + b_1` of the embedding :math:`f(X) = \mathrm{ReLU}(X W_0 + b_0)`.

    Its extra loss in training is that of the embedding

    .. math:: \mathrm{mean}_{(i,j) \in E} |f_i - f_j|^2
              + \mathrm{mean}_{(i,j) \notin E} \max(0, m - |f_i - f_j|)^2

    Args:
        num_features: F.
        num_classes: C.
        pairs: Of the graph that the network is trained on.
        hidden: Width of the embedding.
        dropout: Rate on the embedding, where the logits are made from it.
        input_dropout: Rate on the features.
        margin: The distance m that nodes are kept apart.
        generator: Draws the initial weights.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        pairs: NodePairs,
        *,
        hidden: int,
        dropout: float,
        input_dropout: float,
        margin: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.pairs = pairs
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.margin = margin
        self.weight_0 = glorot(num_features, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(hidden))
        self.weight_1 = glorot(hidden, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        return self._logits(graph, self._embedding(graph, key), key)

    def train_pass(self, graph: Placement, embedding: Tensor | None, key: int) -> TrainingOutput:  # noqa: ARG002
        hidden = self._embedding(graph, key)
        logits = self._logits(graph, hidden, key)
        penalty = self.pairs.pull(hidden) + self.pairs.push(hidden, self.margin, derive_key(key, "strangers"))
        return TrainingOutput(logits, extra_loss=penalty.sum())

    def _embedding(self, graph: Placement, key: int | None) -> Tensor:
        dropout = graph.dropout(self.input_dropout, key, "input")
        return activate(dropped_product(graph.features, self.weight_0, dropout), self.bias_0, "relu")

    def _logits(self, graph: Placement, hidden: Tensor, key: int | None) -> Tensor:
        if key is not None:
            hidden = hidden * graph.dropout(self.dropout, key, "hidden").mask_like(hidden)
        return hidden @ self.weight_1 + self.bias_1
