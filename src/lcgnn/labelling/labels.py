"""Which label every node has at a moment: those of the tables, and over them what was given on the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcgnn.graph import UNLABELLED
from lcgnn.labelling.training import Job
from lcgnn.sources.node_labels import NodeLabels
from lcgnn.sources.tables.given import were_suggested
from lcgnn.sources.tables.labels import MOST_CLASSES


@dataclass(frozen=True, eq=False)
class Labels(NodeLabels):
    """All labels at a moment, and what can be learnt from them."""

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

    def said_of(self, node: int) -> tuple[int, bool]:
        """What was said of a node: its class, or -1, and whether it is passed over."""
        return int(self.labels[node]), node in self._said

    @cached_property
    def _said(self) -> frozenset[int]:
        return frozenset((*self.skipped, *self.unsure))

    def job(self, number: int) -> Job | None:
        """What there is to learn from; None for fewer than two classes, or more than can be learnt."""
        present = np.flatnonzero(self.counts)
        if not 2 <= present.size <= MOST_CLASSES:
            return None
        nodes = self.nodes
        names = tuple(self.class_names[label] for label in present)
        suggested = were_suggested(self.new, nodes.size)
        return Job(number, nodes, np.searchsorted(present, self.labels[nodes]), names, suggested)

    def same_as(self, other: Labels | None) -> bool:
        """Whether a model would learn the same from both."""
        return (
            other is not None
            and self.class_names == other.class_names
            and np.array_equal(self.labels, other.labels)
        )
