"""What a session came to: the results of all seeds together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lcgnn.assessment import evaluation
from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.assessment.trust import Assessment
from lcgnn.files import write_json
from lcgnn.methods import entry
from lcgnn.runs.records import Answers, Record, StageSummary, Summary
from lcgnn.runs.reported import Reported, paper_results
from lcgnn.runs.session import Session


def summarize(session: Session, results: Sequence[Record], assessment: Assessment | None = None) -> Summary:
    """All results of a session, every stage beside what the paper reports for it."""
    results = sorted(results, key=lambda result: result.seed)
    stages = tuple(_stage_summary(session, position, results) for position in range(len(results[0].stages)))
    return Summary(
        dataset=session.configuration.dataset,
        method=session.configuration.method,
        split=session.configuration.split,
        settings=session.configuration.settings,
        seeds=tuple(result.seed for result in results),
        seconds=tuple(result.seconds for result in results),
        stages=stages,
        folder=str(session.folder),
        lcgnn=session.configuration.lcgnn,
        answers=None if session.tables is None else _answers(session, results[0]),
        expected=assessment,
        difference=_difference(stages),
    )


def save_summary(session: Session, summary: Summary) -> Path:
    """Write the summary into the session's folder."""
    path = session.folder / "summary.json"
    write_json(path, summary.to_json())
    return path


def _answers(session: Session, first: Record) -> Answers:
    """Where the predictions are, and how many of each class by the first seed."""
    paths = [
        session.folder / f"seed-{spec.seed}" / f"predictions.{session.prediction_format}" for spec in session.specs
    ]
    return Answers(tuple(map(str, paths)), first.class_counts or (), session.notes)


def _difference(stages: Sequence[StageSummary]) -> PairedDifference | None:
    """The last stage minus the first, seed by seed, where both were measured."""
    last, first = (
        [accuracy for accuracy in stage.test_accuracy if accuracy is not None] for stage in (stages[-1], stages[0])
    )
    return PairedDifference.between(last, first) if len(stages) > 1 and first else None


def _stage_summary(session: Session, position: int, results: Sequence[Record]) -> StageSummary:
    stages = [result.stages[position] for result in results]
    measured = [stage.test_accuracy for stage in stages if stage.test_accuracy is not None]
    # Without test labels there is nothing to be measured.
    over_seeds = evaluation.Summary.of(measured) if measured else None
    method = session.configuration.method
    is_last = position == len(results[0].stages) - 1
    shown = method if is_last else entry(method).family
    return StageSummary(
        name=stages[0].name,
        method=shown,
        test_accuracy=tuple(stage.test_accuracy for stage in stages),
        validation_accuracy=tuple(stage.validation_accuracy for stage in stages),
        mean=None if over_seeds is None else over_seeds.mean,
        std=None if over_seeds is None else over_seeds.std,
        paper=_reported(session, shown),
    )


def _reported(session: Session, method: str) -> Reported | None:
    """What the paper reports for this, if the session does what the paper did."""
    split = session.configuration.split.spec
    if split.kind != "public" or session.tables is not None:
        return None
    return paper_results().get((method, session.configuration.dataset, split.labels_per_class))
