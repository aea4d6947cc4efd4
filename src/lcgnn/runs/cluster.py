"""Many runs on the workers of a Dask cluster, and what is said when it is not there, or there no more."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

import torch

from lcgnn.compute.kernels.threads import using
from lcgnn.errors import ConfigError, OutputError
from lcgnn.extras import need
from lcgnn.runs.board import Board

Job = TypeVar("Job")
Result = TypeVar("Result")

# Seconds between two looks at whether anybody is still at work.
_LOOK_AGAIN = 2.0
# So many jobs are with the cluster for each of its threads: none waits while the next job is on its way.
_JOBS_PER_THREAD = 2


def cluster_timeout() -> float:
    """Seconds that a cluster may be without any worker."""
    return float(os.environ.get("LCGNN_CLUSTER_TIMEOUT", "60"))


def run_on_cluster(
    carry_out: Callable[[Job], Result], jobs: Iterable[tuple[int, Job]], board: Board, *, scheduler: str
) -> Iterator[tuple[int, Result]]:
    """Call ``carry_out(job)`` for every job on the workers of a Dask scheduler, and yield as ``run_jobs`` does.

    A job whose worker is lost is done again on another one. ConfigError if there is no scheduler or no worker,
    OutputError if they are lost on the way.

    Args:
        carry_out: Importable on the workers.
        jobs: What to do, each with its position; only as many are taken at a time as keep the workers busy, so
            that others can do the rest.
        board: Told what has finished; jobs on other machines cannot say how far they are.
        scheduler: Its address, such as "tcp://10.0.0.1:8786".
    """
    distributed = need("distributed", "A cluster")
    _silence()
    with _connected(distributed, scheduler) as client, _told(distributed, scheduler):
        left, under_way = iter(jobs), dict[Any, int]()

        def submit() -> None:
            room = _JOBS_PER_THREAD * max(sum(client.nthreads().values()), 1) - len(under_way)
            for position, job in islice(left, max(room, 0)):
                under_way[client.submit(_carry_out_on_cluster, carry_out, job, pure=False)] = position

        try:
            submit()
            for future in _as_completed(distributed, client, under_way, scheduler):
                result, position = future.result(), under_way.pop(future)
                submit()
                board.finish(position)
                yield position, result
        finally:
            if client.status == "running":
                with suppress(OSError, TimeoutError, CancelledError):
                    client.cancel(list(under_way))


@contextmanager
def _connected(distributed: Any, scheduler: str) -> Iterator[Any]:
    try:
        client = distributed.Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise ConfigError(f"No Dask scheduler answers at {scheduler}. Start one: dask scheduler") from error
    try:
        yield client
    finally:
        with suppress(OSError, TimeoutError, CancelledError):
            client.close(timeout=5)


@contextmanager
def _told(distributed: Any, scheduler: str) -> Iterator[None]:
    """Say in a line what Dask raises in its own words."""
    kept = "What is done is kept; give the command again to continue."
    try:
        yield
    except distributed.scheduler.KilledWorker as error:
        raise OutputError(
            f"A run ended every Dask worker that it was given to, perhaps for want of memory. {kept}"
        ) from error
    except (CancelledError, OSError, TimeoutError) as error:
        raise OutputError(f"The Dask scheduler at {scheduler} was lost. {kept}") from error


def _as_completed(distributed: Any, client: Any, under_way: Mapping[Any, int], scheduler: str) -> Iterator[Any]:
    """The futures as they finish, until none is under way, and as long as there is somebody to finish them."""
    seen = time.monotonic()
    while under_way:
        # Where it has waited in vain, it raises the TimeoutError of asyncio, which older versions of Python tell
        # from the other one.
        try:
            done = distributed.wait(list(under_way), timeout=_LOOK_AGAIN, return_when="FIRST_COMPLETED").done
        except distributed.TimeoutError:
            done = set()
        yield from done
        if client.status != "running":
            raise CancelledError
        if done or client.scheduler_info()["workers"]:
            seen = time.monotonic()
        elif time.monotonic() - seen > cluster_timeout():
            raise ConfigError(
                f"The Dask scheduler at {scheduler} has had no worker for {cluster_timeout():g} s. "
                f"Start some: dask worker {scheduler}"
            )


def _silence() -> None:
    """Keep Dask from logging stack traces of what is told in a line."""
    for name in [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _carry_out_on_cluster(carry_out: Callable[[Job], Result], job: Job) -> Result:
    # How many workers share a machine is not known here.
    torch.set_num_threads(1)
    with using(1):
        return carry_out(job)
