r"""The soft neighbours of a node: the nodes that label consistency weighed most when it averaged over all of them.

Row i of the paper's :math:`P = \mathrm{RowNormalize}(Z Z^\top)` has the weight of every node j for node i,

.. math:: P_{ij} = \frac{Z_i \cdot Z_j}{Z_i \cdot \sum_k Z_k},

one product of (N, C) with a row of Z: exact, and never an N x N matrix. Balanced classes put :math:`D^{-1}`
between the two, D being the classes' sizes :math:`\sum_k Z_k`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SoftNeighbours:
    """What label consistency weighed for one node.

    Args:
        nodes: (K,) the heaviest, in order; the node itself is not among them.
        weights: (K,) their shares of all weight.
        by_class: (C,) the share of all weight that lies on the nodes predicted to be of each class.
        own: The node's own share.
    """

    nodes: NDArray[np.int64]
    weights: NDArray[np.float64]
    by_class: NDArray[np.float64]
    own: float


def soft_weights(
    distribution: NDArray[np.floating[Any]], node: int, *, balanced: bool = False
) -> NDArray[np.float64]:
    """(N,) the row of P that belongs to a node; it sums to one.

    Args:
        distribution: (N, C) Z, what the base says before the aggregation.
        node: Whose weights.
        balanced: Whether every class counts the same, however large it is.
    """
    every = np.asarray(distribution, dtype=np.float64)
    own = every[node]
    if balanced:
        sizes = every.sum(axis=0)
        own = np.divide(own, sizes, out=np.zeros_like(own), where=sizes > 0)
    weights = every @ own
    total = weights.sum()
    return np.asarray(weights / total if total > 0 else weights)


def soft_neighbours(
    distribution: NDArray[np.floating[Any]], node: int, count: int, *, balanced: bool = False
) -> SoftNeighbours:
    """The nodes that weigh most for a node, of equal ones the first; see `soft_weights`."""
    return heaviest(soft_weights(distribution, node, balanced=balanced), np.asarray(distribution), node, count)


def heaviest(
    weights: NDArray[np.float64], distribution: NDArray[np.floating[Any]], node: int, count: int
) -> SoftNeighbours:
    """The nodes with the largest of these weights (N,), beside how the weight is spread over predicted classes."""
    others = weights.copy()
    others[node] = -1.0
    count = min(count, others.size - 1)
    # Of equal weights those that come first, so that the same graph always has the same answer.
    least = np.partition(others, others.size - count)[others.size - count] if count else np.inf
    candidates = np.flatnonzero(others >= least)
    chosen = candidates[np.argsort(-others[candidates], kind="stable")[:count]]
    by_class = np.zeros(distribution.shape[1])
    np.add.at(by_class, distribution.argmax(axis=1), weights)
    return SoftNeighbours(chosen, weights[chosen], by_class, float(weights[node]))
