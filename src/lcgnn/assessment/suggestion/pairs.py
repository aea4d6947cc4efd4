"""Distances between pairs of nodes, asked for again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion.base import Nodes
from lcgnn.assessment.suggestion.clusters import Places, far_apart_by, nearest_by
from lcgnn.limits import available

# Products of pairs that are kept at most (2 GB), and the share of the free memory that they may take.
_MOST_KEPT, _SHARE = 2**29, 1 / 4
# With fewer numbers a place, a product takes no longer to make than to look up.
_WORTH_KEEPING = 256


class Pairs:
    """Squared distances between places; their products are made once, where there is memory for all of them.

    Args:
        places: (N, D).
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self.squares = (places**2).sum(axis=1)
        count = places.shape[0] ** 2
        fits = count <= _MOST_KEPT and count * places.itemsize <= _SHARE * available()
        self._products = places @ places.T if fits and places.shape[1] >= _WORTH_KEEPING else None

    def products(self, rows: Nodes, columns: Nodes) -> NDArray[np.float32]:
        """(R, K) of each of some places with each of others."""
        if self._products is None:
            return np.asarray(self._places[rows] @ self._places[columns].T)
        return np.asarray(self._products[rows[:, None], columns])

    def squared(self, rows: Nodes, columns: Nodes) -> NDArray[np.float32]:
        """(R, K) squared distances of each of some places from each of others."""
        lengths = self.squares[rows, None] + self.squares[columns]
        return np.asarray(np.maximum(lengths - 2 * self.products(rows, columns), 0))


@dataclass(frozen=True, eq=False)
class Among:
    """Some of the places, numbered from 0.

    Args:
        pairs: All of them.
        nodes: (M,) which these are.
    """

    pairs: Pairs
    nodes: Nodes

    def nearest(self, centres: Nodes) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(M,) which of some nodes is nearest to each, the first of equals, and (M,) its squared distance."""
        pairs, nodes = self.pairs, self.nodes
        return nearest_by(
            nodes.size,
            centres.size,
            lambda rows: np.asarray(pairs.squares[centres] - 2 * pairs.products(nodes[rows], centres)),
            lambda rows: np.asarray(pairs.squares[nodes[rows]]),
        )

    def far_apart(
        self, count: int, generator: np.random.Generator, beside: NDArray[np.float32]
    ) -> NDArray[np.int64]:
        """(count,) of them, as in `clusters.far_apart`."""
        return far_apart_by(
            np.ones(self.nodes.size),
            beside,
            count,
            generator,
            lambda one: self.nearest(self.nodes[one : one + 1])[1],
        )
