"""Many runs over worker processes, which share the cores."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from pickle import PicklingError
from typing import TypeVar

import torch
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from lcgnn.compute import kernels
from lcgnn.compute.kernels import threads
from lcgnn.compute.placement.launch import end_with_parent
from lcgnn.errors import OutputError
from lcgnn.runs.board import Board
from lcgnn.training.loop import Progress

Job = TypeVar("Job")
Result = TypeVar("Result")
CarryOut = Callable[[Job, Callable[[Progress], None]], Result]

# Times in a row that workers may be killed before the runner gives up.
_MOST_LOSSES = 3


def run_jobs(
    carry_out: CarryOut[Job, Result],
    jobs: Sequence[Job],
    board: Board,
    *,
    workers: int,
    positions: Sequence[int] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Call ``carry_out(job, progress)`` for every job and yield (position, result) as they finish.

    Positions are those of the jobs, or what is given; they are the slots of the board, too.

    With one worker everything happens in this process. A worker that is killed takes the jobs under way with it;
    they are begun again, and OutputError is raised if that happens several times with nothing finished between.
    Closing the iterator, or an interrupt, ends the workers; their runs can be continued.
    """
    left = dict(zip(range(len(jobs)) if positions is None else positions, jobs, strict=True))
    if workers <= 1:
        # Rows are divided by lcgnn itself (``kernels.threads``): torch's sums depend on how many threads it has.
        torch.set_num_threads(1)
        for position, job in left.items():
            yield _carry_out(carry_out, position, job, board)
        return
    kernels.ready()
    losses = 0
    while left:
        try:
            for position, result in _over_workers(carry_out, left, board, workers):
                del left[position]
                losses = 0
                yield position, result
        except TerminatedWorkerError as error:
            losses += 1
            if losses == _MOST_LOSSES:
                raise OutputError(
                    f"Worker processes were killed {losses} times in a row, perhaps for want of memory. What is "
                    "done is kept; try fewer with --workers."
                ) from error


def _over_workers(
    carry_out: CarryOut[Job, Result], jobs: Mapping[int, Job], board: Board, workers: int
) -> Iterator[tuple[int, Result]]:
    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered", batch_size=1)
    here = Path.cwd()
    tasks = (
        delayed(_carry_out_in_worker)(carry_out, position, job, board.path, here, threads.number(workers))
        for position, job in list(jobs.items())
    )
    finished = False
    try:
        yield from parallel(tasks)
        finished = True
    except (OSError, PicklingError) as error:
        # Large arrays reach the workers through files, which joblib keeps in shared memory where it can.
        raise OutputError(
            f"The workers cannot be given their work ({error}). If the shared memory is full, set "
            "JOBLIB_TEMP_FOLDER to a folder with space, or use --workers 1."
        ) from error
    finally:
        if not finished:
            get_reusable_executor().shutdown(wait=False, kill_workers=True)


def _carry_out_in_worker(
    carry_out: CarryOut[Job, Result], position: int, job: Job, board: Path, folder: Path, num_threads: int
) -> tuple[int, Result]:
    # Ctrl-C reaches the whole process group; the parent decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    torch.set_num_threads(1)
    # Workers are used again, and whoever uses them may have gone to another folder since they began.
    os.chdir(folder)
    with threads.using(num_threads):
        return _carry_out(carry_out, position, job, Board(board))


def _carry_out(carry_out: CarryOut[Job, Result], position: int, job: Job, board: Board) -> tuple[int, Result]:
    result = carry_out(job, board.reporter(position))
    board.finish(position)
    return position, result
