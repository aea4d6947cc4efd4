"""An explanation in sentences."""

from __future__ import annotations

from dataclasses import replace

from lcgnn.assessment.explanation import Explanation


def in_words(found: Explanation) -> Explanation:
    """The explanation with its sentences."""
    return replace(found, words=tuple(_sentences(found)))


def _sentences(found: Explanation) -> list[str]:
    sentences = [f"{found.id} is {found.label} by {100 * found.probability:.0f} %, says {found.method}."]
    if found.given is not None:
        agrees = "as it was given" if found.given == found.label else f"though it was given {found.given}"
        sentences.append(f"Its own label was trained on, {agrees}.")
    if found.soft_classes:
        first = found.soft_classes[0]
        sentences.append(
            f"{100 * first.share:.0f} % of what label consistency averages over are nodes that look {first.label}."
        )
    speaks = [item for item in found.labelled if item.influence > 0]
    if speaks:
        sentences.append(f"The label that speaks most for it is that of {speaks[0].id} ({speaks[0].label}).")
    flips = [item for item in found.changes if item.flips]
    if flips:
        sentences.append(f"It would be {flips[0].label} {flips[0].what}.")
    elif found.changes:
        sentences.append("No single change that was tried gives another answer.")
    return [*sentences, *found.missing]
