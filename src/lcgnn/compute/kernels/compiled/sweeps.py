"""A sweep of iterative classification over the nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled


@compiled
def sweep(
    offsets: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    feature_logits: NDArray[np.float64],
    neighbour_weight: NDArray[np.float64],
    aggregator: int,
    order: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> None:
    """Classify the nodes in the given order; every label is replaced in ``labels`` before the next node's turn."""
    num_classes = feature_logits.shape[1]
    evidence = np.empty(num_classes)
    for i in order:
        evidence[:] = 0.0
        total = 0.0
        for e in range(offsets[i], offsets[i + 1]):
            evidence[labels[columns[e]]] += weights[e]
            total += weights[e]
        if aggregator == 0 and total > 0:
            evidence /= total
        elif aggregator == 2:
            for c in range(num_classes):
                evidence[c] = 1.0 if evidence[c] > 0 else 0.0
        best, largest = 0, -np.inf
        for c in range(num_classes):
            logit = feature_logits[i, c]
            for d in range(num_classes):
                logit += evidence[d] * neighbour_weight[d, c]
            if logit > largest:
                best, largest = c, logit
        labels[i] = best
