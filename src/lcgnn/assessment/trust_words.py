"""What is said of an assessment: how many predictions should be right, and how sure they are, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lcgnn.assessment.calibration import ENOUGH_TO_CALIBRATE
from lcgnn.assessment.evaluation import ClassCount

if TYPE_CHECKING:
    from lcgnn.assessment.trust import Assessment

# The most frequent class is worth a word if it has so many times the labels that equal classes would have.
_MORE_THAN_EQUAL = 1.25
# So many classes are called by their names.
_MOST_NAMES = 5


def right_in_words(found: Assessment, classes: Sequence[ClassCount]) -> tuple[str, ...]:
    """How many predictions should be right, and what there is to know of that."""
    said = (
        _accuracy(found),
        _majority(found, classes),
        _balanced(found),
        _lost(found, classes),
        _silent(found, classes),
    )
    return tuple(sentence for sentence in said if sentence)


def _accuracy(found: Assessment) -> str:
    expected = found.overall
    which = f"{expected.labels:,}" if expected.labels == found.given else f"{expected.labels:,} of {found.given:,}"
    folds = (
        f"{found.of_folds}-fold"
        if found.folds == found.of_folds
        else f"{found.folds} of {found.of_folds} folds of"
    )
    allowing = "" if found.chosen_among == 1 else f"allowing for the choice among {found.chosen_among} answers, "
    return (
        f"Of 100 predicted labels about {100 * expected.accuracy:.0f} should be right (between "
        f"{100 * expected.low:.0f} and {100 * expected.high:.0f}; estimated from {which} given labels by "
        f"{folds} cross-validation, {allowing}assuming that they are a fair sample of all nodes)."
    )


def _balanced(found: Assessment) -> str:
    if found.balanced is None:
        return ""
    with_two = "that has two labels " if found.alone else ""
    return (
        f"The classes differ in size: if each {with_two}counts the same, about {100 * found.balanced:.0f} of "
        "100 should be right (balanced accuracy)."
    )


def _majority(found: Assessment, classes: Sequence[ClassCount]) -> str:
    """Nothing if the method is clearly better and no class is much more frequent than the others."""
    majority = found.majority
    frequent = is_more_than_equal(majority.accuracy, len(found.by_class) - len(found.untested))
    always = (
        f"always answering {classes[majority.label].name!r}"
        if classes
        else "always answering the most frequent class"
    )
    share = f"about {100 * majority.accuracy:.0f} of 100"
    if not majority.is_beaten:
        clearly = "clearly " if majority.low + majority.high > 0 else ""
        compare = "" if found.chosen_among > 1 else "compare methods (lcgnn compare), or "
        which = ", of the other classes above all" if frequent else ""
        return (
            f"That is not {clearly}better than {always}, which would be right for {share}: {compare}label "
            f"more nodes{which}."
        )
    return f"A{always[1:]} would be right for {share}." if frequent else ""


def _lost(found: Assessment, classes: Sequence[ClassCount]) -> str:
    """That the only labels of some classes count as wrong."""
    if not found.alone:
        return ""
    which = _names_and_nodes(_untested(found, classes)[0], classes) if classes else _some_classes(found.alone)
    if found.alone == 1:
        return f"The only label of {which} counts as wrong: no model without it could know the class."
    return f"The only labels of {which} count as wrong: no model without them could know these classes."


def _silent(found: Assessment, classes: Sequence[ClassCount]) -> str:
    """What the other classes of which no label could be held out mean for the estimate."""
    if not classes:
        count = len(found.untested) - found.alone
        said = f"The estimate does not speak of {_some_classes(count)} of which no label could be held out."
        return said if count else ""
    _, silent = _untested(found, classes)
    if not silent:
        return ""
    theirs, total = (sum(classes[label].predicted for label in of) for of in (silent, range(len(classes))))
    which = _names_and_nodes(silent, classes)
    said = f"The estimate does not speak of {which}, of which no label could be held out"
    right = found.overall.accuracy * (1 - theirs / max(total, 1))
    if f"{100 * right:.0f}" == f"{100 * found.overall.accuracy:.0f}":
        return f"{said}."
    return f"{said}: if all of these are wrong, about {100 * right:.0f} of 100 are right."


def _untested(found: Assessment, classes: Sequence[ClassCount]) -> tuple[list[int], list[int]]:
    """Classes of which no label can be held out: those whose only one counts as wrong, and the others."""
    # Of one with more labels none happened to be; the labels that were stand for these as well.
    few = [label for label in found.untested if classes[label].given < 2]
    lost = [label for label in few if found.alone and classes[label].given == 1]
    return lost, [label for label in few if label not in lost]


def calibration_in_words(found: Assessment) -> str:
    """How far the probabilities can be trusted."""
    calibration, labels = found.calibration, found.overall.labels
    off = (
        f"off by {_points(calibration.error_after)} on average, by {_most(calibration.at_most)} at most as "
        "far as these labels tell, and some by more"
    )
    if labels < ENOUGH_TO_CALIBRATE:
        return (
            f"Probabilities are as the model gives them and may be {off}: {labels} held-out labels are too "
            "few to calibrate by."
        )
    if calibration.temperature == 1:
        return (
            "Probabilities are as the model gives them, because the held-out labels do not show that "
            f"changing them helps: they may be {off}."
        )
    return (
        f"Probabilities are calibrated (temperature {calibration.temperature:.2f}): judged by labels that "
        f"they were not calibrated on, they may still be {off} (before: {_points(calibration.error_before)})."
    )


def is_more_than_equal(share: float, classes: int) -> bool:
    """Whether the share of the most frequent of so many classes is clearly more than equal classes would have."""
    return share >= _MORE_THAN_EQUAL / classes


def _some_classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count:,} classes"


def _names_and_nodes(labels: Sequence[int], classes: Sequence[ClassCount]) -> str:
    """What some classes are called, if they are not too many, and how many nodes are predicted to be of them."""
    few = len(labels) <= _MOST_NAMES
    which = ", ".join(repr(classes[label].name) for label in labels) if few else _some_classes(len(labels))
    theirs = sum(classes[label].predicted for label in labels)
    return f"{which} ({theirs:,} predicted node{'s' * (theirs != 1)})"


def _points(share: float) -> str:
    points = round(100 * share)
    return (
        "less than a percentage point" if not points else f"about {points} percentage point{'s' * (points != 1)}"
    )


def _most(share: float) -> str:
    """A bound, rounded to the side where it still is one."""
    return f"{math.ceil(100 * share)}"
