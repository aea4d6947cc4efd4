"""What several commands do: fetch a benchmark, print notes, run a session with live progress."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcgnn.assessment.trust import Assessment
    from lcgnn.runs.board import Board
    from lcgnn.runs.cross_validation import CrossValidation
    from lcgnn.runs.records import Summary
    from lcgnn.runs.session import Session


def print_notes(notes: tuple[str, ...]) -> None:
    from lcgnn.cli.display import err

    for note in notes:
        err.print(note, soft_wrap=True, markup=False)


def fetch(dataset: str, console: Any) -> None:
    """Load a dataset once with a progress bar, so that everything after finds it in the cache."""
    from lcgnn.cli.display import fetching
    from lcgnn.sources.benchmarks import load

    with fetching(console) as progress:
        load(dataset, progress=progress)


def run_session(session: Session, console: Any) -> Summary:
    """Run a session with live progress; Ctrl-C leaves it resumable and says how."""
    from lcgnn.cli.display import result_line
    from lcgnn.runs.summary import save_summary, summarize

    assessment, temperature = None, 1.0
    if session.cross_validation is not None:
        assessment = _cross_validate(session.cross_validation, console)
        temperature = assessment.calibration.temperature
    labels = [f"seed {spec.seed}" for spec in session.specs]
    with _progress_of(labels, "runs", console) as (board, results):
        for _, result in session.run(board, temperature):
            results.append(result)
            result_line(result, console)
    summary = summarize(session, results, assessment)
    save_summary(session, summary)
    return summary


def _cross_validate(cross_validation: CrossValidation, console: Any) -> Assessment:
    """Train the models of all folds with live progress, and say that it was done."""
    labels = [f"fold {number + 1}" for number in range(cross_validation.used)]
    with _progress_of(labels, "folds", console) as (board, done):
        for _, result in cross_validation.run(board):
            done.append(result)
    seconds = sum(result.seconds for result in done)
    console.print(f"{len(done)} folds of cross-validation: trained  [dim]({seconds:.1f} s)[/dim]", soft_wrap=True)
    return cross_validation.assess(done)


@contextmanager
def _progress_of(labels: list[str], what: str, console: Any) -> Iterator[tuple[Board, list[Any]]]:
    """A board that is shown live and a list of what is done, which tells at Ctrl-C how far it came."""
    from lcgnn.cli.display import watching
    from lcgnn.runs.board import temporary_board

    done: list[Any] = []
    try:
        with temporary_board(len(labels)) as board, watching(board, labels, console, what):
            yield board, done
    except KeyboardInterrupt:
        command = shlex.join(["lcgnn", *sys.argv[1:]])
        console.print(
            f"Stopped with {len(done)} of {len(labels)} {what} done. To continue: {command}", soft_wrap=True
        )
        raise
