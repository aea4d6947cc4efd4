"""Attention scores of every node and head, and the gradient that comes back through them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.kernels.jit import compiled

NEGATIVE_SLOPE = 0.2


@compiled
def fill_scores(
    hidden: NDArray[np.float32],
    source_weight: NDArray[np.float32],
    target_weight: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> None:
    """Fill ``scores`` (2, R): how a row (R, D) scores when it is attended to, and when it attends."""
    num_rows, width = hidden.shape
    heads = source_weight.shape[0]
    for r in range(num_rows):
        h = r % heads
        source, target = np.float32(0), np.float32(0)
        for k in range(width):
            source += hidden[r, k] * source_weight[h, k]
            target += hidden[r, k] * target_weight[h, k]
        scores[0, r] = source
        scores[1, r] = target


@compiled
def add_score_gradients(
    hidden: NDArray[np.float32],
    grad_scores: NDArray[np.float32],
    source_weight: NDArray[np.float32],
    target_weight: NDArray[np.float32],
    grad_hidden: NDArray[np.float32],
    grad_source: NDArray[np.float32],
    grad_target: NDArray[np.float32],
) -> None:
    """Add what reaches the rows and the (H, D) weights through the scores' gradients (2, R)."""
    num_rows, width = hidden.shape
    heads = source_weight.shape[0]
    for r in range(num_rows):
        h = r % heads
        source, target = grad_scores[0, r], grad_scores[1, r]
        for k in range(width):
            value = hidden[r, k]
            grad_hidden[r, k] += source * source_weight[h, k] + target * target_weight[h, k]
            grad_source[h, k] += source * value
            grad_target[h, k] += target * value
