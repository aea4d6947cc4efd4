"""What every way of reading a user's own graph gives: the graph, and what there is to know of how it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import Scaling
from lcgnn.features.structure import with_structural_features
from lcgnn.graph import Graph, Split
from lcgnn.sources.tables.columns import Roles


@dataclass(frozen=True)
class TableForm:
    """What a model keeps of the graph that it was trained on: enough to make the same features of others.

    Args:
        roles: Which column of the tables is what; None for a graph that has no columns.
        encoding: How the feature columns became features; empty if the features were made from the edges.
        scaling: What was done to features that were numbers already; None for nothing.
    """

    roles: Roles | None
    encoding: Encoding
    scaling: Scaling | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same form again."""
        columns = None if self.roles is None else self.roles.to_json()
        content = {"columns": columns, "encoding": self.encoding.to_json()}
        return content if self.scaling is None else {**content, "scaling": self.scaling.to_json()}

    @classmethod
    def from_json(cls, content: Any) -> TableForm:
        """The form that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, Mapping) or set(content) | {"scaling"} != {"columns", "encoding", "scaling"}:
            raise DataError("The description of the tables is damaged. Train the model again.")
        scaling = content.get("scaling")
        columns = content["columns"]
        return cls(
            None if columns is None else Roles.from_json(columns),
            Encoding.from_json(content["encoding"]),
            None if scaling is None else Scaling.from_json(scaling),
        )


@dataclass(frozen=True, eq=False)
class TableGraph:
    """A graph of the user's own.

    Args:
        graph: The graph.
        split: All given labels for training, or what the source says: a ``split`` column, or masks.
        encoding: How the feature columns became features; empty if they are numbers already, or made of the edges.
        notes: What was guessed, merged, filled or left out, a sentence each.
        roles: Which column is what; None for a graph that has no columns.
        scaling: What was done to features that were numbers already; None for nothing.
    """

    graph: Graph
    split: Split
    encoding: Encoding
    notes: tuple[str, ...]
    roles: Roles | None = None
    scaling: Scaling | None = None

    @property
    def form(self) -> TableForm | None:
        """What a model has to keep to be used on another graph of the same kind; None if that is nothing."""
        if self.roles is None and self.scaling is None:
            return None
        return TableForm(self.roles, self.encoding, self.scaling)


def with_features(graph: Graph, notes: list[str]) -> Graph:
    """The graph, with features made from its edges if it has none."""
    if graph.features is not None:
        return graph
    notes.append(
        "There are no feature columns: methods that need features get some made from the edges (where a node lies "
        "in the graph, and its degree)."
    )
    return with_structural_features(graph)
