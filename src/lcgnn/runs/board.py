"""Where parallel runs pin up how far they are: a small memory-mapped file, one slot a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lcgnn.errors import OutputError
from lcgnn.files import SPACE_HINT, temporary_folder
from lcgnn.training.loop import Progress

_SLOT = np.dtype([("state", "i4"), ("epoch", "i4"), ("epochs", "i4"), ("accuracy", "f4"), ("phase", "S48")])
WAITING, RUNNING, DONE = 0, 1, 2


class Board:
    """Shared by the process that shows progress and the ones that make it.

    Args:
        path: Of the file.
        size: Number of slots, to make a new board; None to open the one that is there.
    """

    def __init__(self, path: Path, size: int | None = None) -> None:
        self.path = path
        if size is not None:
            try:
                path.write_bytes(np.zeros(size, dtype=_SLOT).tobytes())
            except OSError as error:
                raise OutputError(f"Cannot write {path}: {error.strerror}. {SPACE_HINT}") from error
        self._slots: Any = np.memmap(path, dtype=_SLOT, mode="r+")

    def reporter(self, slot: int) -> Callable[[Progress], None]:
        """A progress callback that writes to one slot."""

        def report(progress: Progress) -> None:
            entry = self._slots[slot]
            entry["epoch"], entry["epochs"] = progress.epoch, progress.epochs
            accuracy = progress.validation_accuracy
            entry["accuracy"] = np.nan if accuracy is None else accuracy
            entry["phase"] = progress.phase.encode()[:48]
            entry["state"] = RUNNING

        return report

    def finish(self, slot: int) -> None:
        """Mark a run as done."""
        self._slots[slot]["state"] = DONE

    def count(self, state: int) -> int:
        """How many runs are in a state."""
        return int((self._slots["state"] == state).sum())

    def running(self) -> list[tuple[int, Progress]]:
        """The runs under way, each with its slot."""
        slots = np.flatnonzero(self._slots["state"] == RUNNING).tolist()
        return [(slot, _progress(self._slots[slot])) for slot in slots]


@contextmanager
def temporary_board(size: int) -> Iterator[Board]:
    """A board for so many runs, gone when the block ends."""
    folder = temporary_folder("progress")
    try:
        yield Board(folder / "progress", max(size, 1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _progress(entry: Any) -> Progress:
    accuracy = float(entry["accuracy"])
    return Progress(
        bytes(entry["phase"]).decode(errors="replace"),
        int(entry["epoch"]),
        int(entry["epochs"]),
        float("nan"),
        None if np.isnan(accuracy) else accuracy,
    )
