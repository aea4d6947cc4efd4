"""What a choice came to, in sentences for somebody who brought two tables."""

from __future__ import annotations

from collections.abc import Sequence

from lcgnn.assessment.evaluation import ClassCount
from lcgnn.assessment.trust import Assessment, Expected, wilson_interval
from lcgnn.runs.choice.candidates import EDGES_ALONE, EXPERIENCE, FEATURES_ALONE, duration
from lcgnn.runs.records import ChoiceRecord, Tried

# So many names are named.
_MOST_NAMES = 4
# So much more accuracy would be worth having.
_WORTH_HAVING = 0.05
# Standard deviations of a normal number to either side that hold 99 %, since any of several classes may be off.
_HARDLY_BY_CHANCE = 2.575829


def choice_in_words(choice: ChoiceRecord) -> list[str]:
    """What was taken and why, and what there was no time for."""
    sentences = [_guard_in_words(choice) if choice.guard else _taken_in_words(choice)]
    if choice.left_out:
        budget = "" if choice.budget is None else f" of {duration(choice.budget)}"
        sentences.append(f"Not tried for want of time{budget} (a longer --budget): {', '.join(choice.left_out)}.")
    sentences.extend(f"Left out: {item.name}. {item.reason}" for item in choice.failed)
    return [sentence for sentence in sentences if sentence]


def distrust_in_words(expected: Assessment, classes: Sequence[ClassCount]) -> list[str]:
    """The classes that are clearly found less often than a node of any class, or predicted out of proportion."""
    found = [(item, known) for item, known in zip(classes, expected.by_class, strict=False) if known is not None]
    worse = [
        f"{item.name!r} ({100 * known.accuracy:.0f} of 100 found)"
        for item, known in found
        # Of a class that is always found the interval may end a rounding below 1.
        if known.accuracy < expected.of_tested and known.high < expected.of_tested
    ]
    doubtful = worse or _out_of_proportion(classes)
    if len(doubtful) == len(classes):
        # Somebody who is to distrust everything is told nothing.
        doubtful = doubtful[:1]
    if doubtful:
        more = len(doubtful) - _MOST_NAMES
        return [f"Distrust most: {', '.join(doubtful[:_MOST_NAMES])}{f' and {more} more' if more > 0 else ''}."]
    if classes and not found:
        return ["Which classes to distrust cannot be told from so few labels of each."]
    return []


def advice_in_words(
    choice: ChoiceRecord | None, expected: Assessment, classes: Sequence[ClassCount], by_edges: str | None = None
) -> list[str]:
    """The one thing that would help most: another method, labels of a class, other edges or features, more labels.

    Args:
        choice: What was tried; None where nothing was chosen.
        expected: Of the answer that was taken.
        classes: What the classes are called; without them only another method is advised.
        by_edges: A method that the edges speak for, if they do.
    """
    if not classes and by_edges is None:
        return []
    advice = (
        by_edges
        or _scarce_class(expected, classes)
        or (
            _useless_part(choice)
            if choice is not None and not choice.guard and expected.majority.is_beaten
            else None
        )
        or _more_labels(expected, classes)
    )
    return [f"What would help most: {advice}"]


def verdict(tried: Tried, choice: ChoiceRecord) -> str:
    """What the held-out labels say of an answer beside the best of them, for a table: few words."""
    if tried.folds < choice.folds:
        return f"dropped at {tried.folds}"
    if tried.behind_best is None:
        return "best"
    return "behind" if tried.behind_best.high < 0 else "cannot tell"


def _taken_in_words(choice: ChoiceRecord) -> str:
    taken = choice.named(choice.taken)
    assert taken is not None
    best, others = choice.tried[0], [item for item in choice.finalists if item is not taken]
    called = _called(taken)
    counted = f"{taken.right:,} of {taken.labels:,} held-out labels"
    if taken.right < best.right:
        return (
            f"Taken: {called}, right for {counted}. {best.name} was right for {best.right:,}, but so few more "
            f"weigh less than that {taken.name} is the better one on most graphs."
        )
    alike = [item.name for item in others if not _is_behind(item)]
    if len(choice.tried) < 2:
        return f"Taken: {called}, right for {counted}; nothing else could be tried."
    if not alike:
        return f"Taken: {called}, right for {counted}, clearly more often than all others."
    names = ", ".join(alike[:_MOST_NAMES]) + (
        f" and {len(alike) - _MOST_NAMES} more" if len(alike) > _MOST_NAMES else ""
    )
    alone = not any(item.right == taken.right for item in others)
    why = (
        "right most often"
        if alone
        else "the better one on most graphs"
        if taken.name in EXPERIENCE
        else "as often as any"
    )
    return f"Taken: {called}, right for {counted}: {why}, though the labels cannot tell it from {names}."


def _called(taken: Tried) -> str:
    """What was taken by its name, and what it is the mean of."""
    *others, last = taken.mean_of or (taken.name,)
    return f"{taken.name} (the mean of {', '.join(others)} and {last})" if others else taken.name


def _guard_in_words(choice: ChoiceRecord) -> str:
    """That label consistency is left out, where it is."""
    if len(choice.tried) < 2:
        return ""
    taken, other = sorted(choice.tried, key=lambda item: item.name != choice.taken)
    if not other.name.startswith("lc-"):
        return ""
    return (
        f"Label consistency is left out: {taken.name} alone was right for {taken.right:,} of {taken.labels:,} "
        f"held-out labels, {other.name} for {other.right:,}."
    )


def _is_behind(item: Tried) -> bool:
    return item.behind_best is not None and item.behind_best.high < 0


def _out_of_proportion(classes: Sequence[ClassCount]) -> list[str]:
    """Classes of which there are clearly more or fewer predictions than labels, the furthest off first.

    Not where every class has as many labels as the others: then somebody chose so many of each.
    """
    given, predicted = (sum(of) for of in ([item.given for item in classes], [item.predicted for item in classes]))
    if not given or not predicted or len({item.given for item in classes}) == 1:
        return []
    found = []
    for item in classes:
        share, labels = item.predicted / predicted, item.given / given
        low, high = wilson_interval(item.given, given, _HARDLY_BY_CHANCE)
        if not low <= share <= high:
            found.append((abs(share - labels), item, share, labels))
    return [
        f"{item.name!r} (predicted for {_of_100(share)} nodes, and {_of_100(labels)} labels are of it)"
        for _, item, share, labels in sorted(found, key=lambda one: -one[0])
    ]


def _of_100(share: float) -> str:
    return f"{100 * share:.0f} of 100" if share >= 0.005 or not share else "fewer than 1 of 100"


def _scarce_class(expected: Assessment, classes: Sequence[ClassCount]) -> str | None:
    """Labels of the class that is found least, or that could not be tried at all."""
    untested = [item for item in (classes[label] for label in expected.untested) if item.given < 2]
    if untested:
        few = min(untested, key=lambda item: (item.given, -item.predicted))
        return f"labels of {few.name!r}, which has {few.given or 'none'}."
    known = [(known.accuracy, item) for item, known in zip(classes, expected.by_class, strict=True) if known]
    worst = min(known, key=lambda pair: pair[0], default=None)
    if worst is None or worst[0] >= expected.overall.low:
        return None
    return f"more labels of {worst[1].name!r}, of which about {100 * worst[0]:.0f} of 100 nodes are found."


def _useless_part(choice: ChoiceRecord) -> str | None:
    """That the edges, or the features, bring nothing worth having, as far as the labels can tell."""
    best = choice.tried[0]
    if len(choice.tried) < 2:
        return None
    for name, what in ((FEATURES_ALONE, "edges"), (EDGES_ALONE, "features")):
        tried = choice.named(name)
        others = [item.behind_best for item in choice.tried if item is not tried and item.folds == choice.folds]
        if tried is best and all(other is not None and other.high < _WORTH_HAVING for other in others):
            return f"other {what}. {name}, which ignores them, is right as often as anything else."
    return None


def _more_labels(expected: Assessment, classes: Sequence[ClassCount]) -> str:
    few = min(classes, key=lambda item: item.given)
    overall = expected.overall
    more = Expected.at(overall.accuracy, 4 * overall.labels, 4 * overall.labels)
    more = more.with_all_labels(1 - 1 / expected.of_folds)
    width, narrower = (100 * (item.high - item.low) for item in (overall, more))
    return (
        f"more labels, first of {few.name!r}, which has {few.given:,}; four times as many would make the interval "
        f"of {width:.0f} points one of {narrower:.0f}."
    )
