"""What several commands do: fetch a benchmark, print notes, run a session with live progress."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcgnn.experiments.session import Session


def print_notes(notes: tuple[str, ...]) -> None:
    from lcgnn.display import err

    for note in notes:
        err.print(note, soft_wrap=True, markup=False)


def fetch(dataset: str, console: Any) -> None:
    """Load a dataset once with a progress bar, so that everything after finds it in the cache."""
    from lcgnn.datasets import load
    from lcgnn.display import fetching

    with fetching(console) as progress:
        load(dataset, progress=progress)


def run_session(session: Session, console: Any) -> dict[str, Any]:
    """Run a session with live progress; Ctrl-C leaves it resumable and says how."""
    from lcgnn.display import result_line, watching
    from lcgnn.experiments.board import temporary_board
    from lcgnn.experiments.session import save_summary, summarize

    labels = [f"seed {spec.seed}" for spec in session.specs]
    results = []
    try:
        with temporary_board(len(labels)) as board, watching(board, labels, console):
            for _, result in session.run(board):
                results.append(result)
                result_line(result, console)
    except KeyboardInterrupt:
        command = shlex.join(["lcgnn", *sys.argv[1:]])
        console.print(
            f"Stopped with {len(results)} of {len(labels)} runs done. To continue: {command}", soft_wrap=True
        )
        raise
    summary = summarize(session, results)
    save_summary(session, summary)
    return summary
