"""Suggestions that are kept ready, so that the next node is there at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from lcgnn.assessment.suggestion import Suggester, Suggestion
from lcgnn.graph import Graph
from lcgnn.labelling.answers import Answers
from lcgnn.labelling.labels import Labels

# How many are kept ready, and how many are left when more are made.
_READY, _FEW = 16, 8


class Queue:
    """The nodes to ask for next, made ahead in the background with what the newest model says.

    Args:
        graph: The graph.
        seen: Gives the labels and the answers of the moment.
    """

    def __init__(self, graph: Graph, seen: Callable[[], tuple[Labels, Answers | None]]) -> None:
        self._suggester, self._seen = Suggester(graph), seen
        self._making = threading.Lock()
        self._ready: list[Suggestion] = []
        self._current: Suggestion | None = None
        # What is said of the current one where it is asked for all the same.
        self._known: tuple[int, bool] | None = None
        self._fills, self._is_asked = 0, False

    def next(self) -> Suggestion | None:
        """The node that is asked for, the same one until something is said of it; None where none is left."""
        labels, _ = self._seen()
        if self._current is None or not self._is_asked_for(self._current.node, labels):
            self._current, self._known = self._first_open(labels), None
        if self._current is None:
            self.fill(unless_after=self._fills)
            self._current = self._first_open(self._seen()[0])
        if len(self._ready) < _FEW:
            self.fill_soon()
        return self._current

    def following(self) -> Suggestion | None:
        """The node that will probably be asked for after the next one; None where none is ready."""
        labels, _ = self._seen()
        current = self.next()
        ready = (found for found in self._ready if current is None or found.node != current.node)
        return next((found for found in ready if labels.is_open(found.node)), None)

    def ask_for(self, node: int, reason: str) -> None:
        """Ask for a node next, whatever else is ready and whatever was said of it before."""
        self._current, self._known = Suggestion(node, reason, 0), self._seen()[0].said_of(node)

    def answered(self, node: int) -> None:
        """Go on from a node that something was said of."""
        if self._current is not None and self._current.node == node:
            self._current = self._known = None

    def fill_soon(self) -> None:
        """Have suggestions made in the background, once for all who ask before it begins."""
        if not self._is_asked:
            self._is_asked = True
            threading.Thread(target=self.fill, daemon=True).start()

    def fill(self, unless_after: int | None = None) -> None:
        """Make suggestions that take the newest model into account.

        Args:
            unless_after: None are made if meanwhile others were, after so many times.
        """
        with self._making:
            if unless_after is not None and self._fills > unless_after:
                return
            self._is_asked = False
            labels, answers = self._seen()
            nodes = labels.nodes
            self._ready = list(
                self._suggester.suggest(
                    nodes,
                    _READY,
                    labels=labels.labels[nodes],
                    distribution=None if answers is None else answers.distribution,
                    excluded=np.array([*labels.skipped, *labels.unsure], dtype=np.int64),
                    # The card has those of the newest model, which may be another by then.
                    figures=False,
                )
            )
            self._fills += 1

    def _is_asked_for(self, node: int, labels: Labels) -> bool:
        return labels.is_open(node) or labels.said_of(node) == self._known

    def _first_open(self, labels: Labels) -> Suggestion | None:
        ready = self._ready
        while ready:
            found = ready.pop(0)
            if labels.is_open(found.node):
                return found
        return None
