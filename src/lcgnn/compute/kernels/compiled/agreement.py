"""The compiled loops behind label consistency: softmax, class agreement, loss and gradient over blocks of nodes.

The nodes are processed in blocks with the classes outermost, so that every loop over a block is a vector
operation, however few classes there are. ``classes`` carries their number as a constant to the compiler.

Every pass is a kernel of its own, which loss and scores share: compiled into each of them, the first pass alone
would take the compiler seconds for every number of classes. What a pass writes to it makes itself, so that the
compiler knows that no two of its arrays overlap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.backend import Constant
from lcgnn.compute.kernels.compiled.jit import compiled, exp, inlined, value_of

BLOCK = 256

# One logarithm serves a product of many factors. Each is at least float32's epsilon, so that this many of them
# times anything above the bound do not underflow in float64.
_FACTORS = 32
_BOUND = 1e-80


@compiled
def softmax(
    classes: Constant, logits: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Z in blocks (B, C, 256), the class agreement Z'Z (C, C) and the column sums of Z (C,)."""
    num_nodes, num_classes = logits.shape[0], value_of(classes, logits.shape[1])
    # Sums over up to millions of nodes are kept in double precision.
    agreement_sum = np.zeros((num_classes, num_classes), dtype=np.float64)
    total_sum = np.zeros(num_classes, dtype=np.float64)
    blocks = np.empty((-(-num_nodes // BLOCK), num_classes, BLOCK), dtype=np.float32)
    row = np.empty(BLOCK, dtype=np.float32)
    for b in range(blocks.shape[0]):
        first = b * BLOCK
        size = min(BLOCK, num_nodes - first)
        block = blocks[b]
        for k in range(size):
            for c in range(num_classes):
                block[c, k] = logits[first + k, c]
        block[:, size:] = 0
        for k in range(BLOCK):
            largest = block[0, k]
            for c in range(1, num_classes):
                largest = max(largest, block[c, k])
            row[k] = largest
        for c in range(num_classes):
            for k in range(BLOCK):
                block[c, k] = exp(block[c, k] - row[k])
        for k in range(BLOCK):
            total = np.float32(0)
            for c in range(num_classes):
                total += block[c, k]
            row[k] = np.float32(1) / total
        row[size:] = 0
        for c in range(num_classes):
            total = np.float32(0)
            for k in range(BLOCK):
                block[c, k] *= row[k]
                total += block[c, k]
            total_sum[c] += total
        for c in range(num_classes):
            for d in range(c + 1):
                product = np.float32(0)
                for k in range(BLOCK):
                    product += block[c, k] * block[d, k]
                agreement_sum[c, d] += product
    for c in range(num_classes):
        for d in range(c):
            agreement_sum[d, c] = agreement_sum[c, d]
    return blocks, agreement_sum.astype(np.float32), total_sum.astype(np.float32)


@inlined
def _gathered(blocks: NDArray[np.float32], nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """The (C, L) label distributions of some nodes, classes outermost."""
    distribution = np.empty((blocks.shape[1], nodes.size), dtype=np.float32)
    for a in range(nodes.size):
        block, k = blocks[nodes[a] // BLOCK], nodes[a] % BLOCK
        for c in range(blocks.shape[1]):
            distribution[c, a] = block[c, k]
    return distribution


@compiled
def scores(
    classes: Constant,
    blocks: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> tuple[float, int]:
    """Mean cross-entropy of the aggregated distribution at some nodes, and how many of them it gets right."""
    num_classes, num_nodes = value_of(classes, blocks.shape[1]), nodes.size
    distribution = _gathered(blocks, nodes)
    normalizer = np.zeros(num_nodes, dtype=np.float32)
    largest = np.full(num_nodes, -1, dtype=np.float32)
    best = np.zeros(num_nodes, dtype=np.int32)
    chosen = np.zeros(num_nodes, dtype=np.float32)
    score = np.empty(num_nodes, dtype=np.float32)
    for c in range(num_classes):
        score[:] = 0
        for d in range(num_classes):
            factor = agreement[d, c]
            for a in range(num_nodes):
                score[a] += factor * distribution[d, a]
        total = totals[c]
        for a in range(num_nodes):
            normalizer[a] += total * distribution[c, a]
            best[a] = c if score[a] > largest[a] else best[a]
            largest[a] = max(largest[a], score[a])
        for a in range(num_nodes):
            if labels[nodes[a]] == c:
                chosen[a] = score[a]
    loss, product, correct = 0.0, 1.0, 0
    for a in range(num_nodes):
        product *= chosen[a] / normalizer[a] + np.finfo(np.float32).eps
        if product < _BOUND:
            loss -= np.log(product)
            product = 1.0
        correct += best[a] == labels[nodes[a]]
    return (loss - np.log(product)) / num_nodes, correct


@compiled
def loss_and_gradients(
    classes: Constant,
    blocks: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
    node_weight: float,
    pair_weight: float,
) -> tuple[float, NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The loss at L nodes, their distribution (C, L), and the gradients by that, by agreement and by totals."""
    num_classes, num_labelled = value_of(classes, blocks.shape[1]), nodes.size
    distribution = _gathered(blocks, nodes)
    known = labels[nodes].astype(np.int32)
    grad_distribution = np.zeros((num_classes, num_labelled), dtype=np.float32)
    grad_agreement = np.zeros((num_classes, num_classes), dtype=np.float32)
    grad_totals = np.zeros(num_classes, dtype=np.float32)
    loss = _classification(
        classes,
        distribution,
        agreement,
        totals,
        known,
        np.float32(node_weight),
        grad_distribution,
        grad_agreement,
        grad_totals,
    )
    if pair_weight != 0:
        loss += _regularization(classes, distribution, known, np.float32(pair_weight), grad_distribution)
    return loss, distribution, grad_distribution, grad_agreement, grad_totals


@inlined
def _classification(
    classes: Constant,
    distribution: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
    labels: NDArray[np.int32],
    weight: np.float32,
    grad_distribution: NDArray[np.float32],
    grad_agreement: NDArray[np.float32],
    grad_totals: NDArray[np.float32],
) -> float:
    num_classes, num_labelled = value_of(classes, distribution.shape[0]), distribution.shape[1]
    eps = np.finfo(np.float32).eps
    loss = 0.0
    for a in range(num_labelled):
        y = labels[a]
        score, normalizer = np.float32(0), np.float32(0)
        for c in range(num_classes):
            score += distribution[c, a] * agreement[c, y]
            normalizer += distribution[c, a] * totals[c]
        probability = score / normalizer
        loss -= np.log(probability + eps)
        grad_score = -weight / ((probability + eps) * normalizer)
        grad_normalizer = -grad_score * probability
        for c in range(num_classes):
            z = distribution[c, a]
            grad_distribution[c, a] += grad_score * agreement[c, y] + grad_normalizer * totals[c]
            grad_agreement[c, y] += grad_score * z
            grad_totals[c] += grad_normalizer * z
    return float(loss * weight)


@inlined
def _regularization(
    classes: Constant,
    distribution: NDArray[np.float32],
    labels: NDArray[np.int32],
    weight: np.float32,
    grad_distribution: NDArray[np.float32],
) -> float:
    num_classes, num_labelled = value_of(classes, distribution.shape[0]), distribution.shape[1]
    eps, zero, one = np.finfo(np.float32).eps, np.float32(0), np.float32(1)
    likelihood = np.empty(num_labelled, dtype=np.float32)
    slope = np.empty(num_labelled, dtype=np.float32)
    loss, product = 0.0, 1.0
    for a in range(num_labelled):
        likelihood[:] = 0
        for c in range(num_classes):
            z = distribution[c, a]
            for b in range(num_labelled):
                likelihood[b] += z * distribution[c, b]
        for b in range(num_labelled):
            same = labels[b] == labels[a]
            value = likelihood[b] if same else one - likelihood[b]
            likelihood[b] = max(value, zero) + eps
            sign = -one if same else one
            slope[b] = sign / likelihood[b] if value >= zero else zero
        for start in range(0, num_labelled, _FACTORS):
            factors = 1.0
            for b in range(start, min(start + _FACTORS, num_labelled)):
                factors *= likelihood[b]
            product *= factors
            if product < _BOUND:
                loss -= np.log(product)
                product = 1.0
        for c in range(num_classes):
            grad = zero
            for b in range(num_labelled):
                grad += slope[b] * distribution[c, b]
            grad_distribution[c, a] += np.float32(2) * weight * grad
    return float((loss - np.log(product)) * weight)


@compiled
def logits_gradient(
    classes: Constant,
    blocks: NDArray[np.float32],
    grad_agreement: NDArray[np.float32],
    grad_totals: NDArray[np.float32],
    nodes: NDArray[np.int64],
    distribution: NDArray[np.float32],
    grad_distribution: NDArray[np.float32],
    gradient: NDArray[np.float32],
) -> None:
    """Fill ``gradient`` (N, C) by the logits.

    Args:
        classes: Their number.
        blocks: (B, C, 256) of all nodes.
        grad_agreement: (C, C) the gradient by the class agreement.
        grad_totals: (C,) by the column sums.
        nodes: (L,) that have a gradient of their own; none for an empty array.
        distribution: (C, L) of these.
        grad_distribution: (C, L) by these.
        gradient: (N, C).
    """
    num_nodes, num_classes = gradient.shape[0], value_of(classes, gradient.shape[1])
    both = grad_agreement + grad_agreement.T
    grad_block = np.empty((num_classes, BLOCK), dtype=np.float32)
    mean = np.empty(BLOCK, dtype=np.float32)
    for b in range(blocks.shape[0]):
        block = blocks[b]
        mean[:] = 0
        for c in range(num_classes):
            grad_block[c] = grad_totals[c]
            for d in range(num_classes):
                factor = both[c, d]
                for k in range(BLOCK):
                    grad_block[c, k] += factor * block[d, k]
            for k in range(BLOCK):
                mean[k] += block[c, k] * grad_block[c, k]
        for c in range(num_classes):
            for k in range(BLOCK):
                grad_block[c, k] = block[c, k] * (grad_block[c, k] - mean[k])
        first = b * BLOCK
        for k in range(min(BLOCK, num_nodes - first)):
            for c in range(num_classes):
                gradient[first + k, c] = grad_block[c, k]
    for a in range(nodes.size):
        of_node = np.float32(0)
        for c in range(num_classes):
            of_node += distribution[c, a] * grad_distribution[c, a]
        for c in range(num_classes):
            gradient[nodes[a], c] += distribution[c, a] * (grad_distribution[c, a] - of_node)
