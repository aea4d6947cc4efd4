"""What a command begins before it imports anything large."""

from __future__ import annotations

import sys

_is_program = False


def this_is_the_program() -> None:
    """From here on a command may start processes ahead; one that another program calls leaves that to it."""
    global _is_program
    _is_program = True


def start_workers(graph: str, workers: int | None, *, seeds: int = 1, folds: bool = True) -> None:
    """Start the processes that will train, if there will be such; see ``runs/workers.py``."""
    if _is_program:
        from lcgnn.runs.workers import start_ahead

        start_ahead(graph, workers, seeds=seeds, folds=folds)


def end_workers() -> None:
    """Nobody waits for processes to end that have nothing to do any more, or have only just begun."""
    workers = sys.modules.get("lcgnn.runs.workers")
    if _is_program and workers is not None:
        workers.end_started()
