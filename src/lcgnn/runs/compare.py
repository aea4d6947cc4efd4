"""Methods compared on a graph by its own labels: everything that ``lcgnn compare`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcgnn.assessment.trust import Assessment
from lcgnn.compute.kernels.threads import check_threads, using
from lcgnn.errors import DataError
from lcgnn.runs.choice.candidates import AUTO, BUDGET, candidates_named, seconds_of
from lcgnn.runs.choice.edges import advice_by_edges
from lcgnn.runs.choice.words import advice_in_words, choice_in_words
from lcgnn.runs.cross_validation import why_not_divided
from lcgnn.runs.planning import plan
from lcgnn.runs.records import ChoiceRecord
from lcgnn.runs.run import Manner
from lcgnn.runs.spec import SplitKind, SplitSpec
from lcgnn.runs.watching import Watcher
from lcgnn.sources.choice import source_of
from lcgnn.sources.tables.columns import Columns


@dataclass(frozen=True)
class Comparison:
    """What a comparison came to.

    Args:
        dataset: What the graph is called.
        record: What was tried, and what would be taken.
        expected: How far the answer that would be taken can be trusted.
        folder: Where the folds are kept; a training in it does not repeat them.
        notes: What there is to say of the graph and its labels, a sentence each.
        by_edges: A method to compare that the edges speak for, if they do.
    """

    dataset: str
    record: ChoiceRecord
    expected: Assessment
    folder: Path
    notes: tuple[str, ...]
    by_edges: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What it came to in sentences, as the command line prints them."""
        advice = advice_in_words(self.record, self.expected, (), self.by_edges)
        return (*choice_in_words(self.record), *self.expected.how_many_are_right(), *advice)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "dataset": self.dataset,
            **self.record.to_json(),
            "expected": self.expected.to_json_in_words(),
            "words": list(self.words),
            "folder": str(self.folder),
            "notes": list(self.notes),
        }


def compare(
    what: Any,
    methods: Sequence[str] | str | None = None,
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
    budget: str | float = BUDGET,
    device: str = "auto",
    workers: int | None = None,
    threads: int | None = None,
    out: Path | str | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Compare methods on the same folds of a graph's training labels; no model is kept.

    The folds are kept in the folder that `train` with the method "auto" would use, which does not repeat them.

    Args:
        what: The graph, in any form that `source_of` takes.
        methods: Their names, in a list or with commas between; None for those that "auto" tries.
        split: Which labels, as for `train`; so are the next five.
        labels_per_class: Of the split.
        labels: Of the split.
        split_seed: Of the split.
        validation: Of the split.
        labels_from: A file with labels that count more than the graph's own.
        settings: Each method takes those that it has.
        columns: Names of columns that are not to be guessed.
        folds: Into how many parts the labels are divided; None for as many as make sense.
        budget: How long it may take: seconds, or a text such as "2m".
        device: A torch device or "auto".
        workers: Processes to train in; None for one a core.
        threads: Of each process, which compute on large graphs, with the same result for any number; None for an
            equal share of the cores.
        out: Folder for the folds; by default one in ``runs/``.
        watcher: Told how it goes.
    """
    watcher = watcher or Watcher()
    named = methods if methods is None or isinstance(methods, str) else ",".join(methods)
    candidates = AUTO if named is None else candidates_named(named)
    seconds = seconds_of(budget)
    check_threads(threads)
    source = source_of(what, columns, labels_from=labels_from)
    with watcher.reading() as progress:
        loaded = source.load_whole(progress)
    session = plan(
        source,
        loaded,
        candidates,
        split=SplitSpec(split, labels_per_class, split_seed, labels=labels),
        validation=validation,
        settings=settings,
        folder=None if out is None else Path(out),
        manner=Manner(device),
        workers=workers,
        folds=folds,
        budget=seconds,
    )
    if session.contest is None:
        run = session.runs[0]
        why = ": ask for 2 folds or more." if folds == 0 else why_not_divided(run.graph, run.split)
        raise DataError(f"{loaded.graph.name}: methods cannot be compared{why}")
    watcher.notes(session.notes)
    with using(threads):
        choice = session.contest.carry_out(watcher)
    by_edges = advice_by_edges(choice.record, choice.assessment, session.runs[0])
    return Comparison(source.name, choice.record, choice.assessment, session.folder, session.notes, by_edges)
