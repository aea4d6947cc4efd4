"""A sweep of iterative classification: one node after the other takes the class that its neighbours suggest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.backend import fused

Floats = NDArray[np.float64]


def sweep(
    offsets: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    feature_logits: Floats,
    neighbour_weight: Floats,
    aggregator: int,
    order: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> None:
    """Classify the nodes in the given order; every label is replaced in ``labels`` before the next node's turn.

    Args:
        offsets: (N + 1,) where a node's neighbours begin in ``columns``; who has a neighbour is one of it.
        columns: (E,) the neighbours.
        weights: (E,) the weights of the edges.
        feature_logits: (N, C) what features contribute.
        neighbour_weight: (C, C) what neighbours of a class contribute.
        aggregator: What is seen of the neighbours' classes: 0 for their shares, 1 for counts, 2 for which exist.
        order: Of the nodes.
        labels: (N,) of all nodes; changed in place.
    """
    if fused():
        from lcgnn.compute.kernels.compiled import sweeps

        sweeps.sweep(offsets, columns, weights, feature_logits, neighbour_weight, aggregator, order, labels)
        return
    sources = np.repeat(np.arange(labels.size), np.diff(offsets))
    counts = np.zeros_like(feature_logits)
    np.add.at(counts, (sources, labels[columns]), weights)
    chosen = (feature_logits + _evidence(counts, aggregator) @ neighbour_weight).argmax(axis=1)
    # A node has to be looked at again only if a neighbour's class has changed since.
    outdated = np.zeros(labels.size, dtype=bool)
    for i in order.tolist():
        row = slice(offsets[i], offsets[i + 1])
        if outdated[i]:
            count = np.bincount(labels[columns[row]], weights[row], feature_logits.shape[1]).astype(np.float64)
            chosen[i] = (feature_logits[i] + _evidence(count[None], aggregator)[0] @ neighbour_weight).argmax()
        if labels[i] != chosen[i]:
            labels[i] = chosen[i]
            outdated[columns[row]] = True


def _evidence(counts: Floats, aggregator: int) -> Floats:
    """(N, C) what a node sees of its neighbours' classes, from how much there is of each."""
    if aggregator == 1:
        return counts
    if aggregator == 2:
        return (counts > 0).astype(np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    return counts / np.where(totals > 0, totals, 1.0)
