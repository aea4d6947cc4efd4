"""A graph of the user's own: a folder with a table of nodes and a table of edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.features.cells import as_text
from lcgnn.features.encoding import Encoding
from lcgnn.features.table import TableFile, listed, shown
from lcgnn.graph import UNLABELLED, Features, Graph
from lcgnn.sources.loaded import Loaded, with_features
from lcgnn.sources.node_labels import nodes_called
from lcgnn.sources.tables.columns import Columns, Roles
from lcgnn.sources.tables.edges import (
    node_numbers,
    read_endpoints,
    read_weights,
    refuse_otherwise_written,
    tell_edges,
)
from lcgnn.sources.tables.files import ENDINGS, read_table
from lcgnn.sources.tables.form import TableForm
from lcgnn.sources.tables.given import no_nodes, with_given_labels
from lcgnn.sources.tables.labels import read_labels, read_split
from lcgnn.sources.tables.leakage import leaking_columns
from lcgnn.sources.tables.ledger import find_ledger

TABLE_NAMES = ("nodes", "labels", "edges")
# Ids are kept in an array with room for the longest.
LONGEST_ID = 256


def graph_of_tables(files: TableFiles, columns: Columns, name: str, *, needs_labels: bool = True) -> Loaded:
    """The graph in two tables, wherever they come from.

    Args:
        files: The tables.
        columns: Names of columns that are not to be guessed.
        name: What to call the graph.
        needs_labels: Whether labels of two classes must be there, as for training.
    """
    notes = files.notes()
    given = with_given_labels(files.nodes, files.ledger, columns, notes)
    nodes = given.nodes
    roles = Roles.of(nodes, files.edges, columns, needs_labels=needs_labels)
    ids = read_ids(nodes, roles.id)
    labels, class_names = read_labels(nodes, roles.label, notes, needed=needs_labels)
    split = replace(read_split(nodes, roles.split, labels, notes), chosen=given.suggested)
    links = read_links(files, roles, ids, notes)
    encoding, features = _encoded(nodes, roles.features(nodes, columns.ignore), files.complete, notes)
    if files.complete and roles.label is not None and class_names:
        notes += leaking_columns(nodes, encoding, labels, roles.label)
    graph = links.graph(name, labels, class_names, features, notes)
    made_of_edges = graph.features is None
    graph = with_features(graph, notes)
    form = TableForm(roles, encoding)
    return Loaded(graph, split, tuple(notes), form, made_of_edges, nodes_called(graph, given.passed_over))


@dataclass(frozen=True, eq=False)
class TableFiles:
    """The two tables of a folder.

    Args:
        nodes: A row a node.
        edges: A row an edge.
        complete: Whether ``nodes`` lists all nodes, or only those with a label.
        ledger: Labels that were given one by one, which count more than those of the table.
    """

    nodes: TableFile
    edges: TableFile
    complete: bool
    ledger: Path | None = None

    def notes(self) -> list[str]:
        """What there was to say of the files themselves."""
        return [*self.nodes.notes, *self.edges.notes]


@dataclass(frozen=True, eq=False)
class Links:
    """The nodes of a graph and what joins them.

    Args:
        file: Name of the file of the edges.
        ids: The names of all nodes; those of the table of nodes come first.
        ends: (2, M) the edges by the numbers of their nodes.
        weights: (M,) theirs, if they have any.
    """

    file: str
    ids: Any
    ends: NDArray[np.int64]
    weights: NDArray[np.float32] | None

    def graph(
        self,
        name: str,
        labels: NDArray[np.int64],
        class_names: tuple[str, ...],
        features: Features | None,
        notes: list[str],
    ) -> Graph:
        """The graph with these labels, which may be those of its first nodes only; told is what was merged."""
        unnamed = np.full(len(self.ids) - labels.size, UNLABELLED)
        graph = Graph.from_edges(
            name,
            self.ends,
            len(self.ids),
            np.concatenate([labels, unnamed]),
            class_names,
            weights=self.weights,
            features=features,
            node_names=_names(self.ids),
            num_source_links=self.ends.shape[1],
        )
        tell_edges(graph, self.ends, self.file, notes)
        return graph


def read_links(files: TableFiles, roles: Roles, ids: Any, notes: list[str]) -> Links:
    """The edges among the nodes with these ids, and the nodes that only they name if the table is not complete."""
    edges, columns = files.edges, (roles.source, roles.target)
    ends = [read_endpoints(edges, name) for name in columns]
    if not files.complete:
        refuse_otherwise_written(files.nodes, roles.id, ids, edges, ends)
        ids = pc.unique(pa.chunked_array([*ids.chunks, *ends[0].chunks, *ends[1].chunks], pa.string()))
        _check_ids_fit(edges, ids)
    numbers = node_numbers(edges, columns, ends, files.nodes, ids)
    weights = read_weights(edges, roles.weight, set(columns), notes)
    return Links(edges.path.name, ids, numbers, weights)


def find_tables(folder: Path, left_out: tuple[str, ...] = (), *, needs_labels: bool = True) -> TableFiles:
    """The tables of nodes and edges in a folder; DataError if there are none, or too many.

    Args:
        folder: Where they are.
        left_out: Columns of the nodes that are not looked at.
        needs_labels: Whether a table must say something of the nodes; otherwise the edges are enough.
    """
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise DataError(
            f"{folder} {what}. Give a folder with nodes.csv and edges.csv, or make one: lcgnn init DIR"
        )
    edges, ledger = _one_file(folder, "edges"), find_ledger(folder)
    nodes, labels = _one_file(folder, "nodes"), _one_file(folder, "labels")
    if labels == ledger:
        labels = None
    if edges is None:
        raise DataError(
            f"{folder} has no edges.csv (or .tsv, .parquet). Add it, with the columns source and target."
        )
    if nodes is not None and labels is not None:
        raise DataError(f"{folder} has both {nodes.name} and {labels.name}. Put the labels into {nodes.name}.")
    found = nodes or labels
    if found is None:
        if needs_labels and ledger is None:
            raise DataError(
                f"{folder} has no nodes.csv (or .tsv, .parquet). Add it, with the columns id, label and any "
                "features, or labels.csv with id and label alone."
            )
        return TableFiles(no_nodes(ledger or edges), read_table(edges), complete=False, ledger=ledger)
    return TableFiles(
        read_table(found, multiline=True, left_out=left_out), read_table(edges), nodes is not None, ledger
    )


def _one_file(folder: Path, stem: str) -> Path | None:
    found = [path for ending in ENDINGS if (path := folder / f"{stem}{ending}").is_file()]
    if len(found) > 1:
        raise DataError(f"{folder} has both {found[0].name} and {found[1].name}. Remove one of them.")
    return found[0] if found else None


def read_ids(nodes: TableFile, column: str) -> Any:
    """The ids as text, each once and none missing."""
    ids = as_text(nodes.column(column))
    if ids.null_count:
        row = pc.index(ids.is_null(), True).as_py()
        raise DataError(f"{nodes.place(row, column)}: the id is missing. Give every node an id.")
    encoded = ids.combine_chunks().dictionary_encode()
    if len(encoded.dictionary) < len(ids):
        _refuse_duplicate(nodes, column, encoded.indices.to_numpy(), ids)
    _check_ids_fit(nodes, ids)
    return ids


def _refuse_duplicate(nodes: TableFile, column: str, codes: NDArray[np.int32], ids: Any) -> None:
    seen, first = np.unique(codes, return_index=True)
    rows = np.setdiff1d(np.arange(codes.size), first)
    row = int(rows[0])
    before = int(first[np.searchsorted(seen, codes[row])])
    more = f" ({rows.size:,} ids are repeated)" if rows.size > 1 else ""
    raise DataError(
        f"{nodes.place(row, column)}: node {shown(ids[row].as_py())} was there before, in "
        f"{nodes.line(before)}{more}. Keep one line a node."
    )


def _check_ids_fit(file: TableFile, ids: Any) -> None:
    longest = pc.max(pc.utf8_length(ids)).as_py() or 0
    if longest > LONGEST_ID:
        raise DataError(
            f"{file.path}: an id has {longest:,} characters; at most {LONGEST_ID} are possible. "
            f"Is it the right column? Say which with {file.option('id')}."
        )
    if pc.any(pc.match_substring(ids, "\0")).as_py():
        raise DataError(f"{file.path}: an id holds a zero byte. Remove it.")


def _names(ids: Any) -> NDArray[np.str_]:
    return np.array(
        ids.to_numpy(zero_copy_only=False) if isinstance(ids, pa.Array) else ids.to_numpy(), dtype=np.str_
    )


def _encoded(
    nodes: TableFile, names: tuple[str, ...], complete: bool, notes: list[str]
) -> tuple[Encoding, Features | None]:
    if not complete:
        if names:
            notes.append(f"{nodes.path.name}: not used: {listed(list(names))}.")
        return Encoding(), None
    encoding, told = Encoding.fit(nodes, names)
    notes += told
    # What was missing has been told by now.
    return encoding, encoding.apply(nodes)[0] if encoding.columns else None
