"""Labels and edges that look wrong: everything that ``lcgnn doubt`` does."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import at_temperature
from lcgnn.assessment.doubt import Doubt, doubtful_labels, estimated_wrong
from lcgnn.assessment.doubtful_edges import EdgeDoubt, doubtful_edges
from lcgnn.compute.kernels.threads import check_threads, using
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.features.cells import defused
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import Context, Method
from lcgnn.outputs import OutputKind, beginning
from lcgnn.runs.choice.candidates import BUDGET, seconds_of
from lcgnn.runs.choice.planning import method_for
from lcgnn.runs.held_out import HeldOutLabels, by_folder, by_session, folds_to_ask, is_run_folder
from lcgnn.runs.planning import plan
from lcgnn.runs.predict import load_models, mean_distribution
from lcgnn.runs.run import Manner
from lcgnn.runs.spec import SplitKind, SplitSpec
from lcgnn.runs.watching import Watcher
from lcgnn.sources.choice import source_of
from lcgnn.sources.splits import most_folds
from lcgnn.sources.tables.columns import Columns

# Labels of a class on average from which on the list is of use: see benchmarks/results/doubt.md.
OF_USE_FROM = 5

# So many classes are named.
_MOST_NAMED = 4

_COLUMNS = ("kind", "id", "other", "given", "instead", "probability", "reason")

DOUBTS = OutputKind(
    "a list of doubts",
    (".csv", ".json"),
    lambda path: beginning(path).startswith((",".join(_COLUMNS).encode(), b'{\n  "doubts')),
)


@dataclass(frozen=True, eq=False)
class Doubts:
    """What looks wrong on a graph.

    Args:
        graph: The graph.
        method: Whose predictions they are by.
        labels: The labels that look wrong, the most doubtful first.
        edges: The edges that look wrong, the most doubtful first.
        held_out: How many labels were held out, of how many that were given.
        given: How many labels were given.
        wrong: About how many of those that were held out are wrong, by the confident joint.
        folder: Where the folds are kept.
        notes: What there is to say, a sentence each.
        never_found: Numbers of the classes of which no held-out label is found, so that doubting one says nothing.
    """

    graph: Graph
    method: str
    labels: tuple[Doubt, ...]
    edges: tuple[EdgeDoubt, ...]
    held_out: int
    given: int
    wrong: float
    folder: Path
    notes: tuple[str, ...] = ()
    never_found: frozenset[int] = frozenset()

    @property
    def words(self) -> tuple[str, ...]:
        """What it came to in sentences, as the command line prints them."""
        count = len(self.labels)
        which = (
            f"{count or 'None'} of {self.held_out:,} labels that were held out {'looks' if count == 1 else 'look'}"
        )
        told = [f"{which} wrong to {self.method}."]
        if any(item.given not in self.never_found for item in self.labels):
            look = "Look at it before you change it" if count == 1 else "Look at them before you change any"
            told.append(
                f"{look}: where 5 to 20 % of the labels had been made wrong, 26 to 53 % of such a list were."
            )
        return (" ".join(told), *self.notes)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "doubts": {"labels": len(self.labels), "edges": len(self.edges)},
            "dataset": self.graph.name,
            "method": self.method,
            "held_out": self.held_out,
            "given": self.given,
            "estimated_wrong": round(self.wrong, 2),
            "labels": [doubt.to_json(self.graph) for doubt in self.labels],
            "edges": [doubt.to_json(self.graph) for doubt in self.edges],
            "words": list(self.words),
            "folder": str(self.folder),
        }

    def save(self, path: Path | str) -> None:
        """Write a line a doubt as .csv, or all of it as .json."""
        path = Path(path)
        with DOUBTS.written(path) as temporary:
            if path.suffix.lower() == ".json":
                temporary.write_text(json.dumps(self.to_json(), indent=2) + "\n", encoding="utf-8")
                return
            with temporary.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(_COLUMNS)
                writer.writerows([defused(cell) for cell in row] for row in self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        labels = [doubt.to_json(self.graph) for doubt in self.labels]
        edges = [doubt.to_json(self.graph) for doubt in self.edges]
        of_labels = [
            ("label", row["id"], "", row["given"], row["instead"], str(row["probability"]), row["reason"])
            for row in labels
        ]
        of_edges = [
            ("edge", row["source"], row["target"], *row["classes"], str(row["likelihood"]), row["reason"])
            for row in edges
        ]
        return [*of_labels, *of_edges]


def doubt(
    what: Any,
    method: str | Method | None = None,
    *,
    split: SplitKind = "public",
    labels_per_class: int | None = None,
    labels: int | None = None,
    split_seed: int = 0,
    validation: float | None = None,
    labels_from: Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    folds: int | None = None,
    edges: int = 10,
    budget: str | float = BUDGET,
    device: str = "auto",
    workers: int | None = None,
    threads: int | None = None,
    out: Path | str | None = None,
    watcher: Watcher | None = None,
) -> Doubts:
    """Which given labels and which edges of a graph look wrong, and why.

    Every label is predicted by a model that is trained without it. The folds are those of `train` with the same
    arguments, in the same folder: what is there is not trained again, and what is trained here `train` does not
    repeat.

    Args:
        what: The graph, in any form that `source_of` takes; or the folder of a run, whose folds are read.
        method: As for `train`; so are the next eight. All of them are the run's where its folder is given.
        split: Which labels.
        labels_per_class: Of the split.
        labels: Of the split.
        split_seed: Of the split.
        validation: Of the split.
        labels_from: A file with labels that count more than the graph's own.
        settings: Of the method.
        columns: Names of columns that are not to be guessed.
        folds: Into how many parts the labels are divided; None for as many as make sense.
        edges: How many doubtful edges to look for; 0 for none, which takes one model less.
        budget: How long "auto" may try methods: seconds, or a text such as "2m".
        device: A torch device or "auto".
        workers: Processes to train in; None for one a core.
        threads: Of each process, which compute on large graphs, with the same result for any number; None for an
            equal share of the cores.
        out: Folder for the folds; by default the one in ``runs/`` that `train` takes.
        watcher: Told how it goes.
    """
    watcher = watcher or Watcher()
    if is_run_folder(what):
        folder = Path(what)
        named: dict[str, Any] = {"method": method, "folds": folds, "settings": settings or None, "labels": labels}
        named |= {"validation": validation, "labels_per_class": labels_per_class, "labels_from": labels_from}
        named |= {"split": None if split == "public" else split, "split_seed": split_seed or None}
        named |= {"columns": None if columns == Columns() else columns}
        asked = [name for name, value in named.items() if value is not None]
        if asked:
            raise ConfigError(
                f"{folder} is a training, whose own folds doubt its labels: {', '.join(asked)} cannot be chosen. "
                "Name the graph instead."
            )
        with using(threads):
            return _doubts(by_folder(folder, device, workers, watcher), folder, edges, device)
    source = source_of(what, columns, labels_from=labels_from)
    method = method_for(source, method)
    seconds = seconds_of(budget)
    check_threads(threads)
    with watcher.reading() as progress:
        loaded = source.load_whole(progress)
    asked_for = SplitSpec(split, labels_per_class, split_seed, labels=labels)
    used = asked_for.make(loaded.graph, loaded.split)
    check_labels(loaded.graph, used)
    session = plan(
        source,
        loaded,
        method,
        split=asked_for,
        validation=validation,
        settings=settings,
        folder=None if out is None else Path(out),
        manner=Manner(device),
        workers=workers,
        folds=folds_to_ask(loaded.graph, used, folds),
        budget=seconds,
    )
    check_labels(loaded.graph, session.runs[0].split)
    watcher.notes(session.notes)
    with using(threads):
        return _doubts(by_session(session, watcher), session.folder, edges, device)


def check_labels(graph: Graph, split: Split) -> None:
    """Refuse labels of which none can be held out, and say from how many on there is something to doubt."""
    if not most_folds(graph, split):
        raise DataError(
            f"{graph.name}: no class has two labels, so that none can be held out and doubted. Label more nodes; "
            f"from about {OF_USE_FROM} a class on the list is of use."
        )


def _doubts(held_out: HeldOutLabels, folder: Path, edges: int, device: str) -> Doubts:
    run = held_out.run
    graph, given = run.graph, run.split.train
    probabilities = at_temperature(held_out.distribution, held_out.temperature)
    answers = _answers(held_out, folder, device) if edges else None
    # Labels for validation and test are not to be read.
    known = np.full(graph.num_nodes, UNLABELLED)
    known[given] = graph.labels[given]
    doubted = () if answers is None else doubtful_edges(graph, answers, edges)
    never = _never_found(graph, known, held_out.nodes, probabilities)
    return Doubts(
        graph=graph,
        method=run.spec.method,
        labels=doubtful_labels(known, held_out.nodes, probabilities, graph=graph, answers=answers),
        edges=doubted,
        held_out=held_out.nodes.size,
        given=given.size,
        wrong=estimated_wrong(graph.labels[held_out.nodes], probabilities),
        folder=folder,
        notes=(
            *_never_found_in_words(graph, never),
            *_notes(held_out),
            *(["No edge looks wrong."] if edges and not doubted else []),
        ),
        never_found=frozenset(never),
    )


def _answers(held_out: HeldOutLabels, folder: Path, device: str) -> NDArray[np.float32]:
    """(N, C) what is predicted with all labels: by the run's models, if they are there and can tell, or a fit."""
    run = held_out.run
    if run.method.inductive and is_run_folder(folder):
        # A training that did not end may have left none.
        with suppress(OutputError):
            models = load_models(folder)
            if models[0].about.get("graph") == run.graph.checksum:
                return mean_distribution(models, run.graph, device)
    return at_temperature(run.fit(Context(device)).label_distribution, held_out.temperature)


def _never_found(
    graph: Graph, labels: NDArray[np.int64], nodes: NDArray[np.int64], held_out: NDArray[np.floating[Any]]
) -> dict[int, int]:
    """The classes of which no held-out label is found, each with how many labels of it were held out."""
    given, found = labels[nodes], held_out.argmax(axis=1)
    counts = np.bincount(given, minlength=graph.num_classes)
    hits = np.bincount(given[found == given], minlength=graph.num_classes)
    return {int(label): int(counts[label]) for label in np.flatnonzero((counts > 0) & (hits == 0))}


def _never_found_in_words(graph: Graph, never: Mapping[int, int]) -> list[str]:
    """That a doubt of a label of these classes says nothing."""
    if not never:
        return []
    named = ", ".join(f"{graph.class_names[label]!r} ({never[label]})" for label in [*never][:_MOST_NAMED])
    more = f" and {len(never) - _MOST_NAMED} more" if len(never) > _MOST_NAMED else ""
    return [f"Of {named}{more} no held-out label is found: that such a label is doubted says nothing."]


def _notes(held_out: HeldOutLabels) -> list[str]:
    """What there is to say of the labels that were held out, and of those that were not."""
    run = held_out.run
    given, classes = run.split.train, run.graph.num_classes
    notes = []
    if held_out.nodes.size < OF_USE_FROM * classes:
        notes.append(
            f"{held_out.nodes.size} labels of {classes} classes are few to doubt each other by: from about "
            f"{OF_USE_FROM} a class on the list is of use."
        )
    alone = given.size - held_out.nodes.size
    if alone:
        notes.append(
            f"{alone} label{' is' if alone == 1 else 's are'} not held out, being the only one of a class."
        )
    others = run.split.validation.size
    if others:
        notes.append(f"The {others:,} labels for validation choose the epoch and are not doubted.")
    return notes
