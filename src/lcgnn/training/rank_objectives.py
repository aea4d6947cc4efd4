"""The three objectives over the nodes of all ranks.

Of every loss all ranks compute the whole, from the few labelled rows, which they gather, and from the (C, C)
class agreement, which they add up. The gradient of what was gathered or added is then known everywhere and stays
at home.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.kernels.objective import class_agreement
from lcgnn.errors import ConfigError
from lcgnn.training.objectives import AdjacencyAggregation, CrossEntropy, LabelConsistencyObjective, Objective


class Collectives(Protocol):
    """What the objectives need of the ranks."""

    @property
    def rank(self) -> int: ...

    def sum(self, tensor: Tensor) -> Tensor: ...

    def gather(self, rows: Tensor, counts: Sequence[int]) -> Tensor: ...

    def counts(self, count: int) -> list[int]: ...


def over_all_ranks(objective: Objective, world: Collectives) -> Objective:
    """The objective over all ranks' nodes, given the one over this rank's nodes."""
    if isinstance(objective, CrossEntropy):
        return RankCrossEntropy(world, objective.labels, objective.train)
    if isinstance(objective, LabelConsistencyObjective):
        return RankLabelConsistency(world, objective.labels, objective.train, objective)
    if isinstance(objective, AdjacencyAggregation):
        return RankAdjacencyAggregation(world, objective.labels, objective.train, objective)
    raise ConfigError(f"{type(objective).__name__} cannot be computed by several processes.")


@dataclass(frozen=True, eq=False)
class RankObjective(Objective):
    """What the three have in common: the training nodes of all ranks, scores added up over all ranks."""

    world: Collectives
    labels: Tensor
    train: Tensor

    @cached_property
    def counts(self) -> list[int]:
        """How many training nodes every rank has."""
        return self.world.counts(self.train.shape[0])

    @cached_property
    def train_labels(self) -> Tensor:
        """(L,) the labels of all ranks' training nodes."""
        return self.world.gather(self.labels[self.train], self.counts)

    def gathered(self, rows: Tensor) -> Tensor:
        """(L, C) the rows of all ranks' training nodes, in the order of ``train_labels``, given this rank's."""
        result: Tensor = _Gather.apply(rows, self.world, self.counts)  # type: ignore[no-untyped-call]
        return result

    @abstractmethod
    def log_likelihood(self, logits: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Logarithms (V,) of the probability of the nodes' own label, and the most probable label (V,)."""

    @torch.no_grad()
    def scores(self, logits: Tensor, nodes: Tensor) -> tuple[float, int]:
        log_likelihood, predicted = self.log_likelihood(logits, nodes)
        own_correct = int((predicted == self.labels[nodes]).sum())
        own = [-float(log_likelihood.double().sum()), own_correct, nodes.shape[0]]
        loss, correct, count = self.world.sum(torch.tensor(own, dtype=torch.float64)).tolist()
        return loss / count, int(correct)

    def _chosen(self, probabilities: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        own = probabilities.gather(1, self.labels[nodes, None]).view(-1)
        return consistency.safe_log(own), probabilities.argmax(dim=1)


@dataclass(frozen=True, eq=False)
class RankCrossEntropy(RankObjective):
    """``CrossEntropy`` over all ranks' nodes."""

    def loss(self, logits: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(self.gathered(logits[self.train]), self.train_labels)

    def log_likelihood(self, logits: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        chosen = torch.log_softmax(logits[nodes], dim=1)
        return chosen.gather(1, self.labels[nodes, None]).view(-1), chosen.argmax(dim=1)

    def distribution(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits, dim=1)


@dataclass(frozen=True, eq=False)
class RankLabelConsistency(RankObjective):
    """``LabelConsistencyObjective`` over all ranks' nodes."""

    settings: LabelConsistencyObjective

    def loss(self, logits: Tensor) -> Tensor:
        return logits.new_tensor(self.loss_and_gradient(logits)[0])

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        own_agreement, carry_back = class_agreement(logits)
        agreement = self.world.sum(own_agreement).requires_grad_()
        own = logits[self.train].detach().requires_grad_()
        with torch.enable_grad():
            loss = self._loss(self.gathered(torch.softmax(own, dim=1)), agreement)
        grad_agreement, grad_own = torch.autograd.grad(loss, (agreement, own))
        return loss.item(), carry_back(grad_agreement).index_add_(0, self.train, grad_own)

    def _loss(self, labelled: Tensor, agreement: Tensor) -> Tensor:
        """From all ranks' labelled rows (L, C) and the class agreement of all nodes."""
        aggregated = consistency.aggregate(labelled, agreement)
        every = torch.arange(labelled.shape[0], device=labelled.device)
        reduction = self.settings.reduction
        loss = consistency.classification_loss(aggregated, self.train_labels, every, reduction)
        if self.settings.weight:
            regularizer = consistency.regularization_loss(labelled, self.train_labels, reduction)
            loss = loss + self.settings.weight * regularizer
        return loss

    def log_likelihood(self, logits: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        distribution = torch.softmax(logits[nodes], dim=1)
        return self._chosen(consistency.aggregate(distribution, self._agreement(logits)), nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        return consistency.aggregate(torch.softmax(logits, dim=1), self._agreement(logits))

    def _agreement(self, logits: Tensor) -> Tensor:
        """The (C, C) class agreement of all ranks' nodes."""
        return self.world.sum(class_agreement(logits)[0])


@dataclass(frozen=True, eq=False)
class RankAdjacencyAggregation(RankObjective):
    """``AdjacencyAggregation`` over all ranks' nodes."""

    settings: AdjacencyAggregation

    def loss(self, logits: Tensor) -> Tensor:
        aggregated = self.gathered(self._aggregated(logits)[self.train])
        every = torch.arange(aggregated.shape[0], device=aggregated.device)
        return consistency.classification_loss(aggregated, self.train_labels, every)

    def log_likelihood(self, logits: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        return self._chosen(self._aggregated(logits)[nodes], nodes)

    def distribution(self, logits: Tensor) -> Tensor:
        return consistency.row_normalize(self._aggregated(logits))

    def _aggregated(self, logits: Tensor) -> Tensor:
        return self.settings.adjacency @ torch.softmax(logits, dim=1)


class _Gather(torch.autograd.Function):
    """All ranks' rows; each rank keeps its own rows' part of the gradient, which all of them know."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, world: Collectives, counts: list[int]) -> Tensor:
        ctx.own = world.rank, counts
        return world.gather(rows.contiguous(), counts)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        rank, counts = ctx.own
        return torch.split(grad_output, counts)[rank], None, None
