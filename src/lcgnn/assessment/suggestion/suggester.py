"""Which nodes of a graph to label next, with a reason for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, Suggestion, strategy
from lcgnn.assessment.suggestion.clusters import nearest
from lcgnn.assessment.suggestion.landscape import Landscape
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph
from lcgnn.sources.source import Progress, silent

DEFAULT_STRATEGY = "spread"

# Squared distances at unit length up to which there is only rounding between two places.
_SAME_PLACE = 1e-6


class Suggester:
    """Suggests nodes of one graph again and again, as labels come in.

    What the graph and the features tell is computed once, when first asked for. The graph's own labels are never
    read: what is labelled is said with each question.

    Args:
        graph: The graph, or its landscape, for several strategies to share.
        strategy: A strategy's name, or one.
    """

    def __init__(self, graph: Graph | Landscape, strategy: str | Strategy = DEFAULT_STRATEGY) -> None:
        self.landscape = graph if isinstance(graph, Landscape) else Landscape(graph)
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
        progress: Progress = silent,
        figures: bool = True,
    ) -> tuple[Suggestion, ...]:
        """The nodes to label next, the most useful first; fewer than asked for where no more are left.

        Args:
            labelled: (L,) nodes that have a label; none is suggested again.
            count: How many.
            labels: (L,) their classes.
            distribution: (N, C) what a model trained on the labels says of every node.
            excluded: Nodes that are not to be suggested, such as those that somebody skipped.
            seed: Of whatever is left to chance.
            progress: Told how far it is.
            figures: Whether reasons say how probable the model's answers are.
        """
        if count < 1:
            raise ConfigError(f"{count} suggestions asked for. Ask for 1 or more.")
        asked = self._question(labelled, count, labels, distribution, excluded)
        question = replace(asked, seed=seed, progress=progress, figures=figures)
        if not question.candidates.size:
            return ()
        progress("placing the nodes", 0, 1)
        _ = self.landscape.places
        progress("placing the nodes", 1, 1)
        chosen = self.strategy.choose(self.landscape, question)
        stands_for = self._stands_for(question, chosen)
        return tuple(
            Suggestion(node, self._reason(question, node, nodes), nodes)
            for node, nodes in zip(chosen.tolist(), stands_for.tolist(), strict=True)
        )

    def _reason(self, question: Question, node: int, stands_for: int) -> str:
        clauses = (
            self.strategy.reason(self.landscape, question, node),
            _stands_for_in_words(stands_for, bool(question.labelled.size)),
        )
        text = "; ".join(clause for clause in clauses if clause)
        return f"{text[0].upper()}{text[1:]}."

    def _question(
        self,
        labelled: ArrayLike,
        count: int,
        labels: ArrayLike | None,
        distribution: NDArray[np.float32] | None,
        excluded: ArrayLike,
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
        return Question(min(count, candidates.size), candidates, known, classes, distribution)

    def _stands_for(self, question: Question, chosen: Nodes) -> NDArray[np.int64]:
        """(count,) how many nodes without a label are nearest to each of the chosen ones."""
        places = self.landscape.places
        closest, distance = nearest(places, places[chosen])
        beside_labels = self.landscape.distance_from(question.labelled)
        # A node that lies where a labelled one does is near it, however near the chosen one is.
        alone = (distance < beside_labels) & (beside_labels > _SAME_PLACE)
        return np.bincount(closest[alone], minlength=chosen.size)


def _stands_for_in_words(count: int, beside_labels: bool) -> str:
    if count <= 1:
        return "stands for itself alone"
    # Two digits are all that such a number is worth.
    digits = max(len(str(count)) - 2, 0)
    about = f"stands for about {round(count, -digits):,} nodes"
    return f"{about} that nothing labelled is near" if beside_labels else about


def _strategy(named: str | Strategy) -> Strategy:
    return named if isinstance(named, Strategy) else strategy(named)


def _nodes(given: ArrayLike | Sequence[Any], size: int, what: str) -> Nodes:
    nodes = np.asarray(given)
    if nodes.size == 0:
        return np.empty(0, dtype=np.int64)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= size:
        raise ConfigError(f"The {what} nodes must be a list of numbers from 0 to {size - 1}.")
    return nodes.astype(np.int64)
