"""Cross-entropy of the softmax at some nodes: its value, hits and gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled


@compiled
def scores(logits: NDArray[np.float32], labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> tuple[float, int]:
    """Mean cross-entropy at the nodes, and how many of them are right."""
    loss, correct = 0.0, 0
    for a in range(nodes.size):
        row, label = logits[nodes[a]], labels[nodes[a]]
        best = 0
        for c in range(1, row.size):
            best = c if row[c] > row[best] else best
        total = np.float32(0)
        for c in range(row.size):
            total += np.exp(row[c] - row[best])
        loss += np.log(total) - (row[label] - row[best])
        correct += best == label
    return loss / nodes.size, correct


@compiled
def loss_and_gradient(
    logits: NDArray[np.float32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
    gradient: NDArray[np.float32],
) -> float:
    """The loss; its gradient is added to ``gradient``, so that a node given twice counts twice."""
    loss, weight = 0.0, np.float32(1) / np.float32(nodes.size)
    share = np.empty(logits.shape[1], dtype=np.float32)
    for a in range(nodes.size):
        row, label = logits[nodes[a]], labels[nodes[a]]
        largest = row[0]
        for c in range(1, row.size):
            largest = max(largest, row[c])
        total = np.float32(0)
        for c in range(row.size):
            share[c] = np.exp(row[c] - largest)
            total += share[c]
        loss += np.log(total) - (row[label] - largest)
        for c in range(row.size):
            gradient[nodes[a], c] += weight * share[c] / total
        gradient[nodes[a], label] -= weight
    return loss / nodes.size
