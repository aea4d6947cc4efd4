"""A graph that is opened for labelling: what the page shows of it, and where its labels go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lcgnn.errors import ConfigError, DataError
from lcgnn.features.table import TableFile
from lcgnn.graph import UNLABELLED, Graph
from lcgnn.sources.choice import source_of
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.node_labels import ledger_ids
from lcgnn.sources.source import FileSource, Progress, Source
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.form import TableForm
from lcgnn.sources.tables.ledger import LEDGER_NAMES, find_ledger, is_ledger
from lcgnn.sources.tables.source import Tables

# Letters of a cell on the card: more than anybody reads there, and few enough to come with every card.
_LONGEST_TEXT = 20_000
_MOST_COLUMNS = 60
_MOST_FEATURES = 20


@dataclass(frozen=True, eq=False)
class Opened:
    """A graph that is labelled.

    Args:
        source: Where it comes from.
        loaded: As it was read, with the labels of its tables.
        table: Of its nodes, for what a person reads; None if there is none with a row for each.
        truth: (N,) labels that a simulated labeller answers with, beside the graph's classes; None for none.
        ledger: Where labels go.
        fingerprint: Of the files, to notice that they changed.
    """

    source: Source
    loaded: Loaded
    table: TableFile | None
    truth: tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[str, ...]] | None
    ledger: Path
    fingerprint: tuple[tuple[str, int, int], ...]

    @property
    def graph(self) -> Graph:
        return self.loaded.graph

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """What every node is called in the ledger."""
        return ledger_ids(self.graph)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The node of every id."""
        return {name: number for number, name in enumerate(self.ids)}

    @property
    def cache(self) -> Path:
        """The folder for what is kept between two openings: the layout, the curve, the model."""
        return self.ledger.parent / f".{self.ledger.stem}-page"

    @property
    def next_command(self) -> str:
        """What is given to train on the labels, as a shell takes it."""
        source = self.source
        words = ["lcgnn", "train", source.path if isinstance(source, FileSource) else source.name]
        if isinstance(source, Tables):
            named = {name: value for name, value in vars(source.columns).items() if value and name != "ignore"}
            words += [word for role, name in named.items() for word in (f"--{role}-column", name)]
            words += [word for name in source.columns.ignore for word in ("--ignore-column", name)]
        if not isinstance(source, Tables) or self.ledger != _place_of_ledger(source, simulate=False):
            words += ["--labels-from", str(self.ledger)]
        return " ".join(map(quote, words))

    def has_changed(self) -> bool:
        """Whether the graph's files are no longer those that were read."""
        return self.fingerprint != fingerprint_of(self.source)

    def columns(self, node: int) -> list[tuple[str, str, int]]:
        """What a person reads of a node, its columns or its features: name, text, and letters of the whole."""
        if self.table is not None:
            return [
                (name, *_shortened(column[node].as_py()))
                for name, column in list(self.table.columns.items())[:_MOST_COLUMNS]
                if name != self._label_column
            ]
        return _features(self.graph, node) if not self.loaded.made_of_edges else []

    @property
    def form(self) -> TableForm | None:
        """How a model of the page reads tables: as one that is trained on them and on the page's labels."""
        form, source = self.loaded.form, self.source
        if form is None or form.roles is None or form.roles.label is not None or not isinstance(source, Tables):
            return form
        # The column that a table without labels is given when those of the page are laid over it.
        column = source.columns.label or "label"
        return form if column in source.columns.ignore else replace(form, roles=replace(form.roles, label=column))

    @property
    def _label_column(self) -> str | None:
        form = self.loaded.form
        return None if form is None or form.roles is None else form.roles.label


def open_graph(
    what: Any,
    columns: Columns | None = None,
    *,
    out: Path | None = None,
    simulate: bool = False,
    progress: Progress | None = None,
) -> Opened:
    """The graph that is meant, ready to be labelled; DataError or ConfigError if it cannot be.

    Args:
        what: A folder, an .npz file, a benchmark's name, ...
        columns: Names of columns that are not to be guessed.
        out: Where labels go; None for beside the tables.
        simulate: Whether the labels that the graph has are hidden, for a simulated labeller to give them.
        progress: Told what is being read.
    """
    source = source_of(what, columns)
    if source.parts is not None:
        raise ConfigError(f"{source.name} is in parts. Name the whole graph.")
    table = None
    if isinstance(source, Tables):
        # Labels of the page are read by its own ledger, which others may append to meanwhile.
        source = replace(source, ledger=False)
        files = source.tables(needs_labels=False)
        table = files.nodes if files.complete else None
    before = fingerprint_of(source)
    loaded = source.load_for_labelling(progress)
    truth = None
    if simulate or source.benchmark is not None:
        loaded, truth = _hidden(loaded, needed=simulate)
    ledger = out or _place_of_ledger(source, simulate)
    opened = Opened(source, loaded, table, truth if simulate else None, ledger, before)
    if len(opened.numbers) < opened.graph.num_nodes:
        raise DataError(f"{source.name}: two ids differ only in their line breaks. Rename one of them.")
    return opened


def fingerprint_of(source: Source) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of change of every file that a graph is read from."""
    if not isinstance(source, FileSource):
        return ()
    path = Path(source.path)
    if isinstance(source, Tables):
        found = sorted(path.glob("nodes.*")) + sorted(path.glob("edges.*")) + sorted(path.glob("labels.*"))
        files = [file for file in found if not is_ledger(file)]
    else:
        files = sorted(path.glob("*")) if path.is_dir() else [path]
    return tuple(told for file in files if (told := _told(file)) is not None)


def _told(file: Path) -> tuple[str, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return file.name, status.st_size, status.st_mtime_ns


def _place_of_ledger(source: Source, simulate: bool) -> Path:
    """Beside the tables; a table of labels that is the user's own is left alone."""
    if isinstance(source, Tables) and not simulate:
        folder = Path(source.path)
        own = [path for path in folder.glob("labels.*") if path.name != LEDGER_NAMES[1] and not is_ledger(path)]
        second = folder / LEDGER_NAMES[1]
        return second if own or find_ledger(folder) == second else folder / LEDGER_NAMES[0]
    return Path("runs") / f"{source.name[:60]}-{'simulated' if simulate else 'labels'}" / LEDGER_NAMES[0]


def _hidden(
    loaded: Loaded, *, needed: bool
) -> tuple[Loaded, tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[str, ...]]]:
    """The graph without its labels, and these."""
    graph = loaded.graph
    if needed and np.unique(graph.labels[graph.labelled]).size < 2:
        raise ConfigError(
            f"{graph.name} has no labels of two classes that a simulated labeller could give. "
            "Leave out --simulate, or name a benchmark."
        )
    bare = replace(graph, labels=np.full(graph.num_nodes, UNLABELLED), class_names=())
    return replace(loaded, graph=bare), (graph.labels, graph.class_names)


def _shortened(value: Any) -> tuple[str, int]:
    text = "" if value is None else str(value)
    return text[:_LONGEST_TEXT], len(text)


def _features(graph: Graph, node: int) -> list[tuple[str, str, int]]:
    """A node's features where they have no names: how many there are, and the first of them."""
    features = graph.features
    if features is None:
        return []
    row = features[[node]].toarray()[0] if isinstance(features, csr_array) else np.asarray(features[node])
    there = np.flatnonzero(row)
    first = ", ".join(str(number) for number in there[:_MOST_FEATURES])
    more = ", ..." if there.size > _MOST_FEATURES else ""
    return [("features", *_shortened(f"{there.size:,} of {row.size:,} are not zero: {first}{more}"))]
