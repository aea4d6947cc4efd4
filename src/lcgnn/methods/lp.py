r"""Label propagation (Zhu, Ghahramani and Lafferty 2003): every node is the mean of its neighbours.

The harmonic solution keeps the training labels and solves for the other nodes

.. math:: F_u = (D_{uu} - W_{uu})^{-1} W_{ul} Y_l

which is the limit of propagating along the edges and clamping the labels, and the class that a random walk from
the node meets first. The system is sparse, symmetric and positive definite: conjugate gradients solve it.

The one setting is the paper's class mass normalisation, which scales every class to its share among the training
labels. Unless it is given, the validation nodes decide; without any it is done, because from few labels the
plain solution often gives nearly every node the class of one well connected label. What departs from the
original: the weights are the graph's edges instead of similarities of features, and nodes that no training label
can reach, for which the system has no solution, get the class prior of the training labels.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import Context, Fit, Method, register, setting
from lcgnn.methods.classical import Floats, class_prior, fit_of, one_hot, validation_score


@register("lp", "Label propagation: labels spread over the edges until every node is its neighbours' mean.")
@dataclass(frozen=True)
class LabelPropagation(Method):
    """The harmonic solution on the graph's edges; reads no features and no seed."""

    deterministic: ClassVar[bool] = True

    class_mass: bool | None = setting(
        None,
        "Scale every class to its share of the training labels (class mass normalisation); null: if it is better "
        "on the validation nodes, or if there are none.",
    )

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:  # noqa: ARG002
        started = time.perf_counter()
        split.check(graph)
        harmonic, solved = harmonic_solution(graph, split)
        distributions = [harmonic, class_mass_normalized(harmonic, solved, class_prior(graph, split))]
        class_mass = self.class_mass
        if class_mass is None and not split.validation.size:
            class_mass = True
        if class_mass is not None:
            distributions = [distributions[class_mass]]
        best = max(distributions, key=lambda distribution: validation_score(distribution, graph, split))
        return fit_of("label propagation", best, {}, started)


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
        distribution[nodes] = solution / solution.sum(axis=1, keepdims=True)
    return distribution, nodes


def class_mass_normalized(distribution: Floats, nodes: NDArray[np.int64], prior: Floats) -> Floats:
    """Scale the classes so that together the nodes hold as much of each as the prior says."""
    if not nodes.size:
        return distribution
    mass = distribution[nodes].mean(axis=0)
    scaled = distribution[nodes] * np.divide(prior, mass, out=np.zeros_like(mass), where=mass > 0)
    result = distribution.copy()
    result[nodes] = scaled / scaled.sum(axis=1, keepdims=True)
    return result


def _reached(adjacency: csr_array, sources: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes share a connected component with one of the sources."""
    _, component = connected_components(adjacency, directed=False)
    return np.isin(component, component[sources])


def _solve(laplacian: csr_array, targets: Floats) -> Floats:
    """``laplacian^-1 targets``, column by column; the diagonal is the preconditioner."""
    preconditioner = diags_array(1.0 / laplacian.diagonal())
    solution = np.empty_like(targets)
    for column in range(targets.shape[1]):
        solution[:, column], failure = cg(laplacian, targets[:, column], rtol=1e-10, M=preconditioner)
        if failure:
            raise DataError("Label propagation did not converge: the edge weights differ by too much.")
    # A distribution is never negative; rounding may be.
    return np.maximum(solution, 0.0)
