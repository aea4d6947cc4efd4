"""What every way of reading a user's own graph gives: the graph, and what there is to know of how it was read."""

from __future__ import annotations

from dataclasses import dataclass

from lcgnn.features.encoding import Encoding
from lcgnn.features.structure import with_structural_features
from lcgnn.graph import Graph, Split
from lcgnn.sources.tables.columns import Roles


@dataclass(frozen=True, eq=False)
class TableGraph:
    """A graph of the user's own.

    Args:
        graph: The graph.
        split: All given labels for training, or what the source says: a ``split`` column, or masks.
        encoding: How the feature columns became features; empty if they are numbers already, or made of the edges.
        notes: What was guessed, merged, filled or left out, a sentence each.
        roles: Which column is what; None for a graph that has no columns.
    """

    graph: Graph
    split: Split
    encoding: Encoding
    notes: tuple[str, ...]
    roles: Roles | None = None


def with_features(graph: Graph, notes: list[str]) -> Graph:
    """The graph, with features made from its edges if it has none."""
    if graph.features is not None:
        return graph
    notes.append(
        "There are no feature columns: methods that need features get some made from the edges (where a node lies "
        "in the graph, and its degree)."
    )
    return with_structural_features(graph)
