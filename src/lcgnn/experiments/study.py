"""Whole experiments: plan their runs, do what is missing, gather the records into cells."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean

from lcgnn.assessment.evaluation import PairedDifference, Summary
from lcgnn.claims import Claim
from lcgnn.experiments.graphs import Graphs
from lcgnn.experiments.spec import Column, Experiment
from lcgnn.experiments.store import Store
from lcgnn.files import temporary_folder
from lcgnn.methods import Context
from lcgnn.runs.board import Board
from lcgnn.runs.choice.auto import run_of
from lcgnn.runs.cluster import run_on_cluster
from lcgnn.runs.records import Record, StageRecord
from lcgnn.runs.reported import Reported
from lcgnn.runs.run import ProgressCallback, Run
from lcgnn.runs.runner import run_jobs
from lcgnn.runs.spec import RunSpec
from lcgnn.training.checkpoint import CheckpointFile

# Seconds between two looks at a run that another process is doing.
_LOOK_AGAIN = 0.5


@dataclass(frozen=True)
class Cell:
    """What one row gave in one column.

    Args:
        accuracies: Test accuracy by seed; where several seeds share a draw of the labels, their mean by draw.
        seconds: Training time by seed, of the whole run.
        paper: What the paper reports.
        difference: From the row that it is compared with, over the seeds that both have.
    """

    accuracies: dict[int, float]
    seconds: list[float]
    paper: Reported | None
    difference: PairedDifference | None

    @property
    def summary(self) -> Summary:
        return Summary.of(list(self.accuracies.values()))


def missing_runs(experiments: Sequence[Experiment], seeds: int | None, store: Store, graphs: Graphs) -> list[Run]:
    """The runs of the experiments that have no record, each once."""
    missing: dict[str, Run] = {}
    for experiment in experiments:
        for spec in experiment.all_runs(seeds):
            run = graphs.run(spec)
            if run.identity not in missing and store.find(run.identity) is None:
                missing[run.identity] = run
    return list(missing.values())


def run_missing(
    runs: Sequence[Run],
    store: Store,
    board: Board,
    *,
    workers: int,
    device: str = "auto",
    scheduler: str | None = None,
) -> Iterator[tuple[int, Record]]:
    """Carry out runs over worker processes, their records going to the store as they finish.

    With a scheduler the processes are those of a Dask cluster, which need not see the store's folder.
    """
    if scheduler is None:
        yield from _run_here(runs, store, board, workers, device)
        return
    yield from _run_on_cluster(runs, store, board, device, scheduler)


def _run_here(
    runs: Sequence[Run], store: Store, board: Board, workers: int, device: str
) -> Iterator[tuple[int, Record]]:
    """Do the runs that nobody else is doing; after these, get the records of the others, or do what is left."""
    elsewhere = []
    carry_out = partial(_carry_out_unless_claimed, store.folder, device)
    for position, record in run_jobs(carry_out, runs, board, workers=workers):
        if record is None:
            elsewhere.append(position)
        else:
            yield position, record
    if elsewhere:
        left = [runs[position] for position in elsewhere]
        carry_out_last = partial(_carry_out, store.folder, device)
        yield from run_jobs(carry_out_last, left, board, workers=min(workers, len(left)), positions=elsewhere)


def _run_on_cluster(
    runs: Sequence[Run], store: Store, board: Board, device: str, scheduler: str
) -> Iterator[tuple[int, Record]]:
    """As `_run_here`; the claims are this process's, since the workers need not see the store."""
    left, claims = dict(enumerate(runs)), dict[int, Claim]()

    def unclaimed() -> Iterator[tuple[int, RunSpec]]:
        for position, run in list(left.items()):
            claim = store.claim(run.identity)
            if claim is not None and store.find(run.identity) is None:
                claims[position] = claim
                # A worker reads the graph itself: it may be far away.
                yield position, run.spec
            elif claim is not None:
                claim.give_back()

    try:
        while left:
            jobs, carry_out = unclaimed(), partial(_carry_out_elsewhere, device)
            # The cluster is not asked for what others are doing.
            some = chain([first], jobs) if (first := next(jobs, None)) else ()
            for position, record in run_on_cluster(carry_out, some, board, scheduler=scheduler) if some else ():
                store.add(record)
                claims.pop(position).give_back()
                del left[position]
                yield position, record
            found = {position: store.find(run.identity) for position, run in left.items()}
            for position, done in found.items():
                if done is not None:
                    board.finish(position)
                    del left[position]
                    yield position, done
            time.sleep(_LOOK_AGAIN if left else 0)
    finally:
        for claim in claims.values():
            claim.give_back()


def _carry_out_elsewhere(device: str, spec: RunSpec) -> Record:
    folder = temporary_folder("cluster")
    try:
        return keep_record(run_of(spec, spec.source.load()), Store(folder), device=device)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _carry_out_unless_claimed(folder: Path, device: str, run: Run, progress: ProgressCallback) -> Record | None:
    """The run's record, or None where another process is at it, or at the first phase that it begins with."""
    store, shared = Store(folder), run.first_phase
    claim = store.claim(run.identity)
    if claim is None:
        return store.find(run.identity)
    with contextlib.ExitStack() as held:
        held.callback(claim.give_back)
        if shared and not store.first_phase(shared).exists():
            of_phase = store.claim(f"{shared}-first-phase")
            if of_phase is None:
                return store.find(run.identity)
            held.callback(of_phase.give_back)
        return keep_record(run, store, device=device, progress=progress)


def _carry_out(folder: Path, device: str, run: Run, progress: ProgressCallback) -> Record:
    """The run's record, waiting for the process that is at it, and doing the run if that one leaves it."""
    while (record := _carry_out_unless_claimed(folder, device, run, progress)) is None:
        time.sleep(_LOOK_AGAIN)
    return record


def keep_record(
    run: Run, store: Store, *, device: str = "auto", progress: ProgressCallback | None = None
) -> Record:
    """Carry out a run for its record alone, unless the store has it.

    Runs that have their first phase in common begin with its state if it is in the store.
    """
    found = store.find(run.identity)
    if found:
        return found
    checkpoint = run.checkpoint(store.checkpoint(run.identity))
    shared = run.first_phase
    first_phase = CheckpointFile(store.first_phase(shared), shared) if shared else None
    record = run.measured(run.fit(Context(device, checkpoint, first_phase, progress, folds=store.folds)))
    store.add(record)
    checkpoint.delete()
    return record


def gather(experiment: Experiment, records: Iterable[Record]) -> dict[tuple[str, int], Cell]:
    """The experiment's cells by row name and column number, from the records that there are."""
    found = _by_cell(experiment, records)
    measured = {
        (row.name, position): _accuracies(found[row.name, position], row.stage, column)
        for row in experiment.rows
        for position, column in enumerate(experiment.columns)
    }
    return {
        (row.name, position): Cell(
            _by_draw(measured[row.name, position], column),
            [record.seconds for record in found[row.name, position]],
            row.paper[position],
            _compared(measured[row.name, position], measured.get((row.compare or "", position), {}), column),
        )
        for row in experiment.rows
        for position, column in enumerate(experiment.columns)
        if measured[row.name, position]
    }


def records_of(experiment: Experiment, records: Iterable[Record]) -> list[Record]:
    """The records that belong to an experiment, each once."""
    cells = _by_cell(experiment, records)
    return list({record.run: record for cell in cells.values() for record in cell}.values())


def stages_of(
    experiment: Experiment, records: Iterable[Record]
) -> dict[tuple[str, int], list[tuple[Record, StageRecord]]]:
    """Every run of a cell with the stage of it that counts there, by row name and column number."""
    found = _by_cell(experiment, records)
    return {
        (row.name, position): [
            (record, stage)
            for record in found[row.name, position]
            if (stage := record.stage(row.stage)) is not None
        ]
        for row in experiment.rows
        for position in range(len(experiment.columns))
    }


def _by_cell(experiment: Experiment, records: Iterable[Record]) -> dict[tuple[str, int], list[Record]]:
    """Records by row name and column number, in the order of their seeds; several rows may share theirs."""
    shared: dict[str, list[Record]] = {}
    kinds: set[tuple[str, str]] = set()
    for record in sorted(records, key=lambda item: item.seed):
        shared.setdefault(record.key, []).append(record)
        kinds.add((record.dataset, record.method))
    return {
        # Keys take longer to make than all else here, and most tables have no record that another one has.
        (row.name, position): _of_draws(
            [shared.get(key, []) for key in experiment.configuration_keys(row, column)]
            if (row.spec(column, 0).source.name, row.method) in kinds
            else []
        )
        for row in experiment.rows
        for position, column in enumerate(experiment.columns)
    }


def _of_draws(by_draw: list[list[Record]]) -> list[Record]:
    """The records of all draws together; of each draw, those whose seeds have their turn with it."""
    chosen = [
        record
        for draw, records in enumerate(by_draw)
        for record in records
        if len(by_draw) == 1 or record.seed % len(by_draw) == draw
    ]
    return sorted(chosen, key=lambda record: record.seed)


def _accuracies(records: list[Record], stage: str | None, column: Column) -> dict[int, float]:
    """Test accuracy by seed, of the stage and the nodes that count; a seed that did not measure it is left out."""
    return {
        record.seed: accuracy
        for record in records
        if (counting := record.stage(stage)) and (accuracy := counting.accuracy(column.fifth)) is not None
    }


def _by_draw(accuracies: Mapping[int, float], column: Column) -> dict[int, float]:
    """The mean of the seeds that share a draw: they are not independent of each other, draws are."""
    if not column.draws:
        return dict(accuracies)
    of_draw: dict[int, list[float]] = {}
    for seed, accuracy in accuracies.items():
        of_draw.setdefault(seed % column.draws, []).append(accuracy)
    return {draw: fmean(of_draw[draw]) for draw in sorted(of_draw)}


def _compared(own: Mapping[int, float], other: Mapping[int, float], column: Column) -> PairedDifference | None:
    """The difference over the seeds that both have."""
    common = own.keys() & other.keys()
    if not common:
        return None
    pairs = [_by_draw({seed: item[seed] for seed in common}, column) for item in (own, other)]
    return PairedDifference.between(*([pair[key] for key in sorted(pair)] for pair in pairs))
