"""Where the rows of a graph live: all that networks, objectives and the training loop may ask of them.

Rows live whole in the memory of this process, reached from a few nodes, in turn on disk, or on ranks. What has to
be told between those who hold them is a sum, the few labelled rows, and the (C, C) class agreement (Theorem 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import ClassVar, Literal, Protocol, TypeAlias

import torch
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.kernels.attention import Neighbourhood
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout, derive_key
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.errors import ConfigError, DataError

Kind: TypeAlias = Literal["whole", "reached", "in turn", "on ranks"]
IN_WORDS: dict[Kind, str] = {
    "whole": "a whole graph",
    "reached": "a few nodes and what they reach",
    "in turn": "a graph whose parts are in memory in turn",
    "on ranks": "a graph whose parts are on ranks",
}
EVERYWHERE: frozenset[Kind] = frozenset(IN_WORDS)


class EdgeRows(Protocol):
    """Some rows of the normalised adjacency."""

    @property
    def columns(self) -> Tensor | None:
        """(M,) the nodes whose logits their product reads; None for all."""

    def softmax_product(self, logits: Tensor) -> Tensor:
        """(rows, C) their product with the softmax of all logits (N, C)."""


class Placement(ABC):
    """A graph as networks, objectives and the loop see it, wherever its rows live.

    What a placement cannot give it refuses with a ConfigError or a DataError in one line.
    """

    kind: ClassVar[Kind]

    alone: ClassVar[bool] = True
    """Whether no other process holds rows of the graph."""

    holds_all: ClassVar[bool] = False
    """Whether all rows of the graph are in this process's memory, where one kernel can read them."""

    device: torch.device

    # What networks ask.

    @property
    @abstractmethod
    def num_nodes(self) -> int:
        """The nodes whose rows are here."""

    @property
    @abstractmethod
    def num_features(self) -> int: ...

    @property
    @abstractmethod
    def num_classes(self) -> int: ...

    @property
    @abstractmethod
    def row_numbers(self) -> Tensor | None:
        """(N,) the nodes' numbers in the whole graph; None if they count from 0."""

    @property
    @abstractmethod
    def features(self) -> SparseMatrix | Tensor:
        """(N, F) sparse or dense, as the graph holds them."""

    @property
    @abstractmethod
    def adjacency(self) -> SparseMatrix:
        """(N, N) symmetrically normalised adjacency with self-loops."""

    @property
    @abstractmethod
    def neighbourhood(self) -> Neighbourhood:
        """Every node's neighbours and itself, for attention."""

    @property
    @abstractmethod
    def labels(self) -> Tensor:
        """(N,) with -1 where unknown."""

    @property
    def output_adjacency(self) -> SparseMatrix:
        """The adjacency of the last layer, whose result only has to be right where the logits are read."""
        return self.adjacency

    @property
    def output_neighbourhood(self) -> Neighbourhood:
        """The neighbourhood of the last layer, whose result only has to be right where the logits are read."""
        return self.neighbourhood

    @cached_property
    def propagated(self) -> Tensor:
        """(N, F) the normalised adjacency's product with dense features, which no epoch changes."""
        if not isinstance(self.features, Tensor):
            raise DataError("Sparse features are not propagated ahead of training: they would not stay sparse.")
        return self.adjacency.product(self.features)

    @property
    def links(self) -> csr_array:
        """(N, N) the edges as the graph has them, for networks that make a form of their own of them."""
        raise self.refused("This network reads the edges themselves, which")

    def dropout(self, rate: float, key: int | None, place: str | None = None) -> Dropout:
        """Dropout on rows that belong to the nodes, with the whole graph's masks; none without a key.

        Args:
            rate: Probability of zeroing.
            key: Of the training pass; None outside of training.
            place: Which of several places in a network this is, so that each has a mask of its own.
        """
        if key is None:
            return NO_DROPOUT
        return Dropout(rate, key if place is None else derive_key(key, place), self.row_numbers)

    # What objectives ask.

    @abstractmethod
    def edge_rows(self, nodes: Tensor) -> EdgeRows:
        """The nodes' rows of the normalised adjacency."""

    def agreement(self, logits: Tensor) -> Tensor:
        """(C, C) the class agreement of the softmax of everybody's logits, as a model keeps it."""
        return self.sum(consistency.agreement(torch.softmax(logits, dim=1)))

    def class_agreement(self, logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The same for training, and what carries its gradient (C, C) back to the logits (N, C) here."""

        def carry_back(gradient: Tensor) -> Tensor:
            both = gradient + gradient.T
            return self.by_rows(lambda rows: _softmax_gradient(rows, both), logits)

        return self.agreement(logits), carry_back

    def by_rows(self, function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        """``function(rows)`` for a function of every row (N, C) by itself, where the rows live."""
        return function(rows)

    def zeros(self, num_columns: int) -> Tensor:
        """(N, D) zeros where the rows live."""
        return torch.zeros(self.num_nodes, num_columns, device=self.device)

    def added(self, rows: Tensor, others: Tensor, factor: float) -> Tensor:
        """``rows``, to which others (N, D) times a factor were added where they live."""
        return rows.add_(others, alpha=factor)

    def scores(self, log_likelihood: Tensor, correct: Tensor) -> tuple[float, int]:
        """Mean negative log-likelihood and number right over everybody's nodes, given (V,) of each here."""
        return (-log_likelihood).mean().item(), int(correct.sum())

    # What they and the loop tell the others that hold rows; without others, what is here is all there is.

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum of everybody's tensor, outside of autograd."""
        return tensor

    def counts(self, count: int) -> list[int]:
        """Everybody's count, in order."""
        return [count]

    def total(self, count: int) -> int:
        """The sum of everybody's count."""
        return sum(self.counts(count))

    def gather(self, rows: Tensor, counts: Sequence[int]) -> Tensor:  # noqa: ARG002
        """Everybody's rows, ``counts`` of them, in order; the gradient of the rows from here comes back here."""
        return rows

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:  # noqa: B027
        """Replace every parameter's gradient by the sum of everybody's."""

    def refused(self, what: str) -> ConfigError:
        """That something cannot be had of rows that live like this, and what to do."""
        return ConfigError(f"{what} cannot be had of {IN_WORDS[self.kind]}. Train on the whole, without parts.")


def _softmax_gradient(logits: Tensor, by_agreement: Tensor) -> Tensor:
    """The gradient by some rows' logits of what depends on their softmax Z through Z'Z."""
    distribution = torch.softmax(logits, dim=1)
    gradient = distribution @ by_agreement
    return distribution * (gradient - (distribution * gradient).sum(dim=1, keepdim=True))
