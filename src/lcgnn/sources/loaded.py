"""What every way in gives: a graph, which labels are for what, and what there is to know of how it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lcgnn.features.encoding import Encoding
from lcgnn.features.structure import with_structural_features
from lcgnn.graph import Graph, Split

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
    """

    graph: Graph
    split: Split
    notes: tuple[str, ...] = ()
    form: TableForm | None = None
    made_of_edges: bool = False

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
