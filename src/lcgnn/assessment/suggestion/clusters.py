"""Distances, k-means with some centres held fast, and medoids, all in blocks of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def k_means(
    places: Places, count: int, generator: np.random.Generator, fixed: Places | None = None, rounds: int = 25
) -> tuple[Places, NDArray[np.int64]]:
    """(K, D) centres of so many clusters, and (N,) which one every place is in.

    Centres are drawn far from each other (k-means++: Arthur and Vassilvitskii 2007) and then moved to the middle of
    what is nearest to them (Lloyd). Fixed centres stay where they are; they come after the others.
    """
    fixed = np.empty((0, places.shape[1]), dtype=np.float32) if fixed is None else fixed
    moving = _far_apart(places, count, generator, fixed)
    member = np.full(places.shape[0], -1)
    for _ in range(rounds):
        centres = np.concatenate([moving, fixed])
        previous, member = member, nearest(places, centres)[0]
        if np.array_equal(previous, member):
            break
        moving = _middles(places, member, moving)
    return np.concatenate([moving, fixed]), member


def _far_apart(places: Places, count: int, generator: np.random.Generator, fixed: Places) -> Places:
    """(count, D) places drawn one by one, in proportion to the squared distance from those before."""
    chosen = []
    distance = nearest(places, fixed)[1] if fixed.size else np.ones(places.shape[0], dtype=np.float32)
    for _ in range(count):
        reached = np.cumsum(distance, dtype=np.float64)
        draw = generator.random() * reached[-1]
        drawn = min(int(np.searchsorted(reached, draw, side="right")), places.shape[0] - 1)
        chosen.append(places[drawn])
        distance = np.minimum(
            distance if fixed.size or len(chosen) > 1 else np.inf, nearest(places, places[drawn : drawn + 1])[1]
        )
    return np.stack(chosen)


def _middles(places: Places, member: NDArray[np.int64], moving: Places) -> Places:
    """(K, D) the mean of every cluster; where there is nothing in one, its centre as it was."""
    order = np.argsort(member, kind="stable")
    sizes = np.bincount(member, minlength=moving.shape[0])[: moving.shape[0]]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    middles = moving.copy()
    for cluster, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if size:
            middles[cluster] = places[order[start : start + size]].mean(axis=0)
    return middles
