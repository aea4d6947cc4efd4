"""Tables as a trained model knows them: read with its columns, its encoding and its classes, nothing guessed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.structure import with_structural_features
from lcgnn.features.table import TableFile, listed
from lcgnn.graph import Graph
from lcgnn.sources.loaded import TableForm as TableForm
from lcgnn.sources.tables.columns import Roles
from lcgnn.sources.tables.labels import read_given, read_known_labels
from lcgnn.sources.tables.reading import Tables, find_tables, read_ids, read_links


@dataclass(frozen=True, eq=False)
class KnownTables:
    """A graph for a trained model.

    Args:
        graph: With the model's features and classes; a label that the model does not know counts as none.
        given: The nodes whose label is given, and stays.
        notes: What was merged, filled, unknown or left out, a sentence each.
    """

    graph: Graph
    given: NDArray[np.int64]
    notes: tuple[str, ...]


def load_known_tables(tables: Tables, form: TableForm, class_names: tuple[str, ...]) -> KnownTables:
    """The graph in a folder of tables with the columns that a model was trained on.

    Labels may be missing, in some rows or altogether; DataError says where and what to do if anything else is.
    """
    files = find_tables(Path(tables.folder), tables.columns.ignore)
    nodes, notes = files.nodes, files.notes()
    if form.roles is None:
        raise DataError(f"The model was not trained on a table's columns, so it cannot read {tables.folder}.")
    roles = form.roles.within(nodes, files.edges, tables.columns)
    ids = read_ids(nodes, roles.id)
    labels = read_known_labels(nodes, roles.label, class_names, notes)
    given = read_given(nodes, roles.split, labels)
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
    return KnownTables(graph, given, tuple(notes))


def _tell_unused(nodes: TableFile, roles: Roles, encoding: Encoding, notes: list[str]) -> None:
    used = {roles.id, roles.label, roles.split, *(column.name for column in encoding.columns)}
    unused = [name for name in nodes.names if name not in used]
    if unused:
        notes.append(f"{nodes.path.name}: not used by the model: {listed(unused)}.")
