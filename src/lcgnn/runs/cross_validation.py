"""Cross-validation over the given labels, so that a user knows how far to trust the predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from lcgnn.assessment.trust import Assessment, HeldOut
from lcgnn.errors import ConfigError, OutputError
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context
from lcgnn.runs.board import Board
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.run import ProgressCallback, Run
from lcgnn.runs.runner import run_jobs
from lcgnn.runs.shared_tables import sharing_tables
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.splits import folds

# Parts that the labels are divided into: on graphs of so many numbers (entries of features and adjacency) at most.
_FOLDS_BY_SIZE = ((2_000_000, 10), (20_000_000, 5))
# Held-out labels that are enough: the interval is then four percentage points to either side at most.
_ENOUGH_LABELS = 600


@dataclass(frozen=True)
class FoldRun(Run):
    """A run that is trained on all given labels but those of a fold, which are its test part.

    Args:
        number: Of the fold, from 0.
        count: How many there are.
    """

    number: int
    count: int

    def divided(self, graph: Graph, own: Split) -> Split:
        return folds(graph, super().divided(graph, own), self.count)[self.number]


@dataclass(frozen=True)
class CrossValidation:
    """The folds of a run's labels, each predicted by a model that is trained like the run's on the other labels.

    Args:
        spec: The run.
        count: Parts that its labels are divided into.
        used: So many of them are held out in turn.
        folder: Where the results are kept; a fold that is there is not repeated.
        device: What to compute on.
        workers: How many processes.
    """

    spec: RunSpec
    count: int
    used: int
    folder: Path
    device: str
    workers: int

    def run(self, board: Board) -> Iterator[tuple[int, FoldRecord]]:
        """Carry out the folds and yield (position, result) as they finish; what is done already comes at once."""
        jobs = [FoldRun(self.spec, number, self.count) for number in range(self.used)]
        carry_out = partial(_carry_out, self.folder, self.device)
        # No process is started for what is done.
        workers = min(self.workers, sum(_finished(self.folder, job) is None for job in jobs))
        yield from run_jobs(sharing_tables(self.spec.tables, carry_out), jobs, board, workers=workers)

    def assess(self, results: Sequence[FoldRecord]) -> Assessment:
        """What the results of all folds say."""
        graph, split = Run(self.spec).data
        results = sorted(results, key=lambda result: result.fold)
        nodes = [np.array(result.nodes, dtype=np.int64) for result in results]
        held_out = HeldOut(
            labels=graph.labels[np.concatenate(nodes)],
            distribution=np.concatenate([np.array(result.probabilities, np.float32) for result in results]),
            fold=np.repeat([result.fold for result in results], [part.size for part in nodes]),
        )
        return Assessment.of(held_out, given=split.train.size, of_folds=self.count)


def plan_cross_validation(
    spec: RunSpec, asked: int | None, folder: Path, device: str, workers: int
) -> tuple[CrossValidation | None, list[str]]:
    """The cross-validation of a run, or none and what there is to say of it.

    Args:
        spec: The run.
        asked: How many folds; 0 for none, None for as many as make sense.
        folder: Where the results of the folds go.
        device: What to compute on.
        workers: How many processes at most.
    """
    if asked is not None and (asked < 0 or asked == 1):
        raise ConfigError(
            f"The number of folds cannot be {asked}. Ask for 2 or more, or for 0 to estimate nothing."
        )
    graph, split = Run(spec).data
    if asked == 0 or (asked is None and split.test.size):
        return None, []
    per_class = np.bincount(graph.labels[split.train], minlength=graph.num_classes)
    if per_class.max() < 2:
        return None, ["Expected accuracy is not estimated: no class has two labels, so none can be held out."]
    count = min(asked or _sensible_folds(graph), int(per_class.max()))
    if not count:
        return None, [
            "Expected accuracy is not estimated on a graph of this size unless you ask for it, because a further "
            "model is trained for each part of the labels that is held out: --folds 5"
        ]
    used = count if asked else min(count, math.ceil(count * _ENOUGH_LABELS / split.train.size))
    return CrossValidation(spec, count, used, folder, device, workers), []


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
    _, split = run.data
    result = FoldRecord(
        run=run.identity,
        fold=run.number,
        nodes=tuple(split.test.tolist()),
        probabilities=tuple(map(tuple, fit.label_distribution[split.test].tolist())),
        seconds=round(fit.seconds, 3),
    )
    write_json(path, result.to_json())
    checkpoint.delete()
    return result


def _path(folder: Path, run: FoldRun) -> Path:
    return folder / f"fold-{run.number + 1}.json"


def _finished(folder: Path, run: FoldRun) -> FoldRecord | None:
    path = _path(folder, run)
    try:
        record = FoldRecord.from_json(read_json(path), str(path))
    except OutputError:
        return None
    return record if record.run == run.identity else None
