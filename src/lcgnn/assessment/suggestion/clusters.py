"""Distances, k-means with some centres held fast, and medoids, all in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Places = NDArray[np.float32]

# Distances that are held at a time.
_BLOCK = 2**23


def nearest(places: Places, centres: Places) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(N,) which centre is nearest to every place, the first of equals, and (N,) its squared distance."""
    which = np.empty(places.shape[0], dtype=np.int64)
    distance = np.empty(places.shape[0], dtype=np.float32)
    of_centres = (centres**2).sum(axis=1)
    step = max(1, _BLOCK // max(1, centres.shape[0]))
    for start in range(0, places.shape[0], step):
        block = places[start : start + step]
        squared = of_centres - 2 * (block @ centres.T)
        least = squared.argmin(axis=1)
        which[start : start + step] = least
        distance[start : start + step] = squared[np.arange(least.size), least] + (block**2).sum(axis=1)
    return which, np.maximum(distance, 0)


@dataclass(frozen=True, eq=False)
class Clusters:
    """What `k_means` found.

    Args:
        centres: (K, D) of the clusters, without the fixed ones.
        member: (N,) which cluster every place is in; K and more for the fixed ones.
        weight: (K,) of what is in each.
        scatter: Weighted squared distance of all places from their centres.
    """

    centres: Places
    member: NDArray[np.int64]
    weight: NDArray[np.float64]
    scatter: float


def k_means(
    places: Places,
    count: int,
    generator: np.random.Generator,
    *,
    weights: NDArray[np.float64] | None = None,
    fixed: Places | None = None,
    rounds: int = 25,
) -> Clusters:
    """So many clusters of weighted places.

    Centres begin far from each other (`far_apart`) and move to the middle of what is nearest to them (Lloyd).
    Fixed centres take part and stay where they are.
    """
    weights = np.ones(places.shape[0]) if weights is None else weights
    fixed = np.empty((0, places.shape[1]), dtype=np.float32) if fixed is None else fixed
    centres = places[far_apart(places, count, generator, fixed, weights)]
    member, distance = nearest(places, np.concatenate([centres, fixed]))
    for _ in range(rounds):
        previous, centres = member, _middles(places, weights, member, centres)
        member, distance = nearest(places, np.concatenate([centres, fixed]))
        if np.array_equal(previous, member):
            break
    weight = np.bincount(member, weights=weights, minlength=count)[:count]
    return Clusters(centres, member, weight, float((weights * distance).sum()))


def far_apart(
    places: Places,
    count: int,
    generator: np.random.Generator,
    fixed: Places | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """(count,) different places, drawn one by one in proportion to weight and squared distance from those before.

    K-means++ (Arthur and Vassilvitskii 2007). The fixed ones count as drawn before.
    """
    weights = np.ones(places.shape[0]) if weights is None else weights
    has_fixed = fixed is not None and fixed.shape[0] > 0
    distance = (
        nearest(places, fixed)[1] if has_fixed and fixed is not None else np.ones(places.shape[0], np.float32)
    )
    chosen: list[int] = []
    for number in range(count):
        odds = weights * distance
        odds[chosen] = 0
        if not odds.sum() > 0:
            odds = np.ones(places.shape[0])
            odds[chosen] = 0
        reached = np.cumsum(odds)
        drawn = int(np.searchsorted(reached, generator.random() * reached[-1], side="right"))
        chosen.append(min(drawn, places.shape[0] - 1))
        squared = nearest(places, places[chosen[-1:]])[1]
        distance = np.minimum(distance, squared) if has_fixed or number else squared
    return np.array(chosen, dtype=np.int64)


def _middles(places: Places, weights: NDArray[np.float64], member: NDArray[np.int64], centres: Places) -> Places:
    """(K, D) the weighted mean of every cluster; where one weighs nothing, its centre as it was."""
    inside = np.flatnonzero(member < centres.shape[0])
    shape = (centres.shape[0], places.shape[0])
    sums = csr_array((weights[inside], (member[inside], inside)), shape=shape)
    total = np.asarray(sums.sum(axis=1)).ravel()[:, None]
    return np.where(total > 0, (sums @ places) / np.where(total > 0, total, 1), centres).astype(np.float32)
