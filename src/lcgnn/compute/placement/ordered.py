"""A whole graph whose rows lie in another order, so that neighbours are near each other in memory.

Numbers that tell nothing of the edges, as those of most people's tables, make every product jump through all of
memory. Rows keep the numbers that they have in the graph, and with these its dropout masks; a row's entries keep
their order, so that its sums are the same to the bit.
"""

from __future__ import annotations

import logging
import os
from functools import cached_property
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

from lcgnn.compute.kernels.attention import Neighbourhood
from lcgnn.compute.kernels.code_folder import QUIET
from lcgnn.compute.placement.cutting import assign, settled
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SparseMatrix, normalized_adjacency, with_self_loops
from lcgnn.graph import Graph
from lcgnn.limits import available

_log = logging.getLogger(__name__)

# Rows that are so far apart are not in the processor's cache at the same time.
_FAR = 2**17
# Of the neighbours that are looked at, so many must be far away before others are looked for, and the new order
# leaves at most such a part of them.
_WORTH_IT, _BETTER = 0.3, 0.9
_LOOKED_AT = 2**20
# Memory that must be free, in sizes of the graph.
_TIMES = 4
# METIS's parts, each of which is one piece of the order.
PIECES = 16


class OrderedTensors(GraphTensors):
    """A graph that is whole, in another order.

    Args:
        graph: The graph.
        order: (N,) the node of every row.
        device: Where the tensors live.
    """

    def __init__(self, graph: Graph, order: NDArray[np.int64], device: torch.device | str = "cpu") -> None:
        super().__init__(graph, device)
        self.order = torch.from_numpy(order).to(self.device)
        self.places = torch.empty_like(self.order)
        self.places[self.order] = torch.arange(order.size, device=self.device)

    @property
    def row_numbers(self) -> Tensor:  # type: ignore[override]
        return self.order

    @cached_property
    def features(self) -> SparseMatrix | Tensor:
        features = self.graph.features
        if isinstance(features, csr_array):
            return SparseMatrix.of(features[self.order.cpu().numpy()], self.device, rows=self.order)
        return super().features[self.order]  # type: ignore[index]

    @cached_property
    def labels(self) -> Tensor:
        return super().labels[self.order]

    @cached_property
    def adjacency(self) -> SparseMatrix:
        matrix, _ = self._ordered(normalized_adjacency(self.graph.adjacency))
        return SparseMatrix.of(matrix, self.device, symmetric=True)

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        pattern, starts = self._ordered(with_self_loops(self.graph.adjacency))
        return Neighbourhood(pattern, self.device, starts - pattern.indptr[:-1])

    @property
    def links(self) -> csr_array:
        return self._ordered(self.graph.adjacency)[0]

    def _ordered(self, matrix: csr_array) -> tuple[csr_array, NDArray[np.int64]]:
        """A symmetric matrix in the order, each row's entries in that of the graph, and (N,) where they began."""
        order, places = self.order.cpu().numpy(), self.places.cpu().numpy()
        rows = matrix[order]
        indices = places[rows.indices].astype(matrix.indices.dtype)
        ordered = csr_array((rows.data, indices, rows.indptr), shape=matrix.shape)
        return ordered, matrix.indptr[order].astype(np.int64)


def better_order(graph: Graph) -> NDArray[np.int64] | None:
    """(N,) the nodes in an order in which many more neighbours are near each other; None if there is none found.

    By METIS, where that is installed and has memory enough, or else by reverse Cuthill-McKee. None, too, where
    memory is not plenty: the graph is there twice then.
    """
    if _TIMES * _num_bytes(graph) > available():
        return None
    before = _far_away(graph.adjacency, None)
    if before < _WORTH_IT:
        return None
    if not os.environ.get(QUIET):
        _log.warning(
            "lcgnn: most neighbours have numbers that are far apart; an order for training is looked for, which "
            "takes some seconds."
        )
    if find_spec("pymetis") and settled("auto", graph) == "metis":
        order = np.argsort(assign(graph, PIECES, "metis"), kind="stable")
    else:
        order = np.asarray(reverse_cuthill_mckee(graph.adjacency, symmetric_mode=True), dtype=np.int64)
    return order if _far_away(graph.adjacency, order) <= _BETTER * before else None


def _num_bytes(graph: Graph) -> int:
    """What edges and features take."""
    features = graph.features
    if isinstance(features, csr_array):
        features = features.data
    return 8 * int(graph.adjacency.nnz) + (0 if features is None else 2 * int(features.nbytes))


def _far_away(adjacency: csr_array, order: NDArray[np.int64] | None) -> float:
    """The share of the neighbours of some nodes, evenly spread, that are far from them in the order."""
    num_nodes = adjacency.shape[0]
    step = max(1, int(adjacency.nnz) // _LOOKED_AT)
    nodes = np.arange(0, num_nodes, step)
    offsets, indices = adjacency.indptr, adjacency.indices
    ends = np.concatenate([indices[offsets[node] : offsets[node + 1]] for node in nodes])
    starts = np.repeat(nodes, offsets[nodes + 1] - offsets[nodes])
    if order is not None:
        places = np.empty(num_nodes, dtype=np.int64)
        places[order] = np.arange(num_nodes)
        starts, ends = places[starts], places[ends]
    return float((np.abs(starts - ends) > _FAR).mean()) if ends.size else 0.0
