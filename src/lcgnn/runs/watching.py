"""What somebody who waits for a training is told while it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lcgnn.runs.board import Board
from lcgnn.runs.records import FoldRecord, Record
from lcgnn.sources.source import Progress


class Watcher:
    """Told how a training goes; this one keeps silent, and others show what they are told."""

    @contextmanager
    def reading(self) -> Iterator[Progress | None]:
        """While the graph is fetched and read; what is yielded is told how far that is."""
        yield None

    def notes(self, notes: Sequence[str]) -> None:
        """What there is to say of the graph and its labels, before any training."""

    def says(self, sentence: str) -> None:
        """What is going on while methods are compared: how long it takes, what was dropped."""

    @contextmanager
    def working(self, board: Board, labels: Sequence[str], what: str) -> Iterator[None]:
        """While runs are under way, which pin up on the board how far they are.

        Args:
            board: One slot a run.
            labels: What to call them.
            what: What they are: "runs" or "folds".
        """
        del board, labels, what
        yield

    def trained_folds(self, records: Sequence[FoldRecord], seconds: float) -> None:
        """All folds of the cross-validation are done, so many seconds by the clock after they began."""

    def read_folds(self, records: Sequence[FoldRecord], seconds: float) -> None:
        """The same, where all folds were there from an earlier run and none was trained."""
        self.trained_folds(records, seconds)

    def trained(self, record: Record) -> None:
        """A run is done."""

    def trained_all(self, records: Sequence[Record], seconds: float) -> None:
        """All runs are done, so many seconds by the clock after they began."""
