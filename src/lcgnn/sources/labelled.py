"""A graph whose labels are in a file of their own, wherever that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lcgnn.errors import DataError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.sources.loaded import Loaded, as_known, with_classes
from lcgnn.sources.node_labels import NodeLabels, ledger_ids
from lcgnn.sources.source import Known, Progress, Source
from lcgnn.sources.tables.given import read_given, were_suggested
from lcgnn.sources.tables.labels import MOST_CLASSES
from lcgnn.sources.tables.ledger import GivenLabels, is_ledger


@dataclass(frozen=True)
class Labelled(Source):
    """A graph that is not made of tables, and labels that are laid over those that it has.

    Of a benchmark, whose labels are all known, only those of the file are trained on. Its test part measures what
    comes of them, without the nodes that the file names and only if the file has no other classes.

    Args:
        bare: The graph.
        file: What ``lcgnn label`` wrote, or a table of ids and labels.
    """

    bare: Source
    file: str

    @property
    def name(self) -> str:
        return self.bare.name

    def load(self, progress: Progress | None = None) -> Loaded:
        loaded = self._with_labels(self.bare.load_for_labelling(progress), measured=True)
        given = np.unique(loaded.graph.labels[loaded.split.train]).size
        if not 2 <= given <= MOST_CLASSES:
            raise DataError(
                f"{self.file}: labels of {given:,} classes; 2 to {MOST_CLASSES:,} are possible. Label some more "
                "nodes, or merge classes."
            )
        return loaded

    def load_for_labelling(self, progress: Progress | None = None) -> Loaded:
        return self._with_labels(self.bare.load_for_labelling(progress), measured=False)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:
        loaded = self._with_labels(self.bare.load_for_labelling(progress), measured=True)
        found = as_known(loaded, known.class_names)
        # Features are those that the model knows.
        bare = self.bare.load_known(known).graph
        return replace(found, graph=replace(bare, labels=found.graph.labels, class_names=known.class_names))

    def place(self) -> Mapping[str, Any]:
        return {**(self.bare.place() or {"benchmark": self.bare.name}), "labels": self.file}

    def _with_labels(self, loaded: Loaded, *, measured: bool) -> Loaded:
        """The graph with the labels of the file, and a benchmark's test part where that is to be measured by."""
        path = Path(self.file)
        graph, split, notes = loaded.graph, loaded.split, list(loaded.notes)
        if self.bare.benchmark is not None:
            same = set(read_given(path).classes) <= set(graph.class_names)
            graph, split = _hidden(graph, split, measured and same)
            used = "the others are not looked at" if same else f"{path.name} has other classes"
            notes.append(f"{self.name}: {split.test.size:,} of its own labels are used, to measure by; {used}.")
        given = read_given(path, graph.class_names)
        numbers = {name: number for number, name in enumerate(ledger_ids(graph))}
        found = NodeLabels.of(graph, numbers, given)
        named = np.array(
            sorted(numbers[name] for name, said in given.nodes.items() if said.kind != "skip" and name in numbers),
            dtype=np.int64,
        )
        graph = _with_used_classes(graph, found, given)
        train = np.intersect1d(np.union1d(split.train, named), graph.labelled)
        validation, test = (np.setdiff1d(part, named) for part in (split.validation, split.test))
        suggested = is_ledger(path) and were_suggested(np.setdiff1d(train, split.train).size, train.size)
        notes.append(f"{path.name}: its labels count ({np.intersect1d(named, train).size:,} nodes).")
        if found.gone:
            notes.append(f"{path.name}: nodes that are not in the graph are left out ({found.gone:,}).")
        return replace(
            loaded,
            graph=graph,
            split=Split(train, validation, test, f"{path.name}'s", suggested),
            notes=tuple(notes),
            passed_over=np.array(sorted((*found.skipped, *found.unsure)), dtype=np.int64),
        )


def _hidden(graph: Graph, split: Split, measured: bool) -> tuple[Graph, Split]:
    """A benchmark with no labels but those of its test part, or with none."""
    none = np.empty(0, dtype=np.int64)
    test = np.asarray(split.test if measured else none)
    labels = np.full(graph.num_nodes, UNLABELLED)
    labels[test] = graph.labels[test]
    bare = replace(graph, labels=labels, class_names=graph.class_names if measured else ())
    return bare, Split(none, none, test, split.name)


def _with_used_classes(graph: Graph, found: NodeLabels, given: GivenLabels) -> Graph:
    """The graph with these labels and the classes that it had, or that have a label."""
    own = {given.class_of(number) for number in range(graph.num_classes)}
    used = set(np.unique(found.labels).tolist())
    kept = tuple(name for number, name in enumerate(found.class_names) if number in used or name in own)
    labelled = replace(graph, labels=found.labels, class_names=found.class_names)
    return with_classes(labelled, kept)
