"""From what came of the folds to the answer that is taken, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lcgnn.assessment.calibration import HeldOut
from lcgnn.assessment.choice import Difference, Right, chosen, optimism
from lcgnn.assessment.trust import Assessment, Expected
from lcgnn.errors import TrainingError
from lcgnn.methods import Method, entry, is_registered
from lcgnn.methods.blend import BLEND, Blend
from lcgnn.methods.lc import TwoPhase
from lcgnn.methods.several import mean_of
from lcgnn.runs.choice.candidates import best_first, experience_with
from lcgnn.runs.choice.race import Race
from lcgnn.runs.cross_validation import held_out_by
from lcgnn.runs.records import ChoiceRecord, FoldRecord, Tried
from lcgnn.runs.records.choice import Failed


@dataclass(frozen=True, eq=False)
class Answer:
    """What one stage of a candidate predicts for the held-out labels.

    Args:
        name: Of the method whose answer it is.
        method: That method.
        held_out: The labels beside the predictions.
        folds: How many it was tried on.
        seconds: Of training.
    """

    name: str
    method: Method
    held_out: HeldOut
    folds: int
    seconds: float

    @property
    def right(self) -> Right:
        return self.held_out.right


@dataclass(frozen=True, eq=False)
class Choice:
    """The answer that is taken.

    Args:
        name: Of the method.
        method: The method itself.
        assessment: How far to trust it.
        record: What else was tried.
    """

    name: str
    method: Method
    assessment: Assessment
    record: ChoiceRecord


def decide(
    race: Race, methods: Mapping[str, Method], *, given: int, of_folds: int, by_stage: bool, alone: int = 0
) -> Choice:
    """The choice that a finished race comes to.

    Args:
        race: With what came of all turns.
        methods: The candidates by name.
        given: Labels that were divided into folds.
        of_folds: Into how many.
        by_stage: Whether a candidate's base is an answer of its own.
        alone: Of these labels, those that count as wrong because they are their class's only ones.
    """
    answers = _answers(race, methods, by_stage=by_stage)
    if not answers:
        name, reason = next(iter(race.failed.items()))
        raise TrainingError(f"No method could be trained on the folds of the labels. {name}: {reason}")
    finalists = [answer for answer in answers if answer.folds == race.folds]
    right = np.stack([answer.right for answer in finalists], axis=1)
    experience = [experience_with(answer.name) for answer in finalists]
    taken = finalists[chosen(right, experience)]
    return Choice(
        taken.name,
        taken.method,
        Assessment.of(
            taken.held_out,
            given=given,
            of_folds=of_folds,
            alone=alone,
            optimism=optimism(right, experience),
            chosen_among=len(finalists),
        ),
        ChoiceRecord(
            tried=_tried(answers, race.folds),
            taken=taken.name,
            folds=race.folds,
            of_folds=of_folds,
            left_out=tuple(race.left_out),
            failed=tuple(Failed(name, reason) for name, reason in race.failed.items()),
            budget=race.budget,
            guard=len(methods) == 1,
        ),
    )


def _answers(race: Race, methods: Mapping[str, Method], *, by_stage: bool) -> list[Answer]:
    """In our order; where label consistency was tried around several bases, also the mean of what they say."""
    found: dict[str, Answer] = {}
    for name, method in methods.items():
        results = race.results(name)
        # A fold or two of a method that there was no time for say nothing.
        if name in race.left_out or name in race.failed or not results:
            continue
        found[name] = _answer(race, name, method, results, -1)
        base = base_of(name, method) if by_stage else None
        if base is not None and base[0] not in methods and len(results[0].stages) > 1:
            found[base[0]] = _answer(race, *base, results, 0)
    members = [answer for name, answer in found.items() if _is_blended(name, answer, race)]
    if by_stage and len(members) > 1:
        found[BLEND] = _blended(members)
    return [found[name] for name in best_first(found)]


def _is_blended(name: str, answer: Answer, race: Race) -> bool:
    """Whether an answer is one of those that are averaged: label consistency, tried to the end."""
    is_consistency = isinstance(answer.method, TwoPhase) and answer.method.aggregation == "consistency"
    return is_consistency and is_registered(name) and name not in race.behind and answer.folds == race.folds


def _blended(members: Sequence[Answer]) -> Answer:
    """The mean of what several answers predict for the same held-out labels, for which nothing is trained."""
    method = Blend.of({member.name: member.method for member in members})
    mean = mean_of([member.held_out.distribution for member in members])
    held_out = replace(members[0].held_out, distribution=mean)
    return Answer(BLEND, method, held_out, members[0].folds, sum(member.seconds for member in members))


def base_of(name: str, method: Method) -> tuple[str, Method] | None:
    """The method whose answer is the first stage of another, with its name; None if there is none."""
    if not isinstance(method, TwoPhase) or method.second_phase() is None:
        return None
    family = entry(name).family if is_registered(name) else name.removeprefix("lc-")
    return (family if family != name else f"{name} alone"), method.alone()


def _answer(race: Race, name: str, method: Method, results: Sequence[FoldRecord], stage: int) -> Answer:
    seconds = sum(record.seconds for record in results)
    return Answer(name, method, held_out_by(results, race.labels, stage), len(results), seconds)


def _tried(answers: Sequence[Answer], folds: int) -> tuple[Tried, ...]:
    """Those that were tried to the end by their accuracy, then the others."""
    ordered = sorted(answers, key=lambda answer: (-answer.folds, -answer.right.mean()))
    best = next(answer for answer in ordered if answer.folds == folds)
    return tuple(_row(answer, best) for answer in ordered)


def _row(answer: Answer, best: Answer) -> Tried:
    expected = Expected.of(answer.right)
    # One that was not tried to the end has the first of the labels.
    behind = Difference.between(answer.right, best.right[: answer.right.size])
    return Tried(
        name=answer.name,
        right=int(answer.right.sum()),
        labels=int(answer.right.size),
        low=expected.low,
        high=expected.high,
        behind_best=None if answer is best else behind,
        folds=answer.folds,
        seconds=round(answer.seconds, 3),
        mean_of=tuple(sorted(answer.method.names)) if isinstance(answer.method, Blend) else (),
    )
