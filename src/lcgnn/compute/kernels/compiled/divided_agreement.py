"""Label consistency of nodes that are divided among threads: the loops of ``agreement``, a block of rows each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.backend import Constant
from lcgnn.compute.kernels.compiled.agreement import (
    _all_nodes_gradient,
    _classification,
    _gathered,
    _regularization,
    _softmax,
)
from lcgnn.compute.kernels.compiled.jit import compiled, value_of

Floats = NDArray[np.float32]


@compiled
def softmax_sums(classes: Constant, logits: Floats) -> tuple[Floats, Floats, Floats]:
    """Z in blocks of 256 nodes, as ``carry_back`` takes it, Z'Z (C, C) and the column sums of Z (C,)."""
    blocks, agreement, totals = _softmax(classes, logits)
    return blocks, agreement, totals


@compiled
def carry_back(
    classes: Constant, blocks: Floats, grad_agreement: Floats, grad_totals: Floats, gradient: Floats
) -> None:
    """Fill ``gradient`` (N, C) by the logits from the gradients by the class agreement and by the column sums."""
    _all_nodes_gradient(classes, blocks, grad_agreement, grad_totals, gradient)


@compiled
def loss_at(
    classes: Constant,
    logits: Floats,
    labels: NDArray[np.int32],
    agreement: Floats,
    totals: Floats,
    node_weight: float,
    pair_weight: float,
    grad_agreement: Floats,
    grad_totals: Floats,
    gradient: Floats,
) -> float:
    """The loss at labelled nodes with these logits (L, C).

    ``gradient`` (L, C) is filled with what comes to their logits directly, not through the class agreement and the
    column sums of all nodes, whose gradients are added to.
    """
    num_classes = value_of(classes, logits.shape[1])
    blocks, _, _ = _softmax(classes, logits)
    distribution = _gathered(blocks, np.arange(labels.size))
    grad_distribution = np.zeros_like(distribution)
    loss = _classification(
        classes,
        distribution,
        agreement,
        totals,
        labels,
        np.float32(node_weight),
        grad_distribution,
        grad_agreement,
        grad_totals,
    )
    if pair_weight != 0:
        loss += _regularization(classes, distribution, labels, np.float32(pair_weight), grad_distribution)
    for a in range(labels.size):
        mean = np.float32(0)
        for c in range(num_classes):
            mean += distribution[c, a] * grad_distribution[c, a]
        for c in range(num_classes):
            gradient[a, c] = distribution[c, a] * (grad_distribution[c, a] - mean)
    return loss
