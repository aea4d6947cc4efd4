"""What a session came to: the results of all seeds together, and in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path

from lcgnn.assessment.evaluation import ClassCount, PairedDifference
from lcgnn.assessment.evaluation import Summary as OverSeeds
from lcgnn.assessment.trust_words import is_more_than_equal
from lcgnn.methods import is_registered
from lcgnn.runs.choice.verdict import Choice
from lcgnn.runs.choice.words import advice_in_words, choice_in_words, distrust_in_words
from lcgnn.runs.records import Answers, Communication, Record, StageRecord, StageSummary, Summary
from lcgnn.runs.reported import Reported, paper_results
from lcgnn.runs.seeds import Together
from lcgnn.runs.session import Session

# A loss of more than this by label consistency is no chance.
_COLLAPSE = -0.1
# If so large a share of so many nodes or more is predicted to be of one class, that is worth a word.
_NEARLY_ALL, _ENOUGH_NODES = 0.98, 20


def summarize(
    session: Session,
    records: Sequence[Record],
    choice: Choice | None = None,
    communication: Communication | None = None,
    together: Together | None = None,
) -> Summary:
    """All results of a session, every stage beside what the paper reports for it.

    Args:
        session: What was done.
        records: One a seed.
        choice: What was tried on held-out labels, and how far to trust the predictions, where that was estimated.
        communication: Of ranks that trained together.
        together: What several seeds predict together, where they do.
    """
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
            predictions=tuple(map(str, _predictions(session, together))),
            classes=(records[0].class_counts or ()) if together is None else together.classes,
            notes=session.notes,
        ),
        expected=None if choice is None else choice.assessment,
        difference=_difference(stages),
        communication=communication,
        choice=choice.record if choice is not None and len(choice.record.tried) > 1 else None,
    )


def words(summary: Summary, *, can_predict: bool) -> tuple[str, ...]:
    """What a summary comes to in sentences: what label consistency brought, how far to trust it, where it is."""
    sentences = [*difference_in_words(summary), *_notes_in_words(summary)]
    if summary.choice is not None:
        sentences += choice_in_words(summary.choice)
    classes = () if summary.answers is None else summary.answers.classes
    if summary.expected is not None:
        sentences += summary.expected.sentences(classes)
        sentences += distrust_in_words(summary.expected, classes)
    sentences += _one_sidedness_in_words(classes, compared=summary.choice is not None)
    if summary.expected is not None:
        sentences += advice_in_words(summary.choice, summary.expected, classes)
    if summary.expected is None:
        reason = ": no accuracy was estimated" if summary.last.mean is None else ""
        sentences.append(f"Probabilities are as the model gives them, not calibrated{reason}.")
    if summary.answers is not None:
        sentences.append(_place_in_words(summary, summary.answers))
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
    if difference.mean < _COLLAPSE and summary.stages[0].name == "base":
        sentences.append(
            "So large a loss means that the base was not sure enough of its classes when the second phase began. "
            "Keep its cross-entropy (--set cross_entropy_weight=1) and its answer where that is better (--set "
            "guard=true), or divide features by their norm instead of their sum."
        )
    return sentences


def _notes_in_words(summary: Summary) -> list[str]:
    """What there is to say of the stages: of several seeds, of how many of them."""
    seeds = len(summary.seeds)
    return [
        note if seeds == 1 else f"In {len(stage.notes)} of {seeds} seeds: {note}"
        for stage in summary.stages
        for note in stage.notes[:1]
    ]


def _one_sidedness_in_words(classes: Sequence[ClassCount], *, compared: bool) -> list[str]:
    """That nearly all nodes are predicted to be of one class, if the given labels are of several."""
    total = sum(item.predicted for item in classes)
    if total < _ENOUGH_NODES or sum(item.given > 0 for item in classes) < 2:
        return []
    first = max(classes, key=lambda item: item.predicted)
    if first.predicted < _NEARLY_ALL * total:
        return []
    given = sum(item.given for item in classes)
    compare = "G" if compared else "Compare methods (lcgnn compare GRAPH), or g"
    scarce = " of the other classes" if is_more_than_equal(first.given / given, len(classes)) else ""
    return [
        f"{first.predicted:,} of {total:,} predicted labels are {first.name!r}, as are {first.given:,} of "
        f"{given:,} given ones: the method hardly tells the classes apart. {compare}ive other features or more "
        f"labels{scarce}. To look for nodes of these all the same, sort the predictions by their "
        "probability."
    ]


def _place_in_words(summary: Summary, answers: Answers) -> str:
    """Where the answer is."""
    seeds = len(summary.seeds)
    what = f"Predictions (mean of {seeds} seeds)" if len(answers.predictions) > seeds else "Predictions"
    return f"{what}: {answers.predictions[0]}"


def _predictions(session: Session, together: Together | None) -> tuple[Path, ...]:
    """The files, that with the answer first."""
    return session.predictions if together is None else (together.path, *session.predictions)


def _difference(stages: Sequence[StageSummary]) -> PairedDifference | None:
    first, last = (
        [value for value in stage.test_accuracy if value is not None] for stage in (stages[0], stages[-1])
    )
    if len(stages) < 2 or not first:
        return None
    return PairedDifference.between(last, first)


def _method_of(stage: str, session: Session) -> str:
    """Whose answer an earlier stage is: a member's, which has its name, or the base's."""
    return stage if is_registered(stage) else session.runs[0].spec.base


def _stage(session: Session, position: int, records: Sequence[Record]) -> StageSummary:
    stages = [record.stages[position] for record in records]
    test = [stage.test_accuracy for stage in stages]
    measured = [value for value in test if value is not None]
    # Without test labels there is nothing to be measured.
    over_seeds = OverSeeds.of(measured) if len(measured) == len(test) else None
    is_last = position == len(records[0].stages) - 1
    method = session.configuration.method if is_last else _method_of(stages[0].name, session)
    return StageSummary(
        name=stages[0].name,
        method=method,
        test_accuracy=tuple(test),
        validation_accuracy=tuple(stage.validation_accuracy for stage in stages),
        mean=None if over_seeds is None else over_seeds.mean,
        std=None if over_seeds is None else over_seeds.std,
        paper=_reported(session, method),
        notes=tuple(stage.note for stage in stages if stage.note),
        balanced=None if session.source.benchmark else _balanced(stages),
    )


def _balanced(stages: Sequence[StageRecord]) -> float | None:
    """The mean over seeds of the balanced accuracy; None where a seed has none."""
    values = [value for stage in stages if (value := stage.balanced_accuracy) is not None]
    return sum(values) / len(values) if len(values) == len(stages) else None


def _reported(session: Session, method: str) -> Reported | None:
    """What the paper reports for this, if the session does what the paper did."""
    split, benchmark = session.configuration.split.spec, session.source.benchmark
    if split.kind != "public" or benchmark is None:
        return None
    return paper_results().get((method, benchmark, split.labels_per_class))
