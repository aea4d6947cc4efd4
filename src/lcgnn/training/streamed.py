"""Objectives that read logits and write gradients a few rows at a time, for logits that live on disk.

Of label consistency a first pass over the rows gives the (C, C) class agreement Z'Z. Loss and gradient are then a
matter of the labelled rows and of that matrix, and a second pass carries the matrix's gradient back to all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.placement.in_turn import disk_tensor
from lcgnn.errors import ConfigError
from lcgnn.training.objectives import CrossEntropy, LabelConsistencyObjective, Objective

_ROWS = 2**16


def in_turn(objective: Objective) -> Objective:
    """The objective over logits that live on disk."""
    if isinstance(objective, LabelConsistencyObjective):
        return StreamedLabelConsistency(objective)
    if isinstance(objective, CrossEntropy):
        return StreamedCrossEntropy(objective)
    raise ConfigError(f"{type(objective).__name__} needs all logits in memory at once. Train without parts.")


@dataclass(frozen=True, eq=False)
class StreamedCrossEntropy(Objective):
    """``CrossEntropy``, rows at a time."""

    whole: CrossEntropy

    def loss(self, logits: Tensor) -> Tensor:
        return self.whole.loss(logits)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        train, labels = self.whole.train, self.whole.labels
        labelled = logits[train].requires_grad_()
        loss = torch.nn.functional.cross_entropy(labelled, labels[train])
        (grad_labelled,) = torch.autograd.grad(loss, labelled)
        return loss.item(), disk_tensor(*logits.shape).index_add_(0, train, grad_labelled)

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        return self.whole.scores(logits, nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        result = disk_tensor(*logits.shape)
        for rows in _blocks(logits):
            result[rows] = torch.softmax(logits[rows], dim=1)
        return result


@dataclass(frozen=True, eq=False)
class StreamedLabelConsistency(Objective):
    """``LabelConsistencyObjective``, rows at a time."""

    whole: LabelConsistencyObjective

    def loss(self, logits: Tensor) -> Tensor:
        return self._loss(torch.softmax(logits[self.whole.train], dim=1), _agreement(logits))

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        agreement = _agreement(logits).requires_grad_()
        labelled = logits[self.whole.train].requires_grad_()
        loss = self._loss(torch.softmax(labelled, dim=1), agreement)
        grad_labelled, grad_agreement = torch.autograd.grad(loss, (labelled, agreement))
        both = grad_agreement + grad_agreement.T
        gradient = disk_tensor(*logits.shape)
        for rows in _blocks(logits):
            distribution = torch.softmax(logits[rows], dim=1)
            grad = distribution @ both
            gradient[rows] = distribution * (grad - (distribution * grad).sum(dim=1, keepdim=True))
        return loss.item(), gradient.index_add_(0, self.whole.train, grad_labelled)

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        labels = self.whole.labels[nodes]
        aggregated = consistency.aggregate(torch.softmax(logits[nodes], dim=1), _agreement(logits))
        loss = consistency.classification_loss(aggregated, labels, torch.arange(labels.shape[0]))
        return loss.item(), int((aggregated.argmax(dim=1) == labels).sum())

    def distribution(self, logits: Tensor) -> Tensor:
        agreement, result = _agreement(logits), disk_tensor(*logits.shape)
        for rows in _blocks(logits):
            result[rows] = consistency.aggregate(torch.softmax(logits[rows], dim=1), agreement)
        return result

    def _loss(self, distribution: Tensor, agreement: Tensor) -> Tensor:
        """The loss from the labelled rows of Z and the class agreement of all."""
        whole = self.whole
        labels, every = whole.labels[whole.train], torch.arange(whole.train.shape[0])
        aggregated = consistency.aggregate(distribution, agreement)
        loss = consistency.classification_loss(aggregated, labels, every, whole.reduction)
        if whole.weight:
            loss = loss + whole.weight * consistency.regularization_loss(distribution, labels, whole.reduction)
        return loss


def _agreement(logits: Tensor) -> Tensor:
    """The (C, C) class agreement, added up in double precision."""
    total = torch.zeros(logits.shape[1], logits.shape[1], dtype=torch.float64)
    for rows in _blocks(logits):
        total += consistency.agreement(torch.softmax(logits[rows], dim=1))
    return total.to(logits.dtype)


def _blocks(logits: Tensor) -> Iterator[slice]:
    return (slice(first, first + _ROWS) for first in range(0, logits.shape[0], _ROWS))
