"""What every way in gives: a graph, which labels are for what, and what there is to know of how it was read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lcgnn.features.encoding import Encoding
from lcgnn.features.structure import with_structural_features
from lcgnn.graph import UNLABELLED, Graph, Split

if TYPE_CHECKING:
    from lcgnn.sources.tables.form import TableForm


@dataclass(frozen=True, eq=False)
class Loaded:
    """A graph that came in.

    Args:
        graph: The graph.
        split: A benchmark's own, or what the source says (a ``split`` column, masks), or all labels for training.
        notes: What was guessed, merged, filled or left out, a sentence each.
        form: How tables became the graph, for a model that is to read others like them; None if there were none.
        made_of_edges: Whether the features were made from the edges, so that they mean nothing in another graph.
        passed_over: Nodes that are not to be asked for: somebody skipped them, or could not tell.
    """

    graph: Graph
    split: Split
    notes: tuple[str, ...] = ()
    form: TableForm | None = None
    made_of_edges: bool = False
    passed_over: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def encoding(self) -> Encoding:
        """How feature columns became features; empty where there were none."""
        return Encoding() if self.form is None else self.form.encoding


def with_features(graph: Graph, notes: list[str]) -> Graph:
    """The graph, with features made from its edges if it has none."""
    if graph.features is not None:
        return graph
    notes.append(
        "There are no feature columns: methods that need features get some made from the edges (where a node lies "
        "in the graph, and its degree)."
    )
    return with_structural_features(graph)


def as_known(loaded: Loaded, class_names: tuple[str, ...]) -> Loaded:
    """What came in, for a model with these classes; a label that it does not know is in no part of the split."""
    graph, split = with_classes(loaded.graph, class_names), loaded.split
    train, validation, test = (
        nodes[graph.labels[nodes] != UNLABELLED] for nodes in (split.train, split.validation, split.test)
    )
    return replace(loaded, graph=graph, split=replace(split, train=train, validation=validation, test=test))


def with_classes(graph: Graph, class_names: tuple[str, ...]) -> Graph:
    """The graph with a model's classes; a label that the model does not know counts as none."""
    if graph.class_names == class_names:
        return graph
    places = {name: place for place, name in enumerate(class_names)}
    known = np.array([*(places.get(name, UNLABELLED) for name in graph.class_names), UNLABELLED])
    return replace(graph, labels=known[graph.labels], class_names=class_names)
