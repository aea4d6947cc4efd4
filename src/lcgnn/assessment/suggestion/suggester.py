"""Which nodes of a graph to label next, with a reason for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, Suggestion, strategy
from lcgnn.assessment.suggestion.clusters import nearest
from lcgnn.assessment.suggestion.landscape import Landscape
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph

DEFAULT_STRATEGY = "spread"


class Suggester:
    """Suggests nodes of one graph again and again, as labels come in.

    What the graph and the features tell is computed once, when first asked for. The graph's own labels are never
    read: what is labelled is said with each question.

    Args:
        graph: The graph.
        strategy: A strategy's name, or one.
    """

    def __init__(self, graph: Graph, strategy: str | Strategy = DEFAULT_STRATEGY) -> None:
        self.landscape = Landscape(graph)
        self.strategy = _strategy(strategy)

    def suggest(
        self,
        labelled: ArrayLike,
        count: int,
        *,
        labels: ArrayLike | None = None,
        distribution: NDArray[np.float32] | None = None,
        excluded: ArrayLike = (),
        seed: int = 0,
    ) -> tuple[Suggestion, ...]:
        """The nodes to label next, the most useful first; fewer than asked for where no more are left.

        Args:
            labelled: (L,) nodes that have a label; none is suggested again.
            count: How many.
            labels: (L,) their classes.
            distribution: (N, C) what a model trained on the labels says of every node.
            excluded: Nodes that are not to be suggested, such as those that somebody skipped.
            seed: Of whatever is left to chance.
        """
        if count < 1:
            raise ConfigError(f"{count} suggestions asked for. Ask for 1 or more.")
        question = self._question(labelled, count, labels, distribution, excluded, seed)
        if not question.candidates.size:
            return ()
        chosen = self.strategy.choose(self.landscape, question)
        stands_for = self._stands_for(question, chosen)
        return tuple(
            Suggestion(node, self.strategy.reason(self.landscape, question, node, nodes), nodes)
            for node, nodes in zip(chosen.tolist(), stands_for.tolist(), strict=True)
        )

    def _question(
        self,
        labelled: ArrayLike,
        count: int,
        labels: ArrayLike | None,
        distribution: NDArray[np.float32] | None,
        excluded: ArrayLike,
        seed: int,
    ) -> Question:
        size = self.landscape.num_nodes
        known, left_out = _nodes(labelled, size, "labelled"), _nodes(excluded, size, "excluded")
        classes = None if labels is None else np.asarray(labels, dtype=np.int64)
        if classes is not None and classes.shape != known.shape:
            raise ConfigError(f"{classes.size} labels for {known.size} labelled nodes. Give one for each.")
        if distribution is not None and distribution.shape[0] != size:
            raise ConfigError(f"A distribution for {distribution.shape[0]:,} nodes; the graph has {size:,}.")
        free = np.ones(size, dtype=bool)
        free[known] = free[left_out] = False
        candidates = np.flatnonzero(free)
        return Question(min(count, candidates.size), candidates, known, classes, distribution, seed)

    def _stands_for(self, question: Question, chosen: Nodes) -> NDArray[np.int64]:
        """(count,) how many nodes without a label are nearest to each of the chosen ones."""
        places = self.landscape.smoothed
        centres = np.concatenate([chosen, question.labelled])
        unlabelled = np.ones(self.landscape.num_nodes, dtype=bool)
        unlabelled[question.labelled] = False
        closest = nearest(places, places[centres])[0]
        return np.bincount(closest[unlabelled], minlength=centres.size)[: chosen.size]


def _strategy(named: str | Strategy) -> Strategy:
    return named if isinstance(named, Strategy) else strategy(named)


def _nodes(given: ArrayLike | Sequence[Any], size: int, what: str) -> Nodes:
    nodes = np.asarray(given)
    if nodes.size == 0:
        return np.empty(0, dtype=np.int64)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= size:
        raise ConfigError(f"The {what} nodes must be a list of numbers from 0 to {size - 1}.")
    return nodes.astype(np.int64)
