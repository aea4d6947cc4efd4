"""Cross-validation over the given labels, so that a user knows how far to trust the predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.assessment.calibration import HeldOut
from lcgnn.assessment.trust import Assessment
from lcgnn.errors import ConfigError, OutputError
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit
from lcgnn.runs.board import Board
from lcgnn.runs.failures import Failure, in_time
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.records.fold import EarlierStage, Probabilities
from lcgnn.runs.run import ProgressCallback, Run
from lcgnn.runs.runner import run_jobs
from lcgnn.sources.splits import folds, lost_labels, most_folds

# Parts that the labels are divided into: on graphs of so many numbers (entries of features and adjacency) at most.
_FOLDS_BY_SIZE = ((2_000_000, 10), (20_000_000, 5))
# Held-out labels that are enough: the interval is then four percentage points to either side at most.
_ENOUGH_LABELS = 600
# So far may the sum of a node's probabilities be from 1.
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class FoldRun(Run):
    """A run that is trained on all given labels but those of a fold, which are its test part.

    Args:
        number: Of the fold, from 0.
        count: How many there are.
    """

    number: int
    count: int

    @cached_property
    def split(self) -> Split:
        return folds(self.graph, self.spec.split.make(self.graph, self.loaded.split), self.count)[self.number]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The folds of a run's labels, each predicted by a model that is trained like the run's on the other labels.

    Args:
        run: The run.
        count: Parts that its labels are divided into.
        used: So many of them are held out in turn.
        folder: Where the results are kept; a fold that is there is not repeated.
        device: What to compute on.
        workers: How many processes.
    """

    run: Run
    count: int
    used: int
    folder: Path
    device: str
    workers: int

    def job(self, number: int, limit: float | None = None) -> FoldJob:
        """One of the folds, to be carried out, within so many seconds if that is said."""
        run = FoldRun(self.run.spec, self.run.loaded, number, self.count)
        return FoldJob(self.folder, self.device, run, limit)

    def results(self, board: Board) -> Iterator[tuple[int, FoldRecord]]:
        """Carry out the folds and yield (position, result) as they finish; what is done already comes at once."""
        yield from carry_out_folds([self.job(number) for number in range(self.used)], board, self.workers)

    def assess(self, results: Sequence[FoldRecord]) -> Assessment:
        """What the results of all folds say."""
        held_out = held_out_by(results, self.run.graph.labels)
        graph, split = self.run.graph, self.run.split
        alone = lost_labels(graph, split)
        return Assessment.of(held_out, given=split.train.size, of_folds=self.count, alone=alone)


@dataclass(frozen=True, eq=False)
class FoldJob:
    """A fold to be carried out.

    Args:
        folder: That its result is kept in.
        device: What to compute on.
        run: The fold.
        limit: Seconds that it may take; None for as many as it takes.
    """

    folder: Path
    device: str
    run: FoldRun
    limit: float | None = None

    @property
    def path(self) -> Path:
        """Of the result."""
        return self.folder / f"fold-{self.run.number + 1}.json"

    def finished(self) -> FoldRecord | None:
        """What the fold left behind when it was done, if that can be what it predicts for its labels."""
        try:
            record = FoldRecord.from_json(read_json(self.path), str(self.path))
        except OutputError:
            return None
        run = self.run
        is_own = (record.run, record.fold, record.nodes) == (
            run.identity,
            run.number,
            tuple(run.split.test.tolist()),
        )
        return record if is_own and _are_distributions(record, run.graph.num_classes) else None


def carry_out_folds(jobs: Sequence[FoldJob], board: Board, workers: int) -> Iterator[tuple[int, FoldRecord]]:
    """Yield (position, result) of folds as they finish; what is done already comes at once."""
    yield from run_jobs(_carry_out, jobs, board, workers=_needed(jobs, workers), here=_are_small(jobs))


def try_folds(jobs: Sequence[FoldJob], board: Board, workers: int) -> Iterator[tuple[int, FoldRecord | Failure]]:
    """The same, with a reason for each that nothing came of."""
    yield from run_jobs(_try, jobs, board, workers=_needed(jobs, workers), here=_are_small(jobs))


def _needed(jobs: Sequence[FoldJob], workers: int) -> int:
    """No process is started for what is done."""
    return min(workers, sum(job.finished() is None for job in jobs))


def _are_small(jobs: Sequence[FoldJob]) -> bool:
    return all(is_small(job.run.graph) for job in jobs[:1])


def held_out_by(results: Sequence[FoldRecord], labels: NDArray[np.int64], stage: int = -1) -> HeldOut:
    """The labels of all folds beside what a stage predicted for them, in the order of the folds.

    Args:
        results: Of the folds, in any order.
        labels: (N,) of the graph.
        stage: Which of the stages: -1 for the last, 0 for the first of several.
    """
    results = sorted(results, key=lambda result: result.fold)
    nodes = [np.array(result.nodes, dtype=np.int64) for result in results]
    found = [result.stages[stage] for result in results]
    return HeldOut(
        labels=labels[np.concatenate(nodes)],
        distribution=np.concatenate([np.array(part, np.float32) for part in found]),
        fold=np.repeat([result.fold for result in results], [part.size for part in nodes]),
    )


def fold_record(identity: str, number: int, nodes: NDArray[np.int64], fit: Fit) -> FoldRecord:
    """What a fit without some labels predicts for these, in every stage."""
    *earlier, last = (_rows(stage.label_distribution[nodes]) for stage in fit.stages)
    return FoldRecord(
        run=identity,
        fold=number,
        nodes=tuple(nodes.tolist()),
        probabilities=last,
        seconds=round(fit.seconds, 3),
        earlier=tuple(EarlierStage(stage.name, rows) for stage, rows in zip(fit.stages, earlier, strict=False)),
    )


def _are_distributions(record: FoldRecord, num_classes: int) -> bool:
    return all(
        len(row) == num_classes and min(row) >= 0 and abs(sum(row) - 1) < _ROUNDING
        for stage in record.stages
        for row in stage
    )


def _rows(distribution: NDArray[np.float32]) -> Probabilities:
    return tuple(tuple(row) for row in distribution.tolist())


def division(graph: Graph, split: Split, asked: int | None) -> tuple[int, int]:
    """Into how many folds the training labels are divided, and how many of them are held out in turn.

    Args:
        graph: The graph.
        split: Its training labels are divided.
        asked: How many folds; None for as many as make sense.

    Returns:
        (0, 0) where no class has two labels, or where the graph is so large that it has to be asked for.
    """
    check_asked(asked)
    count = min(_sensible_folds(graph) if asked is None else asked, most_folds(graph, split))
    return count, count if asked else _enough_folds(count, split)


def plan_cross_validation(
    run: Run, asked: int | None, folder: Path, device: str, workers: int
) -> tuple[CrossValidation | None, list[str]]:
    """The cross-validation of a run, or none and what there is to say of it.

    Args:
        run: The run.
        asked: How many folds; 0 for none, None for as many as make sense.
        folder: Where the results of the folds go.
        device: What to compute on.
        workers: How many processes at most.
    """
    check_asked(asked)
    if asked == 0 or (asked is None and run.split.test.size):
        return None, []
    count, used = division(run.graph, run.split, asked)
    if not count:
        return None, [f"Expected accuracy is not estimated{why_not_divided(run.graph, run.split)}"]
    return CrossValidation(run, count, used, folder, device, workers), []


def why_not_divided(graph: Graph, split: Split) -> str:
    """Why there are no folds, after what there is not for want of them."""
    if not most_folds(graph, split):
        return ", because no class has two labels, so that none can be held out."
    return (
        " on a graph of this size unless you ask for it, because a further model is trained for each part of the "
        "labels that is held out: --folds 5"
    )


def check_asked(asked: int | None) -> None:
    if asked is not None and (asked < 0 or asked == 1):
        raise ConfigError(
            f"The number of folds cannot be {asked}. Ask for 2 or more, or for 0 to estimate nothing."
        )


def _enough_folds(count: int, split: Split) -> int:
    """How many of the folds hold enough labels."""
    return min(count, math.ceil(count * _ENOUGH_LABELS / max(split.train.size, 1)))


def _sensible_folds(graph: Graph) -> int:
    size = _size(graph)
    return next((count for limit, count in _FOLDS_BY_SIZE if size <= limit), 0)


def is_small(graph: Graph) -> bool:
    """Whether it is no matter how often the graph is copied."""
    return _size(graph) <= _FOLDS_BY_SIZE[0][0]


def _size(graph: Graph) -> int:
    features = graph.features
    stored = features.nnz if isinstance(features, csr_array) else 0 if features is None else features.size
    return int(stored + graph.adjacency.nnz)


def _carry_out(job: FoldJob, progress: ProgressCallback) -> FoldRecord:
    """Train a fold's model and write down what it predicts for the held-out labels."""
    finished = job.finished()
    if finished:
        return finished
    run = job.run
    checkpoint = run.checkpoint(job.path.with_suffix(".safetensors"))
    fit = run.fit(Context(job.device, checkpoint, progress=in_time(progress, job.limit)))
    result = fold_record(run.identity, run.number, run.split.test, fit)
    write_json(job.path, result.to_json())
    checkpoint.delete()
    return result


def _try(job: FoldJob, progress: ProgressCallback) -> FoldRecord | Failure:
    failures: list[Failure] = []
    with Failure.caught(failures):
        return _carry_out(job, progress)
    return failures[0]
