"""What the command line shows of reasons: doubtful labels and edges, and why a node has its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lcgnn.cli.display_graph import printable

if TYPE_CHECKING:
    from lcgnn.assessment.explanation import Explanation
    from lcgnn.runs.doubt import Doubts

# Doubtful labels that are printed; --save and --json have all of them.
_MOST_LABELS = 30


def doubts_view(found: Doubts) -> RenderableType:
    """Labels and edges that look wrong, and how many there may be."""
    labels = [doubt.to_json(found.graph) for doubt in found.labels]
    edges = [doubt.to_json(found.graph) for doubt in found.edges]
    parts = _listed(
        f"labels that look wrong, by {found.method}",
        ("id", "given", "instead", "%", "why"),
        [
            (row["id"], row["given"], row["instead"], f"{100 * row['probability']:.0f}", row["reason"])
            for row in labels[:_MOST_LABELS]
        ],
    )
    if len(labels) > _MOST_LABELS:
        parts.append(Text(f"and {len(labels) - _MOST_LABELS} more: --save doubts.csv"))
    parts += _listed(
        "edges that look wrong",
        ("from", "to", "times chance", "why"),
        [(row["source"], row["target"], f"{row['likelihood']:.2g}", row["reason"]) for row in edges],
    )
    return Group(*parts, Text(""), *(printable(sentence) for sentence in found.words))


def explanation_view(found: Explanation) -> RenderableType:
    """Why a node has its label: sentences first, then who and what in tables."""
    parts: list[RenderableType] = [printable(sentence) for sentence in found.words]
    parts += _listed(
        "soft neighbours, by their share of all weight",
        ("id", "class", "", "weight %"),
        [(item.id, item.label, _origin(item.given), f"{100 * item.weight:.3g}") for item in found.soft_neighbours],
    )
    parts += _listed(
        "given labels, by what the log-odds of the answer would lose without them",
        ("id", "class", "for it (+), against it (-)"),
        [(item.id, item.label, f"{item.influence:+.3g}") for item in found.labelled],
    )
    parts += _listed(
        "neighbours",
        ("id", "class", "", "sure %"),
        [
            (item.id, item.label, _origin(item.given), f"{100 * item.probability:.0f}")
            for item in found.neighbours[:10]
        ],
    )
    parts += _listed(
        "features, by the points of probability that the answer loses without them",
        ("feature", "own value", "points"),
        [(item.name, f"{item.own:.3g}", f"{100 * item.effect:+.1f}") for item in found.features],
    )
    parts += _listed(
        "what was tried, and the answer then",
        ("change", "answer", "sure %", ""),
        [
            (item.what, item.label, f"{100 * item.probability:.0f}", "another answer" if item.flips else "")
            for item in found.changes
        ],
    )
    return Group(*parts)


def _listed(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """A table after an empty line, or nothing where there is nothing to list."""
    if not rows:
        return []
    table = _table(*headings)
    for row in rows:
        table.add_row(*map(printable, row))
    return [Text(""), printable(title, "bold"), table]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
    return table


# Headings of columns of numbers.
_NUMBERS = {"%", "weight %", "sure %", "points", "own value", "times chance", "for it (+), against it (-)"}


def _origin(given: bool) -> str:
    return "given" if given else "predicted"
