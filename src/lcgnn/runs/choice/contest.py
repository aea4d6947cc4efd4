"""A choice carried out: folds that are kept in a run's folder, or a fit after the other in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lcgnn.errors import DataError, OutputError
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Method
from lcgnn.methods.lc import TwoPhase
from lcgnn.methods.sizes import check_size
from lcgnn.runs.board import temporary_board
from lcgnn.runs.choice.race import Race, Turn
from lcgnn.runs.choice.verdict import Choice, decide
from lcgnn.runs.cross_validation import CrossValidation, carry_out_folds, division, fold_record, try_folds
from lcgnn.runs.failures import Failure, in_time
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.run import Run
from lcgnn.runs.spec import fingerprint
from lcgnn.runs.watching import Watcher
from lcgnn.sources.splits import folds, lost_labels


@dataclass(frozen=True, eq=False)
class Contest:
    """Candidates that are trained on the same folds of the same labels, in a folder each.

    Args:
        entries: The cross-validation of each candidate; all have the same folds.
        budget: Seconds that it may take by the clock; None for as long as it takes.
        unfit: Candidates that cannot be tried, and why.
    """

    entries: tuple[CrossValidation, ...]
    budget: float | None = None
    unfit: Mapping[str, str] = field(default_factory=dict)

    def carry_out(self, watcher: Watcher) -> Choice:
        """Train what has to be trained, and choose; what is done already is not repeated."""
        first = self.entries[0]
        entries = {entry.run.spec.method: entry for entry in self.entries}
        race = Race(tuple(entries), first.run.graph.labels, first.used, self.budget, first.workers)
        race.failed.update(self.unfit)
        told, trains = 0, False
        started = time.perf_counter()
        for turns in race.turns():
            if any(entries[name].job(fold).finished() is None for name, fold in turns):
                told, trains = _tell(watcher, race, told), True
            for (name, _), result in zip(turns, self._trained(turns, race, entries, watcher), strict=True):
                race.add(name, result)
        if trains:
            _tell(watcher, race, told)
        (watcher.trained_folds if trains else watcher.read_folds)(race.trained, time.perf_counter() - started)
        methods = {name: entry.run.method for name, entry in entries.items()}
        return decide(
            race,
            methods,
            given=first.run.split.train.size,
            of_folds=first.count,
            alone=lost_labels(first.run.graph, first.run.split),
            by_stage=decides_by_stage(methods, first.run.split),
        )

    def _trained(
        self, turns: list[Turn], race: Race, entries: Mapping[str, CrossValidation], watcher: Watcher
    ) -> list[FoldRecord | Failure]:
        """What came of the turns, in their order; of a single candidate, what goes wrong is raised.

        Workers without a turn begin what comes next, which is then found to be done.
        """
        alone, workers = len(entries) == 1, self.entries[0].workers
        missing = [(name, fold) for name, fold in turns if entries[name].job(fold).finished() is None]
        ahead = race.ahead(turns) if workers > 1 and missing else []
        carried_out = [*race.in_order(turns), *race.in_order(ahead)]
        labels = [f"fold {fold + 1}" if alone else f"{name}, fold {fold + 1}" for name, fold in carried_out]
        jobs = [entries[name].job(fold, race.limit(name)) for name, fold in carried_out]
        found: dict[Turn, FoldRecord | Failure] = {}
        carry_out = carry_out_folds if alone else try_folds
        with temporary_board(len(jobs)) as board, watcher.working(board, labels, "folds"):
            for position, result in carry_out(jobs, board, workers):
                found[carried_out[position]] = result
        return [found[turn] for turn in turns]

    def settled(self, choice: Choice) -> Run:
        """The run of the method that was taken, with the labels and the graph that all candidates had."""
        run = self.entries[0].run
        return Run(replace(run.spec, method=choice.name, settings={}, made=choice.method), run.loaded)


def decides_by_stage(methods: Mapping[str, Method], split: Split) -> bool:
    """Whether the held-out labels may prefer a base to the same with label consistency.

    Among several methods always; of one alone if it has a guard, and no validation labels to go by.
    """
    if len(methods) > 1:
        return True
    (method,) = methods.values()
    return isinstance(method, TwoPhase) and method.guard and not split.validation.size


def contest_in_memory(
    methods: Mapping[str, Method],
    graph: Graph,
    split: Split,
    seed: int,
    *,
    asked: int | None = None,
    budget: float | None = None,
    device: str = "auto",
    kept: Path | None = None,
) -> Choice | None:
    """Choose by fits without some of the labels, one after the other.

    Args:
        methods: By name, as they are fitted to all labels.
        graph: The graph.
        split: Its training labels are divided.
        seed: Of every fit.
        asked: How many folds; None for as many as make sense, five on a very large graph.
        budget: Seconds that it may take; None for as long as it takes.
        device: What to compute on.
        kept: A folder of folds that were trained before, on whatever labels; those that are not there are added.
            None: nothing is written.

    Returns:
        None where no class has two labels, so that none can be held out.
    """
    count, used = division(graph, split, asked)
    if not count:
        # Who calls this has asked for it, however large the graph is.
        count, used = division(graph, split, 5)
    if not count:
        return None
    parts = folds(graph, split, count)
    race = Race(tuple(methods), graph.labels, used, budget)
    if len(methods) > 1:
        race.failed.update(too_large(methods, graph))
    for turns in race.turns():
        for name, fold in turns:
            job = _Fold(methods[name], graph, parts[fold], seed, fold, race.limit(name), device)
            race.add(name, job.kept_in(kept) if kept else job.trained(alone=len(methods) == 1))
    by_stage = decides_by_stage(methods, split)
    alone = lost_labels(graph, split)
    return decide(race, methods, given=split.train.size, of_folds=count, alone=alone, by_stage=by_stage)


def too_large(methods: Mapping[str, Method], graph: Graph) -> dict[str, str]:
    """Why, for each that does not fit into memory; DataError if none fits."""
    found: dict[str, str] = {}
    for name, method in methods.items():
        try:
            check_size(method, graph.name, graph.num_nodes, graph.num_features, graph.num_classes)
        except DataError as error:
            found[name] = str(error)
    if len(found) == len(methods):
        raise DataError(next(iter(found.values())))
    return found


@dataclass(frozen=True, eq=False)
class _Fold:
    """A fold of a method, to be trained in this process.

    Args:
        method: The method.
        graph: The graph.
        part: The labels without those of the fold.
        seed: Of the fit.
        number: Of the fold.
        limit: Seconds that it may take; None for as many as it takes.
        device: What to compute on.
    """

    method: Method
    graph: Graph
    part: Split
    seed: int
    number: int
    limit: float | None
    device: str

    def trained(self, *, alone: bool) -> FoldRecord | Failure:
        """What came of it; of several methods, one that fails has a reason."""
        if alone:
            return self._record()
        failures: list[Failure] = []
        with Failure.caught(failures):
            return self._record()
        return failures[0]

    def kept_in(self, folder: Path) -> FoldRecord | Failure:
        """The same, from its file if there is one that can be read, and into it otherwise."""
        path = folder / f"{self._identity}.json"
        try:
            record = FoldRecord.from_json(read_json(path), str(path))
        except OutputError:
            record = None
        if record is not None and record.run == self._identity:
            return record
        found = self.trained(alone=False)
        if isinstance(found, FoldRecord):
            write_json(path, replace(found, run=self._identity).to_json())
        return found

    def _record(self) -> FoldRecord:
        context = Context(self.device, progress=in_time(None, self.limit))
        fit = self.method.fit(self.graph, self.part, self.seed, context)
        return fold_record("", self.number, self.part.test, fit)

    @cached_property
    def _identity(self) -> str:
        """A hash of everything that determines what it comes to."""
        return fingerprint(
            {
                "method": type(self.method).__qualname__,
                "settings": self.method.plain_settings(),
                "graph": self.graph.checksum,
                "split": self.part.checksum,
                "seed": self.seed,
            }
        )


def _tell(watcher: Watcher, race: Race, told: int) -> int:
    """Pass on what the race has said since; how much that is in all."""
    for sentence in race.told[told:]:
        watcher.says(sentence)
    return len(race.told)
