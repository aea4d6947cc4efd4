"""What the terminal shows while a training goes on, and what Ctrl-C leaves behind."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lcgnn.cli.display import fetching, group_line, print_notes, result_line, watching
from lcgnn.runs.board import DONE, Board
from lcgnn.runs.records import FoldRecord, Record
from lcgnn.runs.watching import Watcher
from lcgnn.sources.source import Progress


class TerminalWatcher(Watcher):
    """Shows everything on a console.

    Args:
        console: Where to.
    """

    def __init__(self, console: Any) -> None:
        self.console = console

    @contextmanager
    def reading(self) -> Iterator[Progress | None]:
        with fetching(self.console) as progress:
            yield progress

    def notes(self, notes: Sequence[str]) -> None:
        print_notes(notes)

    def says(self, sentence: str) -> None:
        print_notes([sentence])

    @contextmanager
    def working(self, board: Board, labels: Sequence[str], what: str) -> Iterator[None]:
        try:
            with watching(board, labels, self.console, what):
                yield
        except KeyboardInterrupt:
            command = shlex.join(["lcgnn", *sys.argv[1:]])
            done = f"{board.count(DONE)} of {len(labels)} {what} done"
            self.console.print(f"Stopped with {done}. To continue: {command}", soft_wrap=True)
            raise

    def trained_folds(self, records: Sequence[FoldRecord], seconds: float) -> None:
        group_line(f"{len(records)} folds of cross-validation", seconds, self.console)

    def read_folds(self, records: Sequence[FoldRecord], seconds: float) -> None:
        group_line(f"{len(records)} folds of cross-validation", seconds, self.console, "there from an earlier run")

    def trained(self, record: Record) -> None:
        result_line(record, self.console)

    def trained_all(self, records: Sequence[Record], seconds: float) -> None:
        if len(records) > 1:
            group_line(f"all {len(records)} seeds", seconds, self.console)
