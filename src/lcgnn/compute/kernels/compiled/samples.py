"""Several predictions of every node that are to agree: the loss of equation 5 of GRAND and its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled, exp


@compiled
def disagreement(
    logits: NDArray[np.float32],
    temperature: np.float32,
    surest: np.float32,
    gradient: NDArray[np.float32],
    start: int,
    stop: int,
) -> float:
    """The mean squared distance of each sample's softmax from their sharpened mean, and its gradient.

    Args:
        logits: (S, N, C).
        temperature: Of the sharpened mean, which is no function of the logits here.
        surest: Nodes whose mean's largest probability is below this count nothing.
        gradient: (S, N, C), filled with the sum over nodes, not divided by anything.
        start: The first node that counts.
        stop: The first one after it that does not.

    Returns:
        The sum over nodes and samples of the squared distances.
    """
    num_samples, _, num_classes = logits.shape
    zero, one, two = np.float32(0), np.float32(1), np.float32(2)
    shares = np.empty((num_samples, num_classes), dtype=np.float32)
    mean = np.empty(num_classes, dtype=np.float32)
    total_loss = np.float64(0)
    for i in range(start, stop):
        mean[:] = zero
        for s in range(num_samples):
            largest = logits[s, i, 0]
            for c in range(1, num_classes):
                largest = max(largest, logits[s, i, c])
            total = zero
            for c in range(num_classes):
                shares[s, c] = exp(logits[s, i, c] - largest)
                total += shares[s, c]
            scale = one / total
            for c in range(num_classes):
                shares[s, c] *= scale
                mean[c] += shares[s, c]
        largest = zero
        for c in range(num_classes):
            largest = max(largest, mean[c])
        if largest < surest * np.float32(num_samples):
            gradient[:, i] = zero
            continue
        total = zero
        for c in range(num_classes):
            # Relative to the largest, so that no power vanishes.
            ratio = mean[c] / largest
            mean[c] = exp(np.log(ratio) / temperature) if ratio > zero else zero
            total += mean[c]
        for c in range(num_classes):
            mean[c] /= total
        loss = zero
        for s in range(num_samples):
            inner = zero
            for c in range(num_classes):
                apart = shares[s, c] - mean[c]
                loss += apart * apart
                inner += apart * shares[s, c]
            for c in range(num_classes):
                gradient[s, i, c] = two * shares[s, c] * (shares[s, c] - mean[c] - inner)
        total_loss += np.float64(loss)
    return float(total_loss)
