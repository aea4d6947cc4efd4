"""What a session came to: the results of all seeds together, and in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.assessment.evaluation import Summary as OverSeeds
from lcgnn.assessment.trust import Assessment
from lcgnn.runs.records import Answers, Communication, Record, StageSummary, Summary
from lcgnn.runs.reported import Reported, paper_results
from lcgnn.runs.session import Session

# A loss of more than this by label consistency is no chance.
_COLLAPSE = -0.1


def summarize(
    session: Session,
    records: Sequence[Record],
    assessment: Assessment | None = None,
    communication: Communication | None = None,
) -> Summary:
    """All results of a session, every stage beside what the paper reports for it."""
    records = sorted(records, key=lambda record: record.seed)
    stages = tuple(_stage(session, position, records) for position in range(len(records[0].stages)))
    configuration = session.configuration
    return Summary(
        dataset=configuration.dataset,
        method=configuration.method,
        split=configuration.split,
        settings=configuration.settings,
        seeds=tuple(record.seed for record in records),
        seconds=tuple(record.seconds for record in records),
        stages=stages,
        folder=str(session.folder),
        lcgnn=configuration.lcgnn,
        answers=Answers(
            predictions=tuple(map(str, session.predictions)),
            classes=records[0].class_counts or (),
            notes=session.notes,
        ),
        expected=assessment,
        difference=_difference(stages),
        communication=communication,
    )


def words(summary: Summary, *, can_predict: bool) -> tuple[str, ...]:
    """What a summary comes to in sentences: what label consistency brought, how far to trust it, where it is."""
    sentences = [*difference_in_words(summary)]
    if summary.expected is not None:
        sentences += summary.expected.sentences()
    if summary.answers is not None:
        sentences.append(f"Predictions: {summary.answers.predictions[0]}")
    if can_predict:
        command = f"lcgnn predict {shlex.quote(summary.folder)} GRAPH --out predictions.csv"
        sentences.append(f"For new nodes, or another graph: {command}")
    return tuple(sentences)


def difference_in_words(summary: Summary) -> list[str]:
    """What the last stage brought over the first, if both were measured."""
    difference = summary.difference
    if difference is None:
        return []
    text = f"{summary.method} minus {summary.stages[0].method}: {100 * difference.mean:+.1f} points"
    if math.isnan(difference.p_value):
        sentences = [f"{text} (one seed: more --seeds tell whether that is luck)"]
    else:
        sentences = [
            f"{text} (95 % interval {100 * difference.low:+.1f} to {100 * difference.high:+.1f}, paired t-test "
            f"p = {difference.p_value:.2g}, better on {difference.wins} of {difference.count} seeds)"
        ]
    if difference.mean < _COLLAPSE:
        sentences.append(
            "So large a loss means that the base was not sure enough of its classes when the second phase began: "
            "give it more --base-epochs or a higher learning rate."
        )
    return sentences


def _difference(stages: Sequence[StageSummary]) -> PairedDifference | None:
    first, last = (
        [value for value in stage.test_accuracy if value is not None] for stage in (stages[0], stages[-1])
    )
    if len(stages) < 2 or not first:
        return None
    return PairedDifference.between(last, first)


def _stage(session: Session, position: int, records: Sequence[Record]) -> StageSummary:
    stages = [record.stages[position] for record in records]
    test = [stage.test_accuracy for stage in stages]
    measured = [value for value in test if value is not None]
    # Without test labels there is nothing to be measured.
    over_seeds = OverSeeds.of(measured) if len(measured) == len(test) else None
    is_last = position == len(records[0].stages) - 1
    method = session.configuration.method if is_last else session.runs[0].spec.base
    return StageSummary(
        name=stages[0].name,
        method=method,
        test_accuracy=tuple(test),
        validation_accuracy=tuple(stage.validation_accuracy for stage in stages),
        mean=None if over_seeds is None else over_seeds.mean,
        std=None if over_seeds is None else over_seeds.std,
        paper=_reported(session, method),
    )


def _reported(session: Session, method: str) -> Reported | None:
    """What the paper reports for this, if the session does what the paper did."""
    split, benchmark = session.configuration.split.spec, session.source.benchmark
    if split.kind != "public" or benchmark is None:
        return None
    return paper_results().get((method, benchmark, split.labels_per_class))
