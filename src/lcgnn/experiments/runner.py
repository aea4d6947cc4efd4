"""Many runs over worker processes, one thread each."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

from lcgnn.artifacts import PredictionFormat
from lcgnn.experiments.board import Board
from lcgnn.experiments.run import execute
from lcgnn.experiments.spec import RunSpec


@dataclass(frozen=True)
class Job:
    """A run and the folder that it writes to."""

    spec: RunSpec
    folder: Path


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job],
    board: Board,
    *,
    workers: int,
    device: str = "auto",
    prediction_format: PredictionFormat = "csv",
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Carry out the jobs and yield (position, result) as they finish.

    With one worker everything happens in this process. Closing the iterator, or an interrupt, ends the workers;
    their runs can be continued.
    """
    if workers <= 1:
        torch.set_num_threads(1)
        for position, job in enumerate(jobs):
            yield _carry_out(position, job, board, device, prediction_format)
        return
    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered", batch_size=1)
    tasks = (
        delayed(_carry_out_in_worker)(position, job, board.path, device, prediction_format)
        for position, job in enumerate(jobs)
    )
    finished = False
    try:
        yield from parallel(tasks)
        finished = True
    finally:
        if not finished:
            get_reusable_executor().shutdown(wait=False, kill_workers=True)


def _carry_out_in_worker(
    position: int, job: Job, board: Path, device: str, prediction_format: PredictionFormat
) -> tuple[int, dict[str, Any]]:
    # Ctrl-C reaches the whole process group; the parent decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    return _carry_out(position, job, Board(board), device, prediction_format)


def _carry_out(
    position: int, job: Job, board: Board, device: str, prediction_format: PredictionFormat
) -> tuple[int, dict[str, Any]]:
    result = execute(
        job.spec,
        job.folder,
        device=device,
        prediction_format=prediction_format,
        progress=board.reporter(position),
    )
    board.finish(position)
    return position, result
