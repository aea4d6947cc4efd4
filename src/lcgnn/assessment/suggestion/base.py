"""What a strategy of choosing nodes to label is, and the registry that finds strategies by name."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion.landscape import Landscape
from lcgnn.errors import ConfigError
from lcgnn.sources.source import Progress, silent

Nodes = NDArray[np.int64]

# The probability from which on a model is called sure of a class.
SURE = 0.9
# And from which on it is called fairly sure.
_FAIRLY = 0.7


@dataclass(frozen=True)
class Suggestion:
    """A node that is worth labelling.

    Args:
        node: Its number.
        reason: Why, in a sentence.
        stands_for: About how many nodes without a label it is nearer to, by what they and their neighbours look
            like, than any labelled node or any other suggestion.
    """

    node: int
    reason: str
    stands_for: int


@dataclass(frozen=True, eq=False)
class Question:
    """What a strategy is asked.

    Args:
        count: How many nodes, at most as many as there are candidates.
        candidates: (K,) nodes that may be suggested, in order.
        labelled: (L,) nodes that have a label.
        labels: (L,) their classes, where the strategy may know them.
        distribution: (N, C) what a model that was trained on the labels says of every node; None for no model.
        seed: Of whatever is left to chance.
        progress: Told how far a strategy is.
        figures: Whether a reason says how probable the model's answer is.
    """

    count: int
    candidates: Nodes
    labelled: Nodes
    labels: Nodes | None = None
    distribution: NDArray[np.float32] | None = None
    seed: int = 0
    progress: Progress = silent
    figures: bool = True

    @cached_property
    def entropy(self) -> NDArray[np.float64] | None:
        """(K,) how unsure the model is of each candidate: 0 for sure, 1 for equal probabilities."""
        if self.distribution is None or self.distribution.shape[1] < 2:
            return None
        known = np.clip(self.distribution[self.candidates].astype(np.float64), 1e-12, 1.0)
        return np.asarray(-(known * np.log(known)).sum(axis=1) / np.log(known.shape[1]))


class Strategy(ABC):
    """A way to choose which nodes to label next; each is one file of this folder, and registers itself."""

    name: ClassVar[str]
    summary: ClassVar[str]

    asks_model: ClassVar[bool] = False
    """Whether what a model says of the nodes changes the choice, so that it pays to ask in batches."""

    version: ClassVar[int] = 1
    """Counted up by every change of what is chosen: records of what an older version chose do not count then."""

    @abstractmethod
    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        """The nodes, the first to be labelled first; as many as asked for, all of them candidates."""

    @abstractmethod
    def reason(self, landscape: Landscape, question: Question, node: int) -> str:
        """Why a chosen node was chosen, in a clause without an end; what it stands for is said after it."""


def first_by(scores: NDArray[Any], question: Question) -> Nodes:
    """The candidates with the highest scores, the best first, equals by their number."""
    order = np.argsort(-scores, kind="stable")
    return question.candidates[order[: question.count]]


def sureness(question: Question, node: int) -> str:
    """How sure the model is of a node, in words that go on from "the model is"."""
    assert question.distribution is not None
    likeliest = float(question.distribution[node].max())
    steps = (0.5, "unsure"), (_FAIRLY, "not sure"), (SURE, "fairly sure")
    words = next((words for below, words in steps if likeliest < below), "sure")
    if not question.figures:
        return words
    figure = f"no class has more than {likeliest:.0%}" if likeliest < 0.5 else f"{likeliest:.0%} for one class"
    return f"{words} ({figure})"


_REGISTRY: dict[str, type[Strategy]] = {}

StrategyClass = TypeVar("StrategyClass", bound=type[Strategy])


def register(name: str, summary: str) -> Callable[[StrategyClass], StrategyClass]:
    """Make a strategy known under a name: ``@register("degree", "The nodes with most neighbours.")``."""

    def add(strategy: StrategyClass) -> StrategyClass:
        if name in _REGISTRY and _REGISTRY[name].__qualname__ != strategy.__qualname__:
            raise ConfigError(f"There is a strategy {name!r} already.")
        strategy.name, strategy.summary = name, summary
        _REGISTRY[name] = strategy
        return strategy

    return add


def strategies() -> dict[str, type[Strategy]]:
    """All strategies by name."""
    return dict(sorted(_REGISTRY.items()))


def strategy(name: str) -> Strategy:
    """The strategy with a name; ConfigError says which there are."""
    if name not in _REGISTRY:
        close = difflib.get_close_matches(name, _REGISTRY, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise ConfigError(f"There is no strategy {name!r}.{meant} There are: {', '.join(strategies())}.")
    return _REGISTRY[name]()
