r"""Label spreading (Zhou et al. 2004): labels spread over the edges, and lose a little at every step.

*Learning with local and global consistency* iterates ``F <- a S F + (1 - a) Y`` on the normalised adjacency
:math:`S = D^{-1/2} W D^{-1/2}`, which ends at

.. math:: F = (1 - a) (I - a S)^{-1} Y

for training labels Y, one hot. The system is sparse, symmetric and positive definite, with a condition number of
at most (1 + a) / (1 - a) whatever the graph: conjugate gradients reach its solution in some dozens of steps, all
classes at once. Unlike label propagation, a training label may be outvoted, and one far away counts for little.

Class mass normalisation is in ``edges_alone``. What departs from the original: the weights are the graph's edges
instead of similarities of features, every row is divided by its sum, and nodes that no training label reaches, or
only with less than rounding, get the class prior of the training labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import register, setting
from lcgnn.methods.classical import Floats, class_prior, one_hot
from lcgnn.methods.edges_alone import EdgesAlone

# Classes that are solved for at a time: four vectors of every node's length are held for each.
_COLUMNS = 16
# The residual, relative to the labels, at which the solution is taken.
_TOLERANCE = 1e-12
_MOST_STEPS = 10_000
# A row below this holds more rounding than labels.
_NOISE = 1e-9


@register("spreading", "Label spreading: labels spread over the edges and lose a little at every step.")
@dataclass(frozen=True)
class LabelSpreading(EdgesAlone):
    """Spreading on the graph's edges; reads no features and no seed."""

    title: ClassVar[str] = "label spreading"

    alpha: float = setting(
        0.9, "How much of its label distribution a node takes from its neighbours at a step.", at_least=0, below=1
    )

    def spread(self, graph: Graph, split: Split) -> tuple[Floats, NDArray[np.int64]]:
        return spread_labels(graph, split, self.alpha)


def spread_labels(graph: Graph, split: Split, alpha: float) -> tuple[Floats, NDArray[np.int64]]:
    """The label distribution (N, C) of every node, and the nodes that labels reach; the others get the prior."""
    labels = np.zeros((graph.num_nodes, graph.num_classes))
    labels[split.train] = one_hot(graph.labels[split.train], graph.num_classes)
    spread = np.empty_like(labels)
    matrix = _normalised(graph.adjacency)
    for start in range(0, graph.num_classes, _COLUMNS):
        columns = slice(start, start + _COLUMNS)
        spread[:, columns] = _solved(matrix, alpha, np.ascontiguousarray(labels[:, columns]))
    # A distribution is never negative; rounding may be.
    np.maximum(spread, 0.0, out=spread)
    sums = spread.sum(axis=1)
    reached = np.flatnonzero(sums > _NOISE)
    distribution = np.tile(class_prior(graph, split), (graph.num_nodes, 1))
    distribution[reached] = spread[reached] / sums[reached, None]
    return distribution, reached


def _normalised(adjacency: csr_array) -> csr_array:
    """S; a node without neighbours but itself has a row of zeros."""
    weights = csr_array(adjacency - diags_array(adjacency.diagonal()), dtype=np.float64)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return csr_array(diags_array(scale) @ weights @ diags_array(scale))


def _solved(matrix: csr_array, alpha: float, targets: Floats) -> Floats:
    """``(I - alpha S)^-1 targets`` by conjugate gradients, every column with steps of its own.

    A column that has converged takes steps of length zero.
    """
    solution = targets.copy()
    residual = alpha * (matrix @ targets)
    direction = residual.copy()
    squares = np.square(residual).sum(axis=0)
    enough = np.square(_TOLERANCE) * np.square(targets).sum(axis=0)
    for _ in range(_MOST_STEPS):
        if (squares <= enough).all():
            return solution
        product = direction - alpha * (matrix @ direction)
        energy = (direction * product).sum(axis=0)
        step = np.divide(squares, energy, out=np.zeros_like(squares), where=squares > enough)
        solution += step * direction
        residual -= step * product
        before, squares = squares, np.square(residual).sum(axis=0)
        direction *= np.divide(squares, before, out=np.zeros_like(squares), where=before > enough)
        direction += residual
    raise DataError(f"Label spreading did not converge with alpha {alpha}. Give a smaller one, such as 0.99.")
