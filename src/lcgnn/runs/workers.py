"""Processes that train beside this one, started before there is work for them: torch takes them seconds to import.

Nothing here waits for torch, so that a command can start them before it imports anything large itself.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lcgnn.compute.placement.launch import end_with_parent, is_launched
from lcgnn.limits import available_cores

# Idle processes end after so many seconds.
_IDLE = 300
# Of more bytes no folds are trained without being asked for, and reading takes longer than starting a process.
_LARGE = 2**25
# Folds of a small graph.
_FOLDS = 10
# Within so many seconds a job is on its way to a process.
_ON_ITS_WAY = 0.5

_started: list[Any] = []


def executor(count: int) -> Any:
    """So many processes beside this one; those that are there already are used again."""
    from joblib.externals.loky import get_reusable_executor

    with _helper_is_quiet():
        _started[:] = [get_reusable_executor(max_workers=count, timeout=_IDLE)]
    return _started[0]


@contextmanager
def _helper_is_quiet() -> Iterator[None]:
    """The helper that is started with processes does not end with a complaint about a lock that is gone.

    It has one where a process was ended between removing the lock and saying so, and nobody can do anything.
    """
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join([*([before] if before else []), "ignore:resource_tracker:UserWarning"])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def end_started() -> None:
    """End the processes of ``executor``, if there are any."""
    for beside in _started:
        with suppress(OSError, RuntimeError):
            end(beside)
    _started.clear()


def end_all() -> None:
    """End the processes of joblib's own, whatever they are at."""
    from joblib.externals.loky import get_reusable_executor

    end(get_reusable_executor(reuse=True))


def end(beside: Any) -> None:
    """End the processes of an executor, whatever they are at; nobody may give it a job any more."""
    # An executor that is ended while a job is not yet on its way to a process forgets the job, then looks for it,
    # and its thread dies of that with a traceback (loky 3.6).
    until = time.monotonic() + _ON_ITS_WAY
    while not beside._work_ids.empty() and time.monotonic() < until:
        time.sleep(0.001)
    beside.shutdown(wait=False, kill_workers=True)


def start_ahead(graph: str, workers: int | None, *, seeds: int = 1, folds: bool = True) -> None:
    """Have processes import what training needs while this one does, and reads the graph.

    Args:
        graph: What the user named; a benchmark has no folds.
        workers: Processes that are asked for; None for one a core.
        seeds: To be trained.
        folds: Whether there may be some.
    """
    jobs = max(seeds, _FOLDS if folds and _is_small(Path(graph)) else 1)
    count = min(available_cores() if workers is None else workers, jobs) - 1
    if count < 1 or is_launched():
        return
    try:
        with interrupts_later():
            beside = executor(count)
            for _ in range(count):
                beside.submit(_get_ready)
    except (OSError, RuntimeError):
        # Whether they can be started at all is for those to tell who need them.
        end_started()


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Processes that are started inside never see an interrupt, which is for the one that starts them.

    Until they have got as far as to ignore it, they would end with a traceback of their imports.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # Multiprocessing's own helper would let interrupts through again once it has started (up to Python 3.12).
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def settle_in() -> None:
    """What a process does first: an interrupt is for the one that started it, and it ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _get_ready() -> None:
    settle_in()
    # Whether the kernels work is found out, and told, by the process that started this one as well.
    logging.getLogger("lcgnn.compute.kernels").setLevel(logging.ERROR)
    from lcgnn.compute import kernels
    from lcgnn.runs import cross_validation  # noqa: F401

    kernels.ready()


def _is_small(path: Path) -> bool:
    """Whether that is a file or a folder of the user's that is read in a moment."""
    try:
        files = path.iterdir() if path.is_dir() else [path]
        return path.exists() and sum(file.stat().st_size for file in files) < _LARGE
    except OSError:
        return False
