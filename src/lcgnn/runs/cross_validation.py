"""Cross-validation over the given labels, so that a user knows how far to trust the predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from lcgnn.assessment.calibration import HeldOut
from lcgnn.assessment.trust import Assessment
from lcgnn.errors import ConfigError, OutputError
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Method
from lcgnn.runs.board import Board
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.run import ProgressCallback, Run
from lcgnn.runs.runner import run_jobs
from lcgnn.sources.splits import folds

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

    def results(self, board: Board) -> Iterator[tuple[int, FoldRecord]]:
        """Carry out the folds and yield (position, result) as they finish; what is done already comes at once."""
        jobs = [FoldRun(self.run.spec, self.run.loaded, number, self.count) for number in range(self.used)]
        carry_out = partial(_carry_out, self.folder, self.device)
        # No process is started for what is done.
        workers = min(self.workers, sum(_finished(self.folder, job) is None for job in jobs))
        yield from run_jobs(carry_out, jobs, board, workers=workers)

    def assess(self, results: Sequence[FoldRecord]) -> Assessment:
        """What the results of all folds say."""
        results = sorted(results, key=lambda result: result.fold)
        nodes = [np.array(result.nodes, dtype=np.int64) for result in results]
        held_out = HeldOut(
            labels=self.run.graph.labels[np.concatenate(nodes)],
            distribution=np.concatenate([np.array(result.probabilities, np.float32) for result in results]),
            fold=np.repeat([result.fold for result in results], [part.size for part in nodes]),
        )
        return Assessment.of(held_out, given=self.run.split.train.size, of_folds=self.count)


def cross_validated(
    method: Method, graph: Graph, split: Split, seed: int, *, asked: int | None = None, device: str = "auto"
) -> Assessment | None:
    """How far to trust a fit of the method, by fits without some of the labels, one after the other.

    Args:
        method: As it is fitted to all labels.
        graph: The graph.
        split: Its training labels are divided.
        seed: Of every fit.
        asked: How many folds; None for as many as make sense.
        device: What to compute on.

    Returns:
        None where no class has two labels, so that none can be held out.
    """
    _check_asked(asked)
    largest = _most_labels(graph, split)
    if largest < 2:
        return None
    # Who calls this has asked for it, however large the graph is.
    count = min(asked or _sensible_folds(graph) or _FOLDS_BY_SIZE[-1][1], largest)
    parts = folds(graph, split, count)[: count if asked else _enough_folds(count, split)]
    found = [method.fit(graph, part, seed, Context(device)).label_distribution[part.test] for part in parts]
    held_out = HeldOut(
        labels=graph.labels[np.concatenate([part.test for part in parts])],
        distribution=np.concatenate(found),
        fold=np.repeat(np.arange(len(parts)), [part.test.size for part in parts]),
    )
    return Assessment.of(held_out, given=split.train.size, of_folds=count)


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
    _check_asked(asked)
    graph, split = run.graph, run.split
    if asked == 0 or (asked is None and split.test.size):
        return None, []
    largest = _most_labels(graph, split)
    if largest < 2:
        return None, ["Expected accuracy is not estimated: no class has two labels, so none can be held out."]
    count = min(asked or _sensible_folds(graph), largest)
    if not count:
        return None, [
            "Expected accuracy is not estimated on a graph of this size unless you ask for it, because a further "
            "model is trained for each part of the labels that is held out: --folds 5"
        ]
    used = count if asked else _enough_folds(count, split)
    return CrossValidation(run, count, used, folder, device, workers), []


def _check_asked(asked: int | None) -> None:
    if asked is not None and (asked < 0 or asked == 1):
        raise ConfigError(
            f"The number of folds cannot be {asked}. Ask for 2 or more, or for 0 to estimate nothing."
        )


def _most_labels(graph: Graph, split: Split) -> int:
    """Of a class, among the training labels."""
    return int(np.bincount(graph.labels[split.train], minlength=graph.num_classes).max())


def _enough_folds(count: int, split: Split) -> int:
    """How many of the folds hold enough labels."""
    return min(count, math.ceil(count * _ENOUGH_LABELS / split.train.size))


def _sensible_folds(graph: Graph) -> int:
    features = graph.features
    stored = features.nnz if isinstance(features, csr_array) else 0 if features is None else features.size
    size = stored + graph.adjacency.nnz
    return next((count for limit, count in _FOLDS_BY_SIZE if size <= limit), 0)


def _carry_out(folder: Path, device: str, run: FoldRun, progress: ProgressCallback) -> FoldRecord:
    """Train a fold's model and write down what it predicts for the held-out labels."""
    finished = _finished(folder, run)
    if finished:
        return finished
    path = _path(folder, run)
    checkpoint = run.checkpoint(path.with_suffix(".safetensors"))
    fit = run.fit(Context(device, checkpoint, progress=progress))
    held_out = run.split.test
    result = FoldRecord(
        run=run.identity,
        fold=run.number,
        nodes=tuple(held_out.tolist()),
        probabilities=tuple(tuple(row) for row in fit.label_distribution[held_out].tolist()),
        seconds=round(fit.seconds, 3),
    )
    write_json(path, result.to_json())
    checkpoint.delete()
    return result


def _path(folder: Path, run: FoldRun) -> Path:
    return folder / f"fold-{run.number + 1}.json"


def _finished(folder: Path, run: FoldRun) -> FoldRecord | None:
    """What a fold left behind when it was done, if that can be what it predicts for its labels."""
    path = _path(folder, run)
    try:
        record = FoldRecord.from_json(read_json(path), str(path))
    except OutputError:
        return None
    is_own = (record.run, record.fold, record.nodes) == (run.identity, run.number, tuple(run.split.test.tolist()))
    return record if is_own and _are_distributions(record, run.graph.num_classes) else None


def _are_distributions(record: FoldRecord, num_classes: int) -> bool:
    return all(
        len(row) == num_classes and min(row) >= 0 and abs(sum(row) - 1) < _ROUNDING for row in record.probabilities
    )
