"""What the command line shows of a user's own graph: what it looks like, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lcgnn.cli.display import percent

if TYPE_CHECKING:
    from lcgnn.assessment.choice import Difference
    from lcgnn.assessment.diagnosis import Agreement, Diagnosis
    from lcgnn.assessment.evaluation import ClassCount
    from lcgnn.assessment.trust import Expected
    from lcgnn.runs.records import ChoiceRecord
    from lcgnn.runs.suggest import Suggestions

# Rows of a table of classes.
_MOST_CLASSES = 30


def answers_table(
    dataset: str, method: str, classes: Sequence[ClassCount], expected: Sequence[Expected | None] | None = None
) -> RenderableType:
    """How many nodes of the user's graph were given each class, how many are predicted, and what to expect."""
    table = Table(title=printable(f"{dataset}, {method}"), title_justify="left", title_style="bold")
    table.add_column("class")
    table.add_column("given", justify="right")
    table.add_column("predicted", justify="right")
    by_class = [None] * len(classes) if expected is None else expected
    if any(by_class):
        table.add_column("of 100 such nodes\nfound (interval)", justify="right")
    for row, found in list(zip(classes, by_class, strict=True))[:_MOST_CLASSES]:
        cells = [f"{row.given:,}", f"{row.predicted:,}", _found(found)]
        table.add_row(printable(row.name), *cells[: len(table.columns) - 1])
    left = len(classes) - _MOST_CLASSES
    return Group(table, Text(f"and {left} more classes")) if left > 0 else table


def _found(expected: Expected | None) -> str:
    if expected is None:
        return "too few labels"
    return f"{100 * expected.accuracy:.0f} ({100 * expected.low:.0f} to {100 * expected.high:.0f})"


def tried_table(dataset: str, choice: ChoiceRecord) -> RenderableType:
    """What was tried on the held-out labels, the most accurate first, each beside that one."""
    from lcgnn.runs.choice.words import verdict

    table = Table(
        title=printable(f"{dataset}, labels held out in {choice.folds} of {choice.of_folds} folds; * is taken"),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    table.add_column("method", no_wrap=True)
    for heading in ("right", "% (interval)", "minus the first", "", "seconds"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for item in choice.tried:
        mark = " *" if item.name == choice.taken else ""
        table.add_row(
            Text(f"{item.name}{mark}", "bold" if mark else ""),
            f"{item.right:,} of {item.labels:,}",
            f"{100 * item.accuracy:.0f} ({100 * item.low:.0f} to {100 * item.high:.0f})",
            "" if item.behind_best is None else _difference(item.behind_best),
            verdict(item, choice),
            f"{item.seconds:.1f}",
        )
    return table


def _difference(difference: Difference) -> str:
    low, high = 100 * difference.low, 100 * difference.high
    return f"{100 * difference.mean:+.0f} ({low:+.0f} to {high:+.0f})"


def suggestions_table(suggestions: Suggestions) -> RenderableType:
    """The nodes to label next, with a reason each."""
    known = f"{suggestions.labelled:,} of {suggestions.graph.num_nodes:,} nodes have a label"
    table = Table()
    table.add_column("", justify="right")
    table.add_column("node", overflow="fold")
    table.add_column("why")
    for rank, (name, item) in enumerate(zip(suggestions.ids, suggestions.items, strict=True), start=1):
        table.add_row(str(rank), printable(name), printable(item.reason))
    return Group(printable(f"{suggestions.graph.name}: label these next ({known})", "bold"), table)


def diagnosis_view(name: str, diagnosis: Diagnosis) -> RenderableType:
    """A graph before training: sizes, classes, and the verdict."""
    from lcgnn.assessment.diagnosis import verdict

    sizes = Table.grid(padding=(0, 2))
    degree = diagnosis.degree
    for what, value in (
        ("nodes", f"{diagnosis.nodes:,}"),
        ("edges", f"{diagnosis.edges:,}"),
        ("features", _features(diagnosis)),
        ("classes", f"{diagnosis.classes:,}"),
        ("labelled", f"{diagnosis.labelled:,} ({diagnosis.labelled / diagnosis.nodes:.1%})"),
        ("components", f"{diagnosis.components:,}, largest: {diagnosis.largest_component:.1%} of the nodes"),
        ("isolated nodes", f"{diagnosis.isolated:,}"),
        ("neighbours", f"{degree['least']:.0f} to {degree['highest']:.0f}, median {degree['median']:.0f}, "
                       f"mean {degree['mean']:.1f}"),
        ("same label, by edge", _agreement(diagnosis.by_edge)),
        ("same label, by node", percent(diagnosis.by_node)),
        ("same label, two steps", _agreement(diagnosis.by_two_steps)),
    ):  # fmt: skip
        sizes.add_row(what, value)
    words = [Text(sentence) for sentence in verdict(diagnosis)]
    classes = [_classes_table(diagnosis)] if diagnosis.by_class else []
    return Group(printable(name, "bold"), sizes, *classes, *words)


def printable(text: str, style: str = "") -> Text:
    """A user's text as it stands, but for characters that would command the terminal."""
    return Text("".join(character if character.isprintable() else "?" for character in text), style)


def _agreement(agreement: Agreement) -> str:
    if agreement.share is None or agreement.by_chance is None:
        return "- (no pair of labelled nodes)"
    pairs = "1 pair" if agreement.pairs == 1 else f"{agreement.pairs:,} pairs"
    return f"{agreement.share:.1%} of {pairs} ({agreement.by_chance:.1%} by chance)"


def _features(diagnosis: Diagnosis) -> str:
    return (
        f"0 ({diagnosis.features:,} made from the edges)" if diagnosis.made_of_edges else f"{diagnosis.features:,}"
    )


def _classes_table(diagnosis: Diagnosis) -> RenderableType:
    table = Table()
    table.add_column("class")
    table.add_column("labels", justify="right")
    table.add_column("share", justify="right")
    table.add_column("labelled neighbours of the same class", justify="right")
    for row in diagnosis.by_class[:_MOST_CLASSES]:
        share = row.labels / max(diagnosis.labelled, 1)
        table.add_row(printable(row.name), f"{row.labels:,}", f"{share:.1%}", percent(row.consistency))
    left = len(diagnosis.by_class) - _MOST_CLASSES
    return Group(table, Text(f"and {left} more classes")) if left > 0 else table
