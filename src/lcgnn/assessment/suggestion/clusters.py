"""Distances, clusters that leave room for what is labelled already, and places far apart, in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Places = NDArray[np.float32]

# Distances that are held at a time.
_BLOCK = 2**23
_ROUNDS = 25


def nearest(places: Places, centres: Places) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(N,) which centre is nearest to every place, the first of equals, and (N,) its squared distance.

    Without a centre the distance is infinite.
    """
    of_centres = (centres**2).sum(axis=1)
    return nearest_by(
        places.shape[0],
        centres.shape[0],
        lambda rows: np.asarray(of_centres - 2 * (places[rows] @ centres.T)),
        lambda rows: np.asarray((places[rows] ** 2).sum(axis=1)),
    )


def nearest_by(
    count: int,
    centres: int,
    further: Callable[[slice], NDArray[np.float32]],
    least: Callable[[slice], NDArray[np.float32]],
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The same of so many places and centres.

    Args:
        count: N.
        centres: K.
        further: (R, K) the squared distances of some rows of the places, each row less a number of its own.
        least: (R,) that number.
    """
    which = np.zeros(count, dtype=np.int64)
    distance = np.full(count, np.inf, dtype=np.float32)
    if not centres:
        return which, distance
    step = max(1, _BLOCK // centres)
    for start in range(0, count, step):
        rows = slice(start, start + step)
        block = further(rows)
        which[rows] = nearest_one = block.argmin(axis=1)
        distance[rows] = block[np.arange(nearest_one.size), nearest_one] + least(rows)
    return which, np.maximum(distance, 0)


@dataclass(frozen=True, eq=False)
class Clusters:
    """What `k_means` found.

    Args:
        centres: (K, D) of the clusters.
        scatter: Weighted squared distance of all places from the centre that is nearest, given ones included.
    """

    centres: Places
    scatter: float

    def members(self, places: Places, beside: NDArray[np.float32]) -> NDArray[np.int64]:
        """(N,) which cluster every place is in; K where something given is nearer, `beside` squared away."""
        return _members(places, self.centres, beside)[0]


def k_means(
    places: Places,
    count: int,
    generator: np.random.Generator,
    *,
    weights: NDArray[np.float64] | None = None,
    beside: NDArray[np.float32] | None = None,
) -> Clusters:
    """So many clusters of weighted places.

    Centres begin far from each other (`far_apart`) and move to the middle of what is nearest to them (Lloyd).

    Args:
        places: (N, D).
        count: How many.
        generator: Draws where centres begin.
        weights: (N,) what every place counts; None for 1.
        beside: (N,) squared distance from a centre that is given and does not move; None if there is none.
    """
    weights = np.ones(places.shape[0]) if weights is None else weights
    beside = np.full(places.shape[0], np.inf, dtype=np.float32) if beside is None else beside
    centres = places[far_apart(places, count, generator, weights=weights, beside=beside)]
    member, distance = _members(places, centres, beside)
    for _ in range(_ROUNDS):
        previous, centres = member, _middles(places, weights, member, centres)
        member, distance = _members(places, centres, beside)
        if np.array_equal(previous, member):
            break
    return Clusters(centres, float((weights * distance).sum()))


def far_apart(
    places: Places,
    count: int,
    generator: np.random.Generator,
    *,
    weights: NDArray[np.float64] | None = None,
    beside: NDArray[np.float32] | None = None,
) -> NDArray[np.int64]:
    """(count,) different places, drawn one by one in proportion to weight and squared distance from those before.

    K-means++ (Arthur and Vassilvitskii 2007); what is given counts as drawn before.
    """
    weights = np.ones(places.shape[0]) if weights is None else weights
    beside = np.full(places.shape[0], np.inf, dtype=np.float32) if beside is None else beside
    return far_apart_by(weights, beside, count, generator, lambda one: nearest(places, places[one : one + 1])[1])


def far_apart_by(
    weights: NDArray[np.float64],
    distance: NDArray[np.float32],
    count: int,
    generator: np.random.Generator,
    squared_from: Callable[[int], NDArray[np.float32]],
) -> NDArray[np.int64]:
    """The same by weights, squared distances from what is given, and those (N,) from a place that is drawn."""
    free = np.ones(weights.size, dtype=bool)
    chosen = []
    for _ in range(count):
        # The first of all is drawn by weight alone, and so is one among places that are all the same.
        odds = np.where(free, weights * np.where(np.isinf(distance), 1, distance), 0)
        odds = odds if odds.sum() > 0 else free.astype(np.float64)
        reached = np.cumsum(odds)
        drawn = int(np.searchsorted(reached, generator.random() * reached[-1], side="right"))
        drawn = min(drawn, int(np.flatnonzero(odds)[-1]))
        chosen.append(drawn)
        free[drawn] = False
        distance = np.minimum(distance, squared_from(drawn))
    return np.array(chosen, dtype=np.int64)


def _members(
    places: Places, centres: Places, beside: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    which, distance = nearest(places, centres)
    return np.where(distance <= beside, which, centres.shape[0]), np.minimum(distance, beside)


def _middles(places: Places, weights: NDArray[np.float64], member: NDArray[np.int64], centres: Places) -> Places:
    """(K, D) the weighted mean of every cluster; where one weighs nothing, its centre as it was."""
    inside = np.flatnonzero(member < centres.shape[0])
    shape = (centres.shape[0], places.shape[0])
    sums = csr_array((weights[inside], (member[inside], inside)), shape=shape)
    total = np.asarray(sums.sum(axis=1)).ravel()[:, None]
    return np.where(total > 0, (sums @ places) / np.where(total > 0, total, 1), centres).astype(np.float32)
