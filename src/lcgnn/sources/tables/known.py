"""Tables as a trained model knows them: read with its columns, its encoding and its classes, nothing guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.structure import with_structural_features
from lcgnn.features.table import TableFile, shown
from lcgnn.graph import Graph, Split
from lcgnn.sources.tables.columns import Roles
from lcgnn.sources.tables.labels import read_known_labels, read_known_split
from lcgnn.sources.tables.reading import Tables, find_tables, read_ids, read_links


@dataclass(frozen=True)
class TableForm:
    """What a model keeps of the tables that it was trained on: enough to make the same features of others.

    Args:
        roles: Which column is what.
        encoding: How the feature columns became features; empty if the features were made from the edges.
    """

    roles: Roles
    encoding: Encoding

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same form again."""
        return {"columns": self.roles.to_json(), "encoding": self.encoding.to_json()}

    @classmethod
    def from_json(cls, content: Any) -> TableForm:
        """The form that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, Mapping) or set(content) != {"columns", "encoding"}:
            raise DataError("The description of the tables is damaged. Train the model again.")
        return cls(Roles.from_json(content["columns"]), Encoding.from_json(content["encoding"]))


@dataclass(frozen=True, eq=False)
class KnownTables:
    """A graph for a trained model.

    Args:
        graph: With the model's features and classes; a label that the model does not know counts as none.
        split: The nodes whose label is given and stays, to train on, and those of other parts; None if no label
            is given.
        notes: What was merged, filled, unknown or left out, a sentence each.
    """

    graph: Graph
    split: Split | None
    notes: tuple[str, ...]


def load_known_tables(tables: Tables, form: TableForm, class_names: tuple[str, ...]) -> KnownTables:
    """The graph in a folder of tables with the columns that a model was trained on.

    Labels may be missing, in some rows or altogether; DataError says where and what to do if anything else is.
    """
    files = find_tables(Path(tables.folder))
    nodes, notes = files.nodes, files.notes()
    roles = form.roles.within(nodes, files.edges, tables.columns)
    ids = read_ids(nodes, roles.id)
    labels = read_known_labels(nodes, roles.label, class_names, notes)
    split = read_known_split(nodes, roles.split, labels)
    links = read_links(files, roles, ids, notes)
    features = None
    if form.encoding.columns:
        if not files.complete:
            raise DataError(f"{nodes.path} does not list all nodes, whose features are needed. Write nodes.csv.")
        features, told = form.encoding.apply(nodes)
        notes += told
    _tell_unused(nodes, roles, form.encoding, notes)
    graph = links.graph(tables.name, labels, class_names, features, notes)
    if features is None:
        graph = with_structural_features(graph)
    return KnownTables(graph, split, tuple(notes))


def _tell_unused(nodes: TableFile, roles: Roles, encoding: Encoding, notes: list[str]) -> None:
    used = {roles.id, roles.label, roles.split, *(column.name for column in encoding.columns)}
    unused = [shown(name) for name in nodes.names if name not in used]
    if unused:
        listed = ", ".join(unused[:8]) + (", ..." if len(unused) > 8 else "")
        notes.append(f"{nodes.path.name}: not used by the model: {listed}.")
