"""An explanation in sentences, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

from lcgnn.assessment.direction import isolated
from lcgnn.assessment.explanation import (
    Change,
    ClassShare,
    Explanation,
    FeatureEffect,
    LabelInfluence,
    Neighbour,
)

_Named = TypeVar("_Named", ClassShare, LabelInfluence, Neighbour, FeatureEffect, Change)

# An effect on a probability that is worth a word.
_WORTH_A_WORD = 0.01


def in_words(found: Explanation) -> Explanation:
    """The explanation with its sentences."""
    return replace(found, words=(*_sentences(_with_names_apart(found)), *found.missing))


def _with_names_apart(found: Explanation) -> Explanation:
    """The explanation with names as they can stand in sentences."""

    def apart(entries: tuple[_Named, ...], *fields: str) -> tuple[_Named, ...]:
        return tuple(_changed(item, {name: isolated(getattr(item, name)) for name in fields}) for item in entries)

    return replace(
        found,
        id=isolated(found.id),
        label=isolated(found.label),
        given=None if found.given is None else isolated(found.given),
        classes=apart(found.classes, "label"),
        soft_classes=apart(found.soft_classes, "label"),
        labelled=apart(found.labelled, "id", "label"),
        neighbours=apart(found.neighbours, "label"),
        features=apart(found.features, "name"),
        changes=apart(found.changes, "label"),
    )


def _changed(item: _Named, fields: dict[str, Any]) -> _Named:
    return replace(item, **fields)


def _sentences(found: Explanation) -> Iterator[str]:
    yield _answer(found)
    yield from _soft(found)
    yield from _labels(found)
    yield from _neighbours(found)
    yield from _features(found)
    yield from _changes(found)


def _answer(found: Explanation) -> str:
    second = found.classes[1] if len(found.classes) > 1 else None
    next_best = f", then {second.label} by {100 * second.share:.0f} %" if second else ""
    told = f"{found.id}: {found.label} by {100 * found.probability:.0f} %{next_best} ({found.method})."
    if found.given is None:
        return told
    agrees = "as it was given" if found.given == found.label else f"though it was given {found.given}"
    return f"{told} Its own label was trained on, {agrees}."


def _soft(found: Explanation) -> Iterator[str]:
    if found.soft_classes:
        first = found.soft_classes[0]
        yield (
            "Of its soft neighbours, all nodes weighed by how far they agree with it, "
            f"{100 * first.share:.0f} % are {first.label}."
        )


def _labels(found: Explanation) -> Iterator[str]:
    strongest_for = next((item for item in found.labelled if item.influence > 0), None)
    strongest_against = next((item for item in found.labelled if item.influence < 0), None)
    if strongest_for is not None:
        yield f"The given label that speaks most for it is {_whose(strongest_for, found)}."
    if strongest_against is not None:
        which = "given label" if strongest_for is None else "one"
        yield f"The {which} that speaks most against it is {_whose(strongest_against, found)}."


def _whose(item: LabelInfluence, found: Explanation) -> str:
    return f"{'its own' if item.node == found.node else f'that of {item.id}'} ({item.label})"


def _neighbours(found: Explanation) -> Iterator[str]:
    count = len(found.neighbours) + found.more_neighbours
    if count < 2:
        yield _only_neighbour(found.neighbours[0]) if count else "It has no neighbours."
        return
    alike = sum(item.label == found.label for item in found.neighbours)
    given = sum(item.given for item in found.neighbours)
    shown = (
        f"the first {len(found.neighbours)} of its {count} neighbours"
        if found.more_neighbours
        else f"its {count} neighbours"
    )
    told = "is" if alike < 2 else "are"
    yield f"Of {shown} {alike or 'none'} {told} {found.label}; of {given or 'none'} of them the label was given."


def _only_neighbour(neighbour: Neighbour) -> str:
    return f"Its only neighbour is {neighbour.label} ({'given' if neighbour.given else 'predicted'})."


def _features(found: Explanation) -> Iterator[str]:
    strongest = [item for item in found.features if item.effect >= _WORTH_A_WORD][:3]
    if strongest:
        told = ", ".join(f"{item.name} ({_points(item.effect)})" for item in strongest)
        yield f"Features that speak for it: {told}."


def _points(effect: float) -> str:
    count = f"{100 * effect:.0f}"
    return f"{count} point{'' if count == '1' else 's'}"


def _changes(found: Explanation) -> Iterator[str]:
    flips = [item for item in found.changes if item.flips]
    if flips:
        yield f"It would be {' or '.join(_alternative(item) for item in flips[:2])}."
    elif found.changes:
        yield "No change that was tried gives another answer."


def _alternative(change: Change) -> str:
    return f"{change.label} {change.what} ({100 * change.probability:.0f} %)"
