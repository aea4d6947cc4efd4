"""A labeller who is simulated: nodes are suggested, and the true label is told of these and of no others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion import Landscape, Suggester, strategy
from lcgnn.errors import DataError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import Method, create
from lcgnn.methods.base import OWN_GRAPH

Nodes = NDArray[np.int64]
_NONE = np.empty(0, dtype=np.int64)


def suggested_split(graph: Graph, *, by: str, labels: int, seed: int) -> Split:
    """So many labels of suggested nodes to train on; all other labelled nodes are tested on.

    A strategy that asks the model suggests a class's worth at a time (as many nodes as there are classes), after
    which the model is trained again on what was told; the others suggest all at once. Nodes whose true label is
    not known are never suggested.

    Args:
        graph: With the true labels; those that are not suggested are read for the test alone.
        by: The strategy's name.
        labels: How many.
        seed: Of what is left to chance, in suggesting and in training.
    """
    known = graph.labelled
    if not 2 <= labels < known.size:
        raise DataError(
            f"{graph.name}: {labels:,} labels asked for, and {known.size:,} can be told. Ask for 2 to "
            f"{known.size - 1:,}."
        )
    told = _told(_Labeller(graph.checksum, by, seed, graph), labels)
    name = f"suggested by {by}, {labels} labels, seed {seed}"
    return Split(np.sort(told), _NONE, np.setdiff1d(known, told), name, chosen=True)


def consulted() -> Method:
    """The model that strategies ask between batches: LC-GCN as on a graph of one's own, with fewer epochs.

    It keeps the last epoch, because no label is left to choose one by.
    """
    return create("lc-gcn", OWN_GRAPH, selection="last", base_stop_window=0, epochs=300)


@dataclass(frozen=True)
class _Labeller:
    """Who answers the suggestions of a strategy about a graph; equal if the answers are."""

    checksum: str
    strategy: str
    seed: int
    graph: Graph = field(compare=False)

    @cached_property
    def suggester(self) -> Suggester:
        return Suggester(_landscape(_Held(self.checksum, self.graph)), self.strategy)

    @cached_property
    def never(self) -> Nodes:
        """Nodes whose label nobody knows."""
        return np.flatnonzero(self.graph.labels == UNLABELLED)

    def answer(self, before: Nodes, count: int, distribution: NDArray[np.float32] | None) -> Nodes:
        """The nodes told before and so many suggested ones.

        From labels of one class nothing is learnt: as long as there is only one, the last node gives way to
        the next suggestion.
        """
        told, given_up = before, _NONE
        while told.size < before.size + count:
            found = self.suggester.suggest(
                told,
                before.size + count - told.size,
                labels=self.graph.labels[told],
                distribution=distribution,
                excluded=np.concatenate([self.never, given_up]),
                seed=self.seed,
            )
            told = np.concatenate([told, [item.node for item in found]])
            if np.unique(self.graph.labels[told]).size < 2:
                told, given_up = told[:-1], np.append(given_up, told[-1])
        return told


@dataclass(frozen=True)
class _Held:
    """A graph that equals every other with its checksum: processes that carry out runs get copies."""

    checksum: str
    graph: Graph = field(compare=False)


@lru_cache(maxsize=4)
def _landscape(held: _Held) -> Landscape:
    return Landscape(held.graph)


@lru_cache(maxsize=128)
def _told(labeller: _Labeller, labels: int) -> Nodes:
    """(labels,) the nodes in the order in which they were suggested.

    Larger budgets begin with the batches of smaller ones, which are remembered.
    """
    batch = labeller.graph.num_classes
    if not strategy(labeller.strategy).asks_model or labels <= batch:
        return labeller.answer(_NONE, labels, None)
    before = _told(labeller, (labels - 1) // batch * batch)
    split = Split(np.sort(before), _NONE, _NONE, "told so far")
    fit = consulted().fit(labeller.graph, split, labeller.seed)
    return labeller.answer(before, labels - before.size, fit.label_distribution)
