"""What the logits of a few nodes depend on: two layers read their neighbours, and the neighbours' neighbours; a
perceptron reads nothing but the nodes.

A base network is trained on a handful of labels and chosen by a few hundred more, so most of a large graph never
matters to it; label consistency, which compares every node with every other, needs the whole. The part that
matters gives the same logits and gradients as the whole graph does, to rounding: it has the whole's weights and,
numbered as in the whole, its dropout masks.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.kernels.attention import Neighbourhood
from lcgnn.compute.kernels.csr import as_scipy
from lcgnn.compute.placement.base import EdgeRows, Kind, Placement
from lcgnn.compute.sparse import SparseMatrix


class ReachTensors(Placement):
    """The nodes that a network reads for some nodes' logits; the logits of all the others mean nothing.

    Args:
        whole: The graph, whole.
        targets: (T,) the nodes whose logits are wanted, ascending.
        edges: Over how many edges the network hears a node: two, or none.
        backward: Whether gradients are wanted as well; the products' transposes are wrong without.
    """

    kind: ClassVar[Kind] = "reached"

    def __init__(
        self, whole: Placement, targets: NDArray[np.int64], edges: int = 2, *, backward: bool = True
    ) -> None:
        self.whole, self.device = whole, whole.device
        self._mirrored = backward
        hidden = _with_neighbours(whole.links, targets) if edges else targets
        self.nodes = _with_neighbours(whole.links, hidden) if edges else targets
        self._is_target = np.isin(self.nodes, targets, assume_unique=True)
        self._is_hidden = np.isin(self.nodes, hidden, assume_unique=True)
        self._numbers = torch.from_numpy(self.nodes).to(self.device)

    @property
    def num_nodes(self) -> int:
        return self.nodes.size

    @property
    def num_features(self) -> int:
        return self.whole.num_features

    @property
    def num_classes(self) -> int:
        return self.whole.num_classes

    @cached_property
    def target_rows(self) -> Tensor:
        """(T,) where the targets are among the nodes here."""
        return torch.from_numpy(np.flatnonzero(self._is_target)).to(self.device)

    @property
    def row_numbers(self) -> Tensor:
        return self._numbers

    @cached_property
    def features(self) -> SparseMatrix | Tensor:
        features = self.whole.features
        if isinstance(features, SparseMatrix):
            return SparseMatrix.of(as_scipy(features.matrix)[self.nodes], self.device, rows=self._numbers)
        return features.index_select(0, self._numbers)

    @cached_property
    def adjacency(self) -> SparseMatrix:
        return self._matrix(self._is_hidden)

    @cached_property
    def output_adjacency(self) -> SparseMatrix:
        return self._matrix(self._is_target)

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        return self._pairs(self._is_hidden)

    @cached_property
    def output_neighbourhood(self) -> Neighbourhood:
        return self._pairs(self._is_target)

    @cached_property
    def labels(self) -> Tensor:
        return self.whole.labels.index_select(0, self._numbers)

    def edge_rows(self, nodes: Tensor) -> EdgeRows:  # noqa: ARG002
        raise self.refused("Aggregation over the edges")

    def agreement(self, logits: Tensor) -> Tensor:  # noqa: ARG002
        raise self.refused("The class agreement, which is one of all nodes,")

    def _matrix(self, complete: NDArray[np.bool_]) -> SparseMatrix:
        return SparseMatrix.of(
            self._cut(as_scipy(self.whole.adjacency.matrix), complete), self.device, symmetric=True
        )

    def _pairs(self, complete: NDArray[np.bool_]) -> Neighbourhood:
        whole = self.whole.neighbourhood.pattern
        pattern = self._cut(whole, complete)
        shifts = whole.indptr[self.nodes].astype(np.int64) - pattern.indptr[:-1]
        return Neighbourhood(pattern, self.device, shifts)

    def _cut(self, matrix: csr_array, complete: NDArray[np.bool_]) -> csr_array:
        """The part of a symmetric matrix: complete rows, for gradients their mirror images, the diagonal."""
        part = csr_array(csr_array(matrix[self.nodes])[:, self.nodes])
        part.sort_indices()
        rows = np.repeat(np.arange(self.num_nodes), np.diff(part.indptr))
        kept = complete[rows] | (rows == part.indices)
        if self._mirrored:
            kept |= complete[part.indices]
        offsets = np.concatenate([[0], np.cumsum(kept)])[part.indptr]
        return csr_array((part.data[kept], part.indices[kept], offsets), shape=part.shape)


def _with_neighbours(links: csr_array, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes and all of their neighbours, ascending."""
    return np.unique(np.concatenate([nodes, links[nodes].indices.astype(np.int64)]))
