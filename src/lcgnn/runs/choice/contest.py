"""A choice carried out: folds that are kept in a run's folder, or a fit after the other in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Method
from lcgnn.methods.lc import TwoPhase
from lcgnn.runs.board import temporary_board
from lcgnn.runs.choice.race import Race, Turn
from lcgnn.runs.choice.verdict import Choice, decide
from lcgnn.runs.cross_validation import CrossValidation, carry_out_folds, division, fold_record
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.run import Run
from lcgnn.runs.watching import Watcher
from lcgnn.sources.splits import folds


@dataclass(frozen=True, eq=False)
class Contest:
    """Candidates that are trained on the same folds of the same labels, in a folder each.

    Args:
        entries: The cross-validation of each candidate; all have the same folds.
        budget: Seconds that it may take by the clock; None for as long as it takes.
    """

    entries: tuple[CrossValidation, ...]
    budget: float | None = None

    def carry_out(self, watcher: Watcher) -> Choice:
        """Train what has to be trained, and choose; what is done already is not repeated."""
        first = self.entries[0]
        entries = {entry.run.spec.method: entry for entry in self.entries}
        race = Race(tuple(entries), first.run.graph.labels, first.used, self.budget, first.workers)
        records: list[FoldRecord] = []
        told = 0
        started = time.perf_counter()
        for turns in race.turns():
            if any(entries[name].job(fold).finished() is None for name, fold in turns):
                told = _tell(watcher, race, told)
            for (name, _), record in zip(turns, self._trained(turns, entries, watcher), strict=True):
                race.add(name, record)
                records.append(record)
        watcher.trained_folds(records, time.perf_counter() - started)
        methods = {name: entry.run.method for name, entry in entries.items()}
        return decide(
            race,
            methods,
            given=first.run.split.train.size,
            of_folds=first.count,
            by_stage=decides_by_stage(methods, first.run.split),
        )

    def _trained(
        self, turns: list[Turn], entries: Mapping[str, CrossValidation], watcher: Watcher
    ) -> list[FoldRecord]:
        """What came of the turns, in their order."""
        alone = len(entries) == 1
        labels = [f"fold {fold + 1}" if alone else f"{name}, fold {fold + 1}" for name, fold in turns]
        jobs = [entries[name].job(fold) for name, fold in turns]
        found: dict[int, FoldRecord] = {}
        with temporary_board(len(jobs)) as board, watcher.working(board, labels, "folds"):
            for position, record in carry_out_folds(jobs, board, self.entries[0].workers):
                found[position] = record
        return [found[position] for position in range(len(jobs))]

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
) -> Choice | None:
    """Choose by fits without some of the labels, one after the other; nothing is written.

    Args:
        methods: By name, as they are fitted to all labels.
        graph: The graph.
        split: Its training labels are divided.
        seed: Of every fit.
        asked: How many folds; None for as many as make sense, five on a very large graph.
        budget: Seconds that it may take; None for as long as it takes.
        device: What to compute on.

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
    for turns in race.turns():
        for name, fold in turns:
            fit = methods[name].fit(graph, parts[fold], seed, Context(device))
            race.add(name, fold_record("", fold, parts[fold].test, fit))
    by_stage = decides_by_stage(methods, split)
    return decide(race, methods, given=split.train.size, of_folds=count, by_stage=by_stage)


def _tell(watcher: Watcher, race: Race, told: int) -> int:
    """Pass on what the race has said since; how much that is in all."""
    for sentence in race.told[told:]:
        watcher.says(sentence)
    return len(race.told)
