"""What a network's logits are trained for: the three ways to get from logits to a label distribution.

An objective turns logits (N, C) into a loss at the training nodes, into scores at any nodes, and into the label
distribution that is finally reported. Each is written once, over the labelled rows, for rows that live anywhere;
where all of them are in memory on a CPU a fused kernel gives the same in one pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, final

import torch
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.objective import (
    cross_entropy_gradient,
    cross_entropy_scores,
    label_consistency_gradient,
    label_consistency_scores,
)
from lcgnn.compute.placement.base import EVERYWHERE, EdgeRows, Kind, Placement
from lcgnn.consistency import Reduction
from lcgnn.limits import check_memory

# That autograd keeps of every pair of labels.
_BYTES_A_PAIR = 20


class Objective(ABC):
    """The contract between the training loop and what is being optimised."""

    runs_on: ClassVar[frozenset[Kind]] = EVERYWHERE
    """Where the rows may live."""

    extra_weight: float = 1.0
    """What a network's own extra loss counts beside this one."""

    @abstractmethod
    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        """What is minimised, reading the labels of training nodes only, and its gradient (N, C) by the logits."""

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
class LabelledObjective(Objective):
    """What all objectives have in common that are about the training nodes of whoever holds some.

    Args:
        graph: Where the rows live.
        train: (L,) the training nodes here.
    """

    graph: Placement
    train: Tensor

    @cached_property
    def train_labels(self) -> Tensor:
        """The labels of everybody's training nodes."""
        return self.graph.gather(self.graph.labels[self.train], self._counts)

    def gathered(self, rows: Tensor) -> Tensor:
        """The rows of all training nodes, in the order of ``train_labels``, given the rows of those here."""
        return self.graph.gather(rows, self._counts)

    @cached_property
    def _counts(self) -> list[int]:
        return self.graph.counts(self.train.shape[0])

    def _scores_of(self, distribution: Tensor, nodes: Tensor) -> tuple[float, int]:
        """The scores of what is said (V, C) of the nodes."""
        labels = self.graph.labels[nodes]
        log_likelihood = consistency.safe_log(distribution.gather(1, labels[:, None]).view(-1))
        return self.graph.scores(log_likelihood, distribution.argmax(dim=1) == labels)


class SoftmaxObjective(LabelledObjective):
    """What all objectives have in common whose label distribution is the softmax of the logits."""

    @abstractmethod
    def loss(self, logits: Tensor) -> Tensor:
        """What is minimised: a scalar that reads the labels of training nodes only."""

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        leaf = logits.detach().requires_grad_()
        with torch.enable_grad():
            loss = self.loss(leaf)
        (gradient,) = torch.autograd.grad(loss, leaf)
        return loss.item(), gradient

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """Mean over the training nodes."""
        return torch.nn.functional.cross_entropy(self.gathered(logits[self.train]), self.train_labels)

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        labels = self.graph.labels
        if self.graph.alone and fused(logits):
            return cross_entropy_scores(logits, labels, nodes)
        chosen, expected = torch.log_softmax(logits[nodes], dim=1), labels[nodes]
        log_likelihood = chosen.gather(1, expected[:, None]).view(-1)
        return self.graph.scores(log_likelihood, chosen.argmax(dim=1) == expected)

    def distribution(self, logits: Tensor) -> Tensor:
        return self.graph.by_rows(lambda rows: torch.softmax(rows, dim=1), logits)


@final
class CrossEntropy(SoftmaxObjective):
    """The base models' objective: softmax and cross-entropy. Another loss is another ``SoftmaxObjective``."""

    def loss(self, logits: Tensor) -> Tensor:
        return self.cross_entropy(logits)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        if self.graph.holds_all and fused(logits):
            return cross_entropy_gradient(logits, self.graph.labels, self.train)
        own = logits[self.train].detach().requires_grad_()
        with torch.enable_grad():
            loss = torch.nn.functional.cross_entropy(self.gathered(own), self.train_labels)
        (grad_own,) = torch.autograd.grad(loss, own)
        return loss.item(), self.graph.zeros(logits.shape[1]).index_add_(0, self.train, grad_own)

    def loss_reads(self) -> Tensor:
        return self.train

    def scores_read(self, nodes: Tensor) -> Tensor:
        return nodes


@dataclass(frozen=True, eq=False)
class JointCrossEntropy(SoftmaxObjective):
    """Cross-entropy of every answer of a network, beside the network's own extra loss.

    Args:
        class_weight: Of the cross-entropy.
        extra_weight: Of the extra loss.
    """

    class_weight: float = 1.0
    extra_weight: float = 1.0

    def loss(self, logits: Tensor) -> Tensor:
        return self.class_weight * self.cross_entropy(logits)


@dataclass(frozen=True, eq=False)
class AdjacencyAggregation(LabelledObjective):
    r"""The paper's ablation without label consistency: :math:`\hat Z = \hat A Z`, cross-entropy.

    Rows of A-hat do not sum to one, and neither do those of A-hat Z: the loss takes them as they are, as the
    authors' code does, and only the reported distribution is normalised. Loss and scores look at a few nodes, so
    only these and their neighbours are computed.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "on ranks"})

    _rows: dict[int, tuple[Tensor, EdgeRows]] = field(default_factory=dict, init=False, repr=False)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        leaf = logits.detach().requires_grad_()
        with torch.enable_grad():
            aggregated = self.gathered(self._rows_of(self.train).softmax_product(leaf))
            every = torch.arange(aggregated.shape[0], device=aggregated.device)
            loss = consistency.classification_loss(aggregated, self.train_labels, every)
        (gradient,) = torch.autograd.grad(loss, leaf)
        return loss.item(), gradient

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        return self._scores_of(self._rows_of(nodes).softmax_product(logits), nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        return consistency.row_normalize(self.graph.adjacency @ torch.softmax(logits, dim=1))

    def loss_reads(self) -> Tensor | None:
        return self._rows_of(self.train).columns

    def scores_read(self, nodes: Tensor) -> Tensor | None:
        return self._rows_of(nodes).columns

    def _rows_of(self, nodes: Tensor) -> EdgeRows:
        if id(nodes) not in self._rows:
            # The nodes are kept as well: as long as they live, no other tensor has their id.
            self._rows[id(nodes)] = (nodes, self.graph.edge_rows(nodes))
        return self._rows[id(nodes)][1]


@final
@dataclass(frozen=True, eq=False)
class LabelConsistencyObjective(LabelledObjective):
    """The paper's objective: aggregation by agreement, cross-entropy and the pairwise regulariser.

    All of it is a matter of the labelled rows and of the (C, C) class agreement of all nodes; what comes back to
    the other rows is the gradient of that matrix.

    Args:
        weight: Of the regulariser, the paper's lambda.
        reduction: Mean or sum over nodes and over pairs.
        cross_entropy_weight: Of the base's cross-entropy beside it; the paper has none of it.
        balanced: Whether every class counts the same in the class agreement; not in the paper.
    """

    weight: float
    reduction: Reduction
    cross_entropy_weight: float = 0.0
    balanced: bool = False

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        loss, gradient = self._consistency(logits)
        if not self.cross_entropy_weight:
            return loss, gradient
        base_loss, base_gradient = CrossEntropy(self.graph, self.train).loss_and_gradient(logits)
        weight = self.cross_entropy_weight
        return loss + weight * base_loss, self.graph.added(gradient, base_gradient, weight)

    def _consistency(self, logits: Tensor) -> tuple[float, Tensor]:
        """The paper's loss and its gradient."""
        if self._is_fused(logits):
            labels = self.graph.labels
            return label_consistency_gradient(logits, labels, self.train, self.weight, self.reduction)
        class_agreement, carry_back = self.graph.class_agreement(logits)
        class_agreement.requires_grad_()
        own = logits[self.train].detach().requires_grad_()
        with torch.enable_grad():
            loss = self._loss(self.gathered(torch.softmax(own, dim=1)), class_agreement)
        grad_agreement, grad_own = torch.autograd.grad(loss, (class_agreement, own))
        return loss.item(), carry_back(grad_agreement).index_add_(0, self.train, grad_own)

    def _loss(self, labelled: Tensor, class_agreement: Tensor) -> Tensor:
        """From the labelled rows of Z (L, C) and the class agreement of all."""
        aggregated = consistency.aggregate(labelled, self.weighed(class_agreement))
        every = torch.arange(labelled.shape[0], device=labelled.device)
        loss = consistency.classification_loss(aggregated, self.train_labels, every, self.reduction)
        if self.weight:
            count = labelled.shape[0]
            check_memory(f"The regulariser over all pairs of {count:,} labels", _BYTES_A_PAIR * count**2)
            pairs = consistency.regularization_loss(labelled, self.train_labels, self.reduction)
            loss = loss + self.weight * pairs
        return loss

    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        if self._is_fused(logits):
            return label_consistency_scores(logits, self.graph.labels, nodes)
        class_agreement = self.weighed(self.graph.class_agreement(logits)[0])
        return self._scores_of(consistency.aggregate(torch.softmax(logits[nodes], dim=1), class_agreement), nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        class_agreement = self.weighed(self.graph.class_agreement(logits)[0])
        return self.graph.by_rows(
            lambda rows: consistency.aggregate(torch.softmax(rows, dim=1), class_agreement), logits
        )

    def weighed(self, class_agreement: Tensor) -> Tensor:
        """The class agreement (C, C) as nodes are aggregated with it."""
        return consistency.balanced(class_agreement) if self.balanced else class_agreement

    def _is_fused(self, logits: Tensor) -> bool:
        return not self.balanced and self.graph.holds_all and fused(logits)
