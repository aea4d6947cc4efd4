"""Which label every node has at a moment: those of the tables, and over them what was given on the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcgnn.graph import UNLABELLED
from lcgnn.labelling.opening import Opened
from lcgnn.labelling.training import Job
from lcgnn.sources.tables.ledger import GivenLabels


@dataclass(frozen=True, eq=False)
class Labels:
    """All labels at a moment.

    Args:
        class_names: Of all classes, with and without labels.
        labels: (N,) class of every node, -1 where it has none.
        skipped: Nodes that are not to be asked for again.
        unsure: Nodes that nobody can tell.
        gone: How many lines of the ledger are of nodes that are not in the graph.
    """

    class_names: tuple[str, ...]
    labels: NDArray[np.int64]
    skipped: tuple[int, ...]
    unsure: tuple[int, ...]
    gone: int

    @classmethod
    def of(cls, opened: Opened, given: GivenLabels) -> Labels:
        """What the tables say, and over it what the ledger comes to."""
        names = given.classes
        place = {name: number for number, name in enumerate(names)}
        graph = opened.graph
        # The last entry is what -1 stands for.
        of_tables = np.array([place[given.class_of(number)] for number in range(graph.num_classes)] + [UNLABELLED])
        labels = of_tables[graph.labels]
        said: dict[str, list[int]] = {"skip": [], "unsure": []}
        gone = 0
        for name, answer in given.nodes.items():
            node = opened.numbers.get(name)
            if node is None:
                gone += 1
            elif answer.kind == "label":
                labels[node] = place[given.class_of(answer.number)]
            else:
                said[answer.kind].append(node)
                labels[node] = UNLABELLED if answer.kind == "unsure" else labels[node]
        return cls(names, labels, tuple(said["skip"]), tuple(said["unsure"]), gone)

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The labelled nodes, in order."""
        return np.flatnonzero(self.labels != UNLABELLED)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(C,) labels of each class."""
        return np.bincount(self.labels[self.nodes], minlength=len(self.class_names))

    def is_open(self, node: int) -> bool:
        """Whether nothing was said of a node yet."""
        return bool(self.labels[node] < 0) and node not in self._said

    @cached_property
    def _said(self) -> frozenset[int]:
        return frozenset((*self.skipped, *self.unsure))

    def job(self, number: int) -> Job | None:
        """What there is to learn from; None for fewer than two classes."""
        present = np.flatnonzero(self.counts)
        if present.size < 2:
            return None
        nodes = self.nodes
        names = tuple(self.class_names[label] for label in present)
        return Job(number, nodes, np.searchsorted(present, self.labels[nodes]), names)

    def same_as(self, other: Labels | None) -> bool:
        """Whether a model would learn the same from both."""
        return (
            other is not None
            and self.class_names == other.class_names
            and np.array_equal(self.labels, other.labels)
        )
