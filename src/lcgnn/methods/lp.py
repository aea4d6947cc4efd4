r"""Label propagation (Zhu, Ghahramani and Lafferty 2003): every node is the mean of its neighbours.

The harmonic solution keeps the training labels and solves for the other nodes

.. math:: F_u = (D_{uu} - W_{uu})^{-1} W_{ul} Y_l

which is the limit of propagating along the edges and clamping the labels, and the class that a random walk from
the node meets first. The system is sparse, symmetric and positive definite: conjugate gradients solve it.

The one setting is the paper's class mass normalisation (``edges_alone``). What departs from the original:
the weights are the graph's edges instead of similarities of features, and nodes that no training label can reach,
for which the system has no solution, get the class prior of the training labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import register
from lcgnn.methods.classical import Floats, class_prior, one_hot
from lcgnn.methods.edges_alone import EdgesAlone

_DIVERGED = "Label propagation did not converge: the edge weights differ by too much."
# How far the sum of a node's probabilities may be from one.
_TOLERANCE = 1e-4


@register("lp", "Label propagation: labels spread over the edges until every node is its neighbours' mean.")
@dataclass(frozen=True)
class LabelPropagation(EdgesAlone):
    """The harmonic solution on the graph's edges; reads no features and no seed."""

    title: ClassVar[str] = "label propagation"

    def spread(self, graph: Graph, split: Split) -> tuple[Floats, NDArray[np.int64]]:
        return harmonic_solution(graph, split)


def harmonic_solution(graph: Graph, split: Split) -> tuple[Floats, NDArray[np.int64]]:
    """The label distribution (N, C) of every node, and the nodes that it was solved for.

    The others are the training nodes, which keep their label, and nodes out of their reach, which get the prior.
    """
    adjacency = graph.adjacency.astype(np.float64)
    distribution = np.tile(class_prior(graph, split), (graph.num_nodes, 1))
    distribution[split.train] = one_hot(graph.labels[split.train], graph.num_classes)
    free = _reached(adjacency, split.train)
    free[split.train] = False
    nodes = np.flatnonzero(free)
    if nodes.size:
        degree = np.asarray(adjacency.sum(axis=1)).ravel()[nodes]
        rows = csr_array(adjacency[nodes])
        laplacian = csr_array(diags_array(degree) - rows[:, nodes])
        solution = _solve(laplacian, rows[:, split.train] @ distribution[split.train])
        # Every node is a mean of labels that sum to one.
        if not (np.abs(solution.sum(axis=1) - 1) < _TOLERANCE).all():
            raise DataError(_DIVERGED)
        distribution[nodes] = solution / solution.sum(axis=1, keepdims=True)
    return distribution, nodes


def _reached(adjacency: csr_array, sources: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes share a connected component with one of the sources."""
    _, component = connected_components(adjacency, directed=False)
    return np.isin(component, component[sources])


def _solve(laplacian: csr_array, targets: Floats) -> Floats:
    """``laplacian^-1 targets`` by columns; weights may differ, so equations are scaled by their diagonal."""
    scale = 1.0 / np.sqrt(laplacian.diagonal())
    scaled = csr_array(diags_array(scale) @ laplacian @ diags_array(scale))
    solution = np.empty_like(targets)
    for column in range(targets.shape[1]):
        found, failure = cg(scaled, scale * targets[:, column], rtol=1e-10)
        if failure:
            raise DataError(_DIVERGED)
        solution[:, column] = scale * found
    # A distribution is never negative; rounding may be.
    return np.maximum(solution, 0.0)
