"""Many runs over worker processes, which share the cores."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from pickle import PicklingError
from threading import Lock
from typing import Any, TypeVar

import torch
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from lcgnn.compute import kernels
from lcgnn.compute.kernels import threads
from lcgnn.errors import OutputError
from lcgnn.runs.board import Board
from lcgnn.runs.workers import end, end_all, end_started, executor, interrupts_later, settle_in
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
    here: bool = False,
) -> Iterator[tuple[int, Result]]:
    """Call ``carry_out(job, progress)`` for every job and yield (position, result) as they finish.

    Positions are those of the jobs, or what is given; they are the slots of the board, too.

    With one worker everything happens in this process. With ``here`` this process is one of several workers, which
    saves the start of one; it is for small jobs, which reach the others as copies.

    A worker that is killed takes the jobs under way with it; they are begun again, and OutputError is raised if
    that happens several times with nothing finished between. Closing the iterator, or an interrupt, ends the
    workers; their runs can be continued.
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
            for position, result in (_beside if here else _over_workers)(carry_out, left, board, workers):
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
    # Joblib would take over processes that were started ahead, whose executor knows nothing of its shared arrays.
    end_started()
    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered", batch_size=1)
    here = Path.cwd()
    tasks = (
        delayed(_carry_out_in_worker)(carry_out, position, job, board.path, here, threads.number(workers))
        for position, job in list(jobs.items())
    )
    finished = False
    # A process that has read several large graphs is replaced by a new one, which is nothing to worry about.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    try:
        with interrupts_later():
            results = parallel(tasks)
        yield from results
        finished = True
    except (OSError, PicklingError) as error:
        # Large arrays reach the workers through files, which joblib keeps in shared memory where it can.
        raise _not_given(error) from error
    finally:
        if not finished:
            end_all()


def _beside(
    carry_out: CarryOut[Job, Result], jobs: Mapping[int, Job], board: Board, workers: int
) -> Iterator[tuple[int, Result]]:
    """As ``_over_workers``, with this process as the last of the workers."""
    torch.set_num_threads(1)
    handed_out, of_each = _HandedOut(carry_out, jobs, board, workers - 1), threads.number(workers)
    finished = False
    try:
        while (own := handed_out.next()) is not None:
            with threads.using(of_each):
                result = _carry_out(carry_out, *own, board)
            yield result
            yield from handed_out.finished(wait=False)
        yield from handed_out.finished(wait=True)
        finished = True
    except PicklingError as error:
        raise _not_given(error) from error
    finally:
        if not finished:
            handed_out.end()


class _HandedOut:
    """Jobs that go to processes one by one, each as soon as there is one that has nothing to do.

    Args:
        carry_out: What is done with a job.
        jobs: By position, in the order in which they are handed out.
        board: Where they say how far they are.
        count: How many processes, beside this one.
    """

    def __init__(self, carry_out: CarryOut[Any, Any], jobs: Mapping[int, Any], board: Board, count: int) -> None:
        self.carry_out = carry_out
        self.where = board.path, Path.cwd(), threads.number(count + 1)
        self.waiting = deque(jobs.items())
        self.processes = executor(count)
        # Nothing is handed out while, or after, the processes are ended.
        self.handing_out = Lock()
        self.futures: deque[Future[tuple[int, Any]]] = deque()
        for _ in range(count):
            self._hand_out()

    def next(self) -> tuple[int, Any] | None:
        """A job that no process has, with its position; None where there is none left."""
        try:
            return self.waiting.popleft()
        except IndexError:
            return None

    def finished(self, *, wait: bool) -> Iterator[tuple[int, Any]]:
        """What has come of jobs since it was last asked; with ``wait``, of all."""
        for _ in range(len(self.futures)):
            future = self.futures.popleft()
            if wait or future.done():
                yield future.result()
            else:
                self.futures.append(future)
        if wait and self.futures:
            yield from self.finished(wait=True)

    def end(self) -> None:
        """End the processes, whatever they are at; none is given anything more."""
        with self.handing_out:
            self.waiting.clear()
        end(self.processes)

    def _hand_out(self, _: object = None) -> None:
        """Called again by whatever finishes, from a thread of the executor."""
        with self.handing_out:
            job = self.next()
            if job is None:
                return
            try:
                future = self.processes.submit(_carry_out_in_worker, self.carry_out, *job, *self.where)
            except (TerminatedWorkerError, RuntimeError):
                # Its processes are gone: what was handed out says so.
                self.waiting.append(job)
                return
            self.futures.append(future)
        future.add_done_callback(self._hand_out)


def _not_given(error: Exception) -> OutputError:
    return OutputError(
        f"The workers cannot be given their work ({error}). If the shared memory is full, set JOBLIB_TEMP_FOLDER "
        "to a folder with space, or use --workers 1."
    )


def _carry_out_in_worker(
    carry_out: CarryOut[Job, Result], position: int, job: Job, board: Path, folder: Path, num_threads: int
) -> tuple[int, Result]:
    # Ctrl-C reaches the whole process group; the parent decides what becomes of the workers.
    settle_in()
    torch.set_num_threads(1)
    # Workers are used again, and whoever uses them may have gone to another folder since they began.
    os.chdir(folder)
    with threads.using(num_threads):
        return _carry_out(carry_out, position, job, Board(board))


def _carry_out(carry_out: CarryOut[Job, Result], position: int, job: Job, board: Board) -> tuple[int, Result]:
    result = carry_out(job, board.reporter(position))
    board.finish(position)
    return position, result
