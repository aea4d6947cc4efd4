"""What really happens to a node's answer when something is taken away and the models predict again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.assessment.changes import feature_slopes, trials_on, without_edges, without_features
from lcgnn.assessment.direction import isolated
from lcgnn.assessment.explanation import Change, ChangeKind, FeatureEffect, Neighbour
from lcgnn.features.names import FeatureNames
from lcgnn.graph import Graph
from lcgnn.methods.fitted import FittedNetwork

Floats: TypeAlias = NDArray[np.float32]
Item = TypeVar("Item")

# Of the trials that a graph allows: this share is for single features, whole columns and edges each.
_SHARE = 1 / 3
# An effect on a probability that is listed.
_TELLING = 1e-4
# Edges or features that are taken away together at most, before it is no small change any more.
_MOST_TOGETHER = 5


@dataclass(frozen=True, eq=False)
class Trials:
    """One node's answer, predicted again and again.

    Args:
        graph: The graph.
        node: The node.
        before: (C,) its answer.
        predict: (N, C) what is predicted for a graph.
        names: Of the features.
        shown: How many features, and how many changes of each kind, are kept.
    """

    graph: Graph
    node: int
    before: Floats
    predict: Callable[[Graph], Floats]
    names: FeatureNames
    shown: int

    @property
    def label(self) -> int:
        """The answer's class."""
        return int(self.before.argmax())

    @cached_property
    def _most(self) -> int:
        return max(int(_SHARE * trials_on(self.graph)), 1)

    def features(self, networks: Sequence[FittedNetwork]) -> tuple[tuple[FeatureEffect, tuple[int, ...]], ...]:
        """The features that matter most, the strongest first, with their numbers.

        Whole columns that are several features are among them, and then single ones, by gradient times input where
        there is a network to tell it, and the largest of the node's own where there is none.
        """
        found = []
        own = self._own_features()
        for name, numbers in [*self._columns(), *self._single(networks, own)]:
            after = self.predict(without_features(self.graph, numbers))[self.node, self.label]
            effect = float(self.before[self.label] - after)
            value = float(np.linalg.norm(own[list(numbers)]))
            if len(numbers) == 1:
                value = self.names.as_in_table(numbers[0], float(own[numbers[0]]))
            found.append((FeatureEffect(name, effect, value), tuple(numbers)))
        telling = [item for item in found if abs(item[0].effect) >= _TELLING]
        return tuple(sorted(telling, key=lambda item: -abs(item[0].effect))[: self.shown])

    def _columns(self) -> Iterator[tuple[str, list[int]]]:
        for name, start, width in self.names.columns[: self._most]:
            yield name, list(range(start, start + width))

    def _single(self, networks: Sequence[FittedNetwork], own: Floats) -> Iterator[tuple[str, list[int]]]:
        slopes = feature_slopes(networks, self.node, self.label) if networks else np.zeros(own.size)
        strength = np.abs(slopes) if slopes.any() else np.abs(own)
        for number in np.argsort(-strength, kind="stable")[: self._most].tolist():
            if strength[number]:
                yield self.names.names[number], [number]

    def _own_features(self) -> Floats:
        assert self.graph.features is not None
        row = self.graph.features[[self.node]]
        return np.asarray(row.toarray() if isinstance(row, csr_array) else row, dtype=np.float32).ravel()

    def edges(self, neighbours: Sequence[Neighbour]) -> tuple[Change, ...]:
        """What comes of taking away edges: each by itself, then several, those first that hold the answer most.

        Neighbours that have the answer's class come first, of which losing one is more likely to tell.
        """
        name = self.graph.class_names[self.label]
        tried = sorted(neighbours, key=lambda item: item.label != name)[: self._most]
        singles = [(self._without_edges([item]), item) for item in tried]
        changes = [change for change, _ in singles]
        if len(tried) > 1 and not any(change.flips for change in changes):
            ordered = [item for _, item in sorted(singles, key=lambda pair: self._hold(pair[0]), reverse=True)]
            changes += self._together(ordered, self._without_edges)
        return self._kept(changes)

    def of_features(self, features: Sequence[tuple[FeatureEffect, tuple[int, ...]]]) -> tuple[Change, ...]:
        """What comes of blotting out the features that speak for the answer, one and then several."""
        for_it = [item for item in features if item[0].effect > 0]
        changes = [self._without_features([item]) for item in for_it[:1]]
        if changes and not changes[0].flips:
            changes += self._together(for_it, self._without_features)
        return self._kept(changes)

    def _together(self, items: Sequence[Item], without: Callable[[list[Item]], Change]) -> list[Change]:
        """The first that flips of taking away two, three and more of them; the last one tried if none does."""
        change = None
        for count in range(2, min(len(items), _MOST_TOGETHER) + 1):
            change = without(list(items[:count]))
            if change.flips:
                break
        return [] if change is None else [change]

    def _kept(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Those that flip first, the smallest before the others, then those that come closest."""
        ordered = sorted(changes, key=lambda item: (not item.flips, len(item.nodes), self._hold(item) * -1))
        return tuple(ordered[: self.shown])

    def _hold(self, change: Change) -> float:
        """How much of the answer's probability a change takes."""
        return float(self.before[self.label]) - change.of_answer

    def _without_edges(self, others: Sequence[Neighbour]) -> Change:
        nodes = tuple(item.node for item in others)
        edges = "the edge" if len(nodes) == 1 else "the edges"
        what = f"without {edges} to {_listed([item.id for item in others])}"
        return self._change("edge", what, without_edges(self.graph, self.node, nodes), nodes)

    def _without_features(self, features: Sequence[tuple[FeatureEffect, tuple[int, ...]]]) -> Change:
        numbers = [number for _, of_one in features for number in of_one]
        what = f"without {_listed([effect.name for effect, _ in features])}"
        return self._change("feature", what, without_features(self.graph, numbers), ())

    def _change(self, kind: ChangeKind, what: str, graph: Graph, nodes: tuple[int, ...]) -> Change:
        return change_of(kind, what, self.graph, self.label, self.predict(graph)[self.node], nodes)


def change_of(
    kind: ChangeKind, what: str, graph: Graph, label: int, after: Floats, nodes: tuple[int, ...] = ()
) -> Change:
    """A change and the answer (C,) after it, where it was of a class before."""
    found = int(after.argmax())
    return Change(
        kind, what, graph.class_names[found], float(after[found]), found != label, float(after[label]), nodes
    )


def _listed(found: Sequence[str]) -> str:
    names = [isolated(name) for name in found]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
