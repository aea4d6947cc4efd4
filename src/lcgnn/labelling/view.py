"""What the page sees of the loop, as messages."""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.explanation import Explanation
from lcgnn.assessment.suggestion import Suggestion
from lcgnn.errors import ConfigError
from lcgnn.labelling.answers import Answers
from lcgnn.labelling.curve import advice, next_ten
from lcgnn.labelling.layout import Layout, kept_layout
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.messages import (
    Card,
    ClassMessage,
    Column,
    Found,
    GraphMessage,
    Neighbour,
    StateMessage,
)

NO_CLASS = 65535
_MOST_NEIGHBOURS = 12
_MOST_FOUND = 20


class View:
    """A loop as the page sees it.

    Args:
        loop: What goes on.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop, self.opened = loop, loop.opened
        self._layout: Layout | None = None
        self._laying_out = threading.Lock()

    @property
    def layout(self) -> Layout:
        """Where the nodes lie; computed once, however many ask for it at the same time."""
        with self._laying_out:
            if self._layout is None:
                self._layout = kept_layout(self.opened.graph, self.opened.cache)
            return self._layout

    @cached_property
    def _position(self) -> NDArray[np.int64]:
        """(N,) where every node is among those that are drawn; -1 for one that is not."""
        found = np.full(self.opened.graph.num_nodes, -1)
        found[self.layout.nodes] = np.arange(self.layout.nodes.size)
        return found

    @cached_property
    def _lower_ids(self) -> tuple[str, ...]:
        return tuple(name.lower() for name in self.opened.ids)

    def position(self, node: int) -> int | None:
        """Where a node is among those that are drawn."""
        place = int(self._position[node])
        return None if place < 0 else place

    def graph(self) -> GraphMessage:
        """The graph, once."""
        graph, layout = self.opened.graph, self.layout
        return GraphMessage(
            name=self.opened.source.name,
            nodes=graph.num_nodes,
            edges=graph.num_edges,
            shown=int(layout.nodes.size),
            sampled=layout.sampled,
            edges_shown=int(layout.edges.shape[0]),
            edges_sampled=layout.edges_sampled,
            simulator=self.opened.truth is not None,
            ids=tuple(self.opened.ids[node] for node in layout.nodes),
            numbers=tuple(layout.nodes.tolist()),
            ledger=str(self.opened.ledger),
            next_command=self.opened.next_command,
        )

    def state(self) -> StateMessage:
        """Everything that changes."""
        with self.loop.lock:
            loop, labels = self.loop, self.loop.labels
            counts = labels.counts
            nodes = labels.nodes
            points = loop.curve.points
            return StateMessage(
                revision=loop.revision,
                classes=tuple(map(ClassMessage, labels.class_names, counts.tolist(), self._predicted())),
                labelled=tuple(zip(nodes.tolist(), labels.labels[nodes].tolist(), strict=True)),
                skipped=len(labels.skipped),
                unsure=len(labels.unsure),
                training=loop.training,
                curve=points,
                advice=advice(points, int((counts > 1).sum()), int((counts > 0).sum())),
                next_ten=next_ten(points),
                doubtful=tuple(doubt for doubt in loop.doubts if self._is_still_given(doubt.node, doubt.given)),
                least_sure=() if loop.answers is None else loop.answers.least_sure,
                messages=loop.messages,
                simulating=loop.simulating,
            )

    def answers(self) -> bytes:
        """For each drawn node its class as uint16, then (from a multiple of 4 bytes on) its sureness as float32.

        What is given counts as sure; what nothing is known of has the class `NO_CLASS`.
        """
        with self.loop.lock:
            labels, answers = self.loop.labels, self.loop.answers
        shown, given = self.layout.nodes, labels.labels[self.layout.nodes]
        predicted = np.full(shown.size, -1) if answers is None else answers.in_classes(labels.class_names)[shown]
        sureness = np.zeros(shown.size, np.float32) if answers is None else answers.sureness[shown].copy()
        sureness[predicted < 0] = 0
        sureness[given >= 0] = 1
        classes = np.where(given >= 0, given, predicted)
        first = np.where(classes < 0, NO_CLASS, classes).astype("<u2").tobytes()
        return first + b"\0" * (-len(first) % 4) + sureness.astype("<f4").tobytes()

    def card(self) -> Card:
        """The next node that is asked for."""
        suggestion = self.loop.next_suggestion()
        if suggestion is None:
            return Card(None, "Every node has a label, or was skipped.")
        return self.node(suggestion.node, suggestion)

    def after(self) -> Card:
        """The node that will probably be asked for next, so that the page has it before it is needed."""
        suggestion = self.loop.following_suggestion()
        if suggestion is None:
            return Card(None, "None is ready.")
        return self.node(suggestion.node, suggestion)

    def node(self, node: int, suggestion: Suggestion | None = None) -> Card:
        """Any node as a person sees it."""
        graph = self.opened.graph
        with self.loop.lock:
            labels, answers = self.loop.labels, self.loop.answers
        given = int(labels.labels[node])
        start, end = (int(place) for place in graph.adjacency.indptr[node : node + 2])
        near = graph.adjacency.indices[start:end]
        predicted = None if answers is None else answers.in_classes(labels.class_names)
        first = near[np.argsort(labels.labels[near] < 0, kind="stable")][:_MOST_NEIGHBOURS]
        columns = self.opened.columns(node)
        return Card(
            node=node,
            reason="" if suggestion is None else suggestion.reason,
            id=self.opened.ids[node],
            position=self.position(node),
            columns=tuple(Column(name, text) for name, text, _ in columns),
            cut={name: letters for name, text, letters in columns if len(text) < letters},
            neighbours=tuple(self._neighbour(int(other), predicted) for other in first),
            more_neighbours=max(near.size - _MOST_NEIGHBOURS, 0),
            thinks=() if answers is None else answers.thinks(node),
            given=None if given < 0 else given,
        )

    def _neighbour(self, node: int, predicted: NDArray[np.int64] | None) -> Neighbour:
        labels = self.loop.labels
        given = int(labels.labels[node])
        known = given if given >= 0 else -1 if predicted is None else int(predicted[node])
        name = labels.class_names[known] if 0 <= known < len(labels.class_names) else None
        return Neighbour(node, self.opened.ids[node], name, given >= 0)

    def explain(self, node: int) -> Explanation:
        """Why a node has its label."""
        return self.trained().explainer.explain(node)

    def trained(self) -> Answers:
        """What the newest model says; ConfigError, and what to do, where there is no model yet."""
        with self.loop.lock:
            answers, training, classes = self.loop.answers, self.loop.training, self.loop.labels.counts
        if answers is not None:
            return answers
        if training.state == "running":
            raise ConfigError("The first model is being trained. Ask again in a few seconds.")
        if (classes > 0).sum() < 2:
            raise ConfigError("Nothing is trained yet: give labels of two classes.")
        raise ConfigError(f"Nothing is trained yet. {training.words}")

    def search(self, text: str) -> tuple[Found, ...]:
        """Nodes whose id contains a text, in upper or lower case; those that are or begin with it first."""
        wanted = text.strip().lower()
        if not wanted:
            return ()
        found = [node for node, name in enumerate(self._lower_ids) if wanted in name]
        names = self._lower_ids
        found.sort(key=lambda node: (names[node] != wanted, not names[node].startswith(wanted), len(names[node])))
        return tuple(Found(node, self.opened.ids[node], self.position(node)) for node in found[:_MOST_FOUND])

    def _predicted(self) -> list[int]:
        """How many nodes without a label are predicted to be of each class."""
        labels, answers = self.loop.labels, self.loop.answers
        if answers is None:
            return [0] * len(labels.class_names)
        found = answers.in_classes(labels.class_names)[labels.labels < 0]
        counts: list[int] = np.bincount(found[found >= 0], minlength=len(labels.class_names)).tolist()
        return counts

    def _is_still_given(self, node: int, name: str) -> bool:
        labels = self.loop.labels
        given = int(labels.labels[node])
        return given >= 0 and labels.class_names[given] == name
