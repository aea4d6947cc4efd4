"""Tables as a trained model knows them: read with its columns, its encoding and its classes, nothing guessed."""

from __future__ import annotations

from dataclasses import replace

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.structure import with_structural_features
from lcgnn.features.table import TableFile, listed
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.columns import Columns, Roles
from lcgnn.sources.tables.form import TableForm
from lcgnn.sources.tables.given import with_given_labels
from lcgnn.sources.tables.labels import read_known_labels, read_known_split
from lcgnn.sources.tables.reading import TableFiles, read_ids, read_links


def known_graph(
    files: TableFiles, columns: Columns, name: str, form: TableForm, class_names: tuple[str, ...]
) -> Loaded:
    """The graph in two tables with the columns that a model was trained on.

    Labels may be missing, in some rows or altogether; DataError says where and what to do if anything else is.
    """
    notes = files.notes()
    assert form.roles is not None
    named = replace(columns, label=columns.label or form.roles.label, id=columns.id or form.roles.id)
    nodes = with_given_labels(files.nodes, files.ledger, named, notes).nodes
    roles = form.roles.within(nodes, files.edges, columns)
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
    graph = links.graph(name, labels, class_names, features, notes)
    if features is None:
        graph = with_structural_features(graph)
    return Loaded(graph, split, tuple(notes), form, made_of_edges=features is None)


def _tell_unused(nodes: TableFile, roles: Roles, encoding: Encoding, notes: list[str]) -> None:
    used = {roles.id, roles.label, roles.split, *(column.name for column in encoding.columns)}
    unused = [name for name in nodes.names if name not in used]
    if unused:
        notes.append(f"{nodes.path.name}: not used by the model: {listed(unused)}.")
