"""What a network's logits are trained for: the three ways to get from logits to a label distribution.

An objective turns logits (N, C) into a loss at the training nodes, into scores at any nodes, and into the label
distribution that is finally reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import final

import torch
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.objective import (
    cross_entropy_gradient,
    cross_entropy_scores,
    label_consistency_gradient,
    label_consistency_loss,
    label_consistency_scores,
)
from lcgnn.compute.sparse import SelectedRows, SparseMatrix
from lcgnn.consistency import Reduction


class Objective(ABC):
    """The contract between the training loop and what is being optimised."""

    @abstractmethod
    def loss(self, logits: Tensor) -> Tensor:
        """What is minimised: a scalar that reads the labels of training nodes only."""

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        """The loss, and its gradient (N, C) by the logits."""
        leaf = logits.detach().requires_grad_()
        with torch.enable_grad():
            loss = self.loss(leaf)
        (gradient,) = torch.autograd.grad(loss, leaf)
        return loss.item(), gradient

    @abstractmethod
    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        """Mean cross-entropy at the nodes and how many of them are right."""

    @abstractmethod
    def distribution(self, logits: Tensor) -> Tensor:
        """The label distribution (N, C) that predictions are made from."""

    def loss_reads(self) -> Tensor | None:
        """The nodes whose logits the loss depends on; None for all."""
        return None

    def scores_read(self, nodes: Tensor) -> Tensor | None:  # noqa: ARG002
        """The nodes whose logits these nodes' scores depend on; None for all."""
        return None


@dataclass(frozen=True, eq=False)
class SoftmaxObjective(Objective):
    """What all objectives have in common whose label distribution is the softmax of the logits."""

    labels: Tensor
    train: Tensor

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """Mean over the training nodes."""
        return torch.nn.functional.cross_entropy(logits[self.train], self.labels[self.train])

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        return cross_entropy_scores(logits, self.labels, nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits, dim=1)


@final
class CrossEntropy(SoftmaxObjective):
    """The base models' objective: softmax and cross-entropy. Another loss is another ``SoftmaxObjective``."""

    def loss(self, logits: Tensor) -> Tensor:
        return self.cross_entropy(logits)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        if not fused(logits):
            return super().loss_and_gradient(logits)
        return cross_entropy_gradient(logits, self.labels, self.train)

    def loss_reads(self) -> Tensor:
        return self.train

    def scores_read(self, nodes: Tensor) -> Tensor:
        return nodes


@dataclass(frozen=True, eq=False)
class AdjacencyAggregation(Objective):
    r"""The paper's ablation without label consistency: :math:`\hat Z = \hat A Z`, cross-entropy.

    Rows of A-hat do not sum to one, and neither do those of A-hat Z: the loss takes them as they are, as the
    authors' code does, and only the reported distribution is normalised. Loss and scores look at a few nodes, so
    only these and their neighbours are computed.
    """

    labels: Tensor
    train: Tensor
    adjacency: SparseMatrix
    _rows: dict[int, tuple[Tensor, SelectedRows]] = field(default_factory=dict, init=False, repr=False)

    def loss(self, logits: Tensor) -> Tensor:
        return _cross_entropy_of(self._aggregated_at(self.train, logits), self.labels[self.train])

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        aggregated, labels = self._aggregated_at(nodes, logits), self.labels[nodes]
        loss = _cross_entropy_of(aggregated, labels).item()
        return loss, int((aggregated.argmax(dim=1) == labels).sum())

    def distribution(self, logits: Tensor) -> Tensor:
        return consistency.row_normalize(self.adjacency @ torch.softmax(logits, dim=1))

    def loss_reads(self) -> Tensor:
        return self._rows_of(self.train).columns

    def scores_read(self, nodes: Tensor) -> Tensor:
        return self._rows_of(nodes).columns

    def _rows_of(self, nodes: Tensor) -> SelectedRows:
        if id(nodes) not in self._rows:
            # The nodes are kept as well: as long as they live, no other tensor has their id.
            self._rows[id(nodes)] = (nodes, SelectedRows.of(self.adjacency.matrix, nodes))
        return self._rows[id(nodes)][1]

    def _aggregated_at(self, nodes: Tensor, logits: Tensor) -> Tensor:
        """(nodes, C) the rows of A-hat Z."""
        rows = self._rows_of(nodes)
        return rows.matrix @ torch.softmax(logits.index_select(0, rows.columns), dim=1)


def _cross_entropy_of(distribution: Tensor, labels: Tensor) -> Tensor:
    every = torch.arange(labels.shape[0], device=labels.device)
    return consistency.classification_loss(distribution, labels, every)


@final
@dataclass(frozen=True, eq=False)
class LabelConsistencyObjective(Objective):
    """The paper's objective: aggregation by agreement, cross-entropy and the pairwise regulariser."""

    labels: Tensor
    train: Tensor
    weight: float
    reduction: Reduction

    def loss(self, logits: Tensor) -> Tensor:
        return label_consistency_loss(logits, self.labels, self.train, self.weight, self.reduction)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        if not fused(logits):
            return super().loss_and_gradient(logits)
        return label_consistency_gradient(logits, self.labels, self.train, self.weight, self.reduction)

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        return label_consistency_scores(logits, self.labels, nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        return consistency.aggregate(torch.softmax(logits, dim=1))
