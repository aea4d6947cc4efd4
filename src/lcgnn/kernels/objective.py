"""Softmax, label-consistency aggregation, loss and gradient in two passes over the nodes.

The nodes are processed in blocks with the classes outermost, so that every loop over a block is a vector
operation, however few classes there are. Only labelled nodes are ever aggregated explicitly: the others enter
through the (C, C) class agreement and its gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn import consistency
from lcgnn.consistency import Reduction
from lcgnn.kernels import fused
from lcgnn.kernels.jit import compiled, exp

BLOCK = 256

# A product of this many factors, each at least float32's epsilon, does not underflow in float64:
# one logarithm serves them all.
_FACTORS_PER_LOG = 32


def label_consistency_loss(
    logits: Tensor, labels: Tensor, nodes: Tensor, weight: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """The loss of equation 4 straight from a base model's logits; see ``consistency.label_consistency_loss``."""
    if fused(logits):
        loss: Tensor = _LabelConsistencyLoss.apply(logits, labels, nodes, weight, reduction)  # type: ignore[no-untyped-call]
        return loss
    distribution = torch.softmax(logits, dim=1)
    return consistency.label_consistency_loss(distribution, labels, nodes, weight, reduction)


def label_consistency_scores(logits: Tensor, labels: Tensor, nodes: Tensor) -> tuple[float, int]:
    """Mean cross-entropy of the aggregated distribution at the nodes, and how many of them it gets right."""
    if fused(logits):
        blocks, agreement, totals = _distribution(logits)
        loss, correct = _score(blocks, agreement, totals, labels.numpy(), nodes.numpy())
        return loss, correct
    aggregated = consistency.aggregate(torch.softmax(logits, dim=1))
    loss = consistency.classification_loss(aggregated, labels, nodes).item()
    return loss, int((aggregated[nodes].argmax(dim=1) == labels[nodes]).sum())


def loss_and_gradient(
    logits: Tensor, labels: Tensor, nodes: Tensor, weight: float, reduction: Reduction
) -> tuple[float, Tensor]:
    """The fused loss and its gradient (N, C) by the logits, without autograd."""
    gradient = torch.empty(logits.shape)
    count = nodes.shape[0] if reduction == "mean" else 1
    loss = _loss(
        *_distribution(logits),
        labels.numpy(),
        nodes.numpy(),
        1.0 / count,
        weight / count**2,
        gradient.numpy(),
    )
    return loss, gradient


class _LabelConsistencyLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, labels: Tensor, nodes: Tensor, weight: float, reduction: Reduction
    ) -> Tensor:
        loss, gradient = loss_and_gradient(logits, labels, nodes, weight, reduction)
        ctx.save_for_backward(gradient)
        return torch.tensor(loss, dtype=torch.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_output, None, None, None, None


def _distribution(
    logits: Tensor,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Z in blocks (B, C, 256), the class agreement Z'Z (C, C) and the column sums of Z (C,)."""
    num_nodes, num_classes = logits.shape
    blocks = np.empty((-(-num_nodes // BLOCK), num_classes, BLOCK), dtype=np.float32)
    agreement = np.empty((num_classes, num_classes), dtype=np.float32)
    totals = np.empty(num_classes, dtype=np.float32)
    _softmax(logits.detach().contiguous().numpy(), blocks, agreement, totals)
    return blocks, agreement, totals


@compiled
def _softmax(
    logits: NDArray[np.float32],
    blocks: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
) -> None:
    num_nodes, num_classes = logits.shape
    # Sums over up to millions of nodes are kept in double precision.
    agreement_sum = np.zeros((num_classes, num_classes), dtype=np.float64)
    total_sum = np.zeros(num_classes, dtype=np.float64)
    row = np.empty(BLOCK, dtype=np.float32)
    for b in range(blocks.shape[0]):
        first = b * BLOCK
        size = min(BLOCK, num_nodes - first)
        block = blocks[b]
        for k in range(size):
            for c in range(num_classes):
                block[c, k] = logits[first + k, c]
        block[:, size:] = 0
        row[:] = block[0]
        for c in range(1, num_classes):
            for k in range(BLOCK):
                row[k] = max(row[k], block[c, k])
        for c in range(num_classes):
            for k in range(BLOCK):
                block[c, k] = exp(block[c, k] - row[k])
        row[:] = 0
        for c in range(num_classes):
            for k in range(BLOCK):
                row[k] += block[c, k]
        for k in range(BLOCK):
            row[k] = np.float32(1) / row[k]
        row[size:] = 0
        for c in range(num_classes):
            total = np.float32(0)
            for k in range(BLOCK):
                block[c, k] *= row[k]
                total += block[c, k]
            total_sum[c] += total
            for d in range(c + 1):
                product = np.float32(0)
                for k in range(BLOCK):
                    product += block[c, k] * block[d, k]
                agreement_sum[c, d] += product
    for c in range(num_classes):
        totals[c] = total_sum[c]
        for d in range(c + 1):
            agreement[c, d] = agreement[d, c] = agreement_sum[c, d]


@compiled
def _score(
    blocks: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> tuple[float, int]:
    num_classes, num_nodes = blocks.shape[1], nodes.size
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
    loss, correct = 0.0, 0
    for a in range(num_nodes):
        loss -= np.log(chosen[a] / normalizer[a] + np.finfo(np.float32).eps)
        correct += best[a] == labels[nodes[a]]
    return loss / num_nodes, correct


@compiled
def _gathered(blocks: NDArray[np.float32], nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """The (C, L) label distributions of some nodes, classes outermost."""
    distribution = np.empty((blocks.shape[1], nodes.size), dtype=np.float32)
    for a in range(nodes.size):
        block, k = blocks[nodes[a] // BLOCK], nodes[a] % BLOCK
        for c in range(blocks.shape[1]):
            distribution[c, a] = block[c, k]
    return distribution


@compiled
def _loss(
    blocks: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
    node_weight: float,
    pair_weight: float,
    gradient: NDArray[np.float32],
) -> float:
    """The loss; its gradient with respect to the logits is written to ``gradient``."""
    num_classes = blocks.shape[1]
    num_labelled = nodes.size
    distribution = _gathered(blocks, nodes)
    grad_distribution = np.zeros((num_classes, num_labelled), dtype=np.float32)
    grad_agreement = np.zeros((num_classes, num_classes), dtype=np.float32)
    grad_totals = np.zeros(num_classes, dtype=np.float32)
    loss = _classification(
        distribution,
        agreement,
        totals,
        labels[nodes],
        np.float32(node_weight),
        grad_distribution,
        grad_agreement,
        grad_totals,
    )
    if pair_weight != 0:
        loss += _regularization(distribution, labels[nodes], np.float32(pair_weight), grad_distribution)
    _all_nodes_gradient(blocks, grad_agreement, grad_totals, gradient)
    for a in range(num_labelled):
        mean = np.float32(0)
        for c in range(num_classes):
            mean += distribution[c, a] * grad_distribution[c, a]
        for c in range(num_classes):
            gradient[nodes[a], c] += distribution[c, a] * (grad_distribution[c, a] - mean)
    return loss


@compiled
def _classification(
    distribution: NDArray[np.float32],
    agreement: NDArray[np.float32],
    totals: NDArray[np.float32],
    labels: NDArray[np.int64],
    weight: np.float32,
    grad_distribution: NDArray[np.float32],
    grad_agreement: NDArray[np.float32],
    grad_totals: NDArray[np.float32],
) -> float:
    num_classes, num_labelled = distribution.shape
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


@compiled
def _regularization(
    distribution: NDArray[np.float32],
    labels: NDArray[np.int64],
    weight: np.float32,
    grad_distribution: NDArray[np.float32],
) -> float:
    num_classes, num_labelled = distribution.shape
    eps, zero, one = np.finfo(np.float32).eps, np.float32(0), np.float32(1)
    likelihood = np.empty(num_labelled, dtype=np.float32)
    slope = np.empty(num_labelled, dtype=np.float32)
    loss = 0.0
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
        for start in range(0, num_labelled, _FACTORS_PER_LOG):
            product = 1.0
            for b in range(start, min(start + _FACTORS_PER_LOG, num_labelled)):
                product *= likelihood[b]
            loss -= np.log(product)
        for c in range(num_classes):
            grad = zero
            for b in range(num_labelled):
                grad += slope[b] * distribution[c, b]
            grad_distribution[c, a] += np.float32(2) * weight * grad
    return float(loss * weight)


@compiled
def _all_nodes_gradient(
    blocks: NDArray[np.float32],
    grad_agreement: NDArray[np.float32],
    grad_totals: NDArray[np.float32],
    gradient: NDArray[np.float32],
) -> None:
    """What reaches every node's logits through the class agreement and the column sums."""
    num_nodes, num_classes = gradient.shape
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
