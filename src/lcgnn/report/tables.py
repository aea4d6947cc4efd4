"""Tables as plain data: what the page shows, what it sorts by, and what RESULTS.md repeats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lcgnn.assessment.evaluation import PairedDifference, Summary
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.study import Cell
from lcgnn.runs.records import Record
from lcgnn.runs.reported import Reported

Cells = Mapping[tuple[str, int], Cell]
Verdict = Literal["better", "worse", "unclear"]

# A paired difference counts as one below this p.
SIGNIFICANCE = 0.05

SIGNS: Mapping[Verdict, str] = {"better": "▲", "worse": "▼", "unclear": "≈"}
WORDS: Mapping[Verdict, str] = {"better": "better", "worse": "worse", "unclear": "no clear difference"}


@dataclass(frozen=True)
class Value:
    """One cell of a table.

    Args:
        text: As it is shown.
        order: What it is sorted by; None comes last.
        verdict: Colours the cell, where it is one.
    """

    text: str
    order: float | str | None
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Heading:
    """The head of a column.

    Args:
        text: As it is shown.
        numeric: Set right, and sorted from the largest first.
        group: What several neighbouring columns share, shown above them.
        first: The first of its group, set apart from the one before.
    """

    text: str
    numeric: bool = True
    group: str = ""
    first: bool = False

    @property
    def full(self) -> str:
        """The heading where nothing stands above it."""
        return f"{self.group}: {self.text}" if self.group else self.text


@dataclass(frozen=True)
class Table:
    """Headings and rows; the name is that of the file that it is downloaded as."""

    name: str
    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """What stands above the headings with the number of columns below it; nothing where no column has one."""
        spans: list[tuple[str, int]] = []
        for heading in self.headings:
            if spans and heading.group and spans[-1][0] == heading.group:
                spans[-1] = (heading.group, spans[-1][1] + 1)
            else:
                spans.append((heading.group, 1))
        return spans if any(name for name, _ in spans) else []


@dataclass(frozen=True)
class Comparison:
    """How much better one row is than another in one column."""

    row: str
    other: str
    column: str
    difference: PairedDifference


def accuracy_table(experiment: Experiment, cells: Cells) -> Table:
    """Ours, the paper's and their difference, for every row and column."""
    headings = [Heading("method", numeric=False)]
    for column in experiment.columns:
        if experiment.is_in_paper:
            headings += [
                Heading("ours", group=column.title, first=True),
                Heading("paper", group=column.title),
                Heading("Δ", group=column.title),
            ]
        else:
            headings.append(Heading(column.title))
    rows = []
    for row in experiment.rows:
        values = [text_value(row.name)]
        for position, paper in enumerate(row.paper):
            cell = cells.get((row.name, position))
            values += (
                [_ours(cell), _paper(paper), _distance(cell, paper)] if experiment.is_in_paper else [_ours(cell)]
            )
        rows.append(tuple(values))
    caption = f"Test accuracy in percent, mean ± standard deviation over {seeds_in_words(experiment, cells)}"
    caption += (
        "; the paper's figure; Δ, the difference of the means in points. A dash: not run, or not in the paper."
        if experiment.is_in_paper
        else ". The paper has no such experiment."
    )
    return Table(f"{experiment.name}-accuracy", caption, tuple(headings), tuple(rows))


def comparison_table(experiment: Experiment, cells: Cells) -> Table:
    """Every paired comparison that the records allow, with its interval and a verdict."""
    headings = (
        Heading("comparison", numeric=False),
        Heading("graph", numeric=False),
        Heading("difference"),
        Heading("95 % from"),
        Heading("to"),
        Heading("p"),
        Heading("seeds won"),
        Heading("verdict", numeric=False),
    )
    rows = tuple(
        (
            text_value(f"{item.row} minus {item.other}"),
            text_value(item.column),
            signed_value(100 * item.difference.mean),
            signed_value(100 * item.difference.low),
            signed_value(100 * item.difference.high),
            _p_value(item.difference.p_value),
            Value(
                f"{item.difference.wins} of {item.difference.count}", item.difference.wins / item.difference.count
            ),
            _verdict_value(item.difference),
        )
        for item in comparisons(experiment, cells)
    )
    caption = (
        "Paired by seed: mean difference in points, its 95 % interval and p of the paired t-test. A verdict needs "
        f"p < {SIGNIFICANCE}; p is not corrected for the number of comparisons."
    )
    return Table(f"{experiment.name}-comparisons", caption, headings, rows)


def comparisons(experiment: Experiment, cells: Cells) -> list[Comparison]:
    """Every pair of rows that is compared and has records, column by column."""
    found = []
    for row in experiment.rows:
        for position, column in enumerate(experiment.columns):
            cell = cells.get((row.name, position))
            if row.compare and cell and cell.difference:
                found.append(Comparison(row.name, row.compare, column.title, cell.difference))
    return found


def verdict(difference: PairedDifference) -> Verdict:
    """Whether the first is better, worse, or neither for sure; a single seed says nothing."""
    if not difference.p_value < SIGNIFICANCE:
        return "unclear"
    return "better" if difference.mean > 0 else "worse"


def calibration_table(
    name: str, experiment: Experiment, errors: Mapping[tuple[str, int], Sequence[float]]
) -> Table:
    """Expected calibration errors, mean and spread over seeds, of the rows that have any."""
    headings = (Heading("method", numeric=False), *(Heading(column.title) for column in experiment.columns))
    positions = range(len(experiment.columns))
    rows = tuple(
        (text_value(row.name), *(_spread(errors.get((row.name, position), ())) for position in positions))
        for row in experiment.rows
        if any(errors.get((row.name, position)) for position in positions)
    )
    return Table(name, f"{experiment.title}: mean ± standard deviation over seeds.", headings, rows)


def methods_table(records: Iterable[Record]) -> Table:
    """Runs and training time by method."""
    seconds: dict[str, list[float]] = {}
    for record in records:
        seconds.setdefault(record.method, []).append(record.seconds)
    headings = (Heading("method", numeric=False), Heading("runs"), Heading("mean, s"), Heading("total, min"))
    rows = tuple(
        (
            text_value(method),
            Value(f"{len(times):,}", len(times)),
            Value(f"{sum(times) / len(times):,.1f}", sum(times) / len(times)),
            Value(f"{sum(times) / 60:,.1f}", sum(times)),
        )
        for method, times in sorted(seconds.items())
    )
    return Table("runs", "Training time of a run and of all runs, by method.", headings, rows)


def versions_table(records: Iterable[Record]) -> Table:
    """The software and machines that the records name, with the number of runs on each."""
    counts: dict[tuple[str, str], int] = {}
    for record in records:
        for what in record.environment.software().items():
            counts[what] = counts.get(what, 0) + 1
    headings = (Heading("what", numeric=False), Heading("version", numeric=False), Heading("runs"))
    rows = tuple(
        (text_value(what), text_value(value), Value(f"{count:,}", count))
        for (what, value), count in sorted(counts.items())
    )
    return Table("versions", "Software and machines, as the records name them.", headings, rows)


def text_value(text: str) -> Value:
    return Value(text, text.lower())


def signed_value(number: float) -> Value:
    """A number with its sign and one decimal; what rounds to zero has no sign."""
    if math.isnan(number):
        return Value("–", None)
    shown = f"{number:+.1f}".replace("-", "−")
    return Value("0.0" if shown[1:] == "0.0" else shown, number)


def duration(seconds: float) -> str:
    """A time in words."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def seeds_in_words(experiment: Experiment, cells: Cells) -> str:
    """Over how many seeds, or draws of the labels, the means are taken."""
    counts = sorted({cell.summary.count for cell in cells.values() if cell.summary.count > 1})
    noun = "draw" if all(column.draws for column in experiment.columns) else "seed"
    if not counts:
        return f"1 {noun}"
    shown = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{shown} {noun}s" if noun == "draw" else f"{shown} {noun}s (deterministic methods: once)"


def ours_in_words(cell: Cell) -> str:
    """Mean and spread in percent; a single seed has no spread."""
    summary = cell.summary
    mean = f"{100 * summary.mean:.1f}"
    return mean if summary.count == 1 else f"{mean} ± {100 * summary.std:.1f}"


def paper_in_words(reported: Reported) -> str:
    """The paper's figure, with its spread where it gives one."""
    return f"{reported.mean:.1f}" if reported.std is None else f"{reported.mean:.1f} ± {reported.std:.1f}"


def _ours(cell: Cell | None) -> Value:
    if cell is None or math.isnan(cell.summary.mean):
        return Value("–", None)
    return Value(ours_in_words(cell), 100 * cell.summary.mean)


def _paper(reported: Reported | None) -> Value:
    return Value(paper_in_words(reported), reported.mean) if reported else Value("–", None)


def _distance(cell: Cell | None, paper: Reported | None) -> Value:
    if cell is None or paper is None:
        return Value("–", None)
    return signed_value(100 * cell.summary.mean - paper.mean)


def _p_value(value: float) -> Value:
    if math.isnan(value):
        return Value("–", None)
    return Value("< 0.001" if value < 0.001 else f"{value:.2g}", value)


def _verdict_value(difference: PairedDifference) -> Value:
    found = verdict(difference)
    return Value(f"{SIGNS[found]} {WORDS[found]}", WORDS[found], found)


def _spread(values: Sequence[float]) -> Value:
    if not values:
        return Value("–", None)
    summary = Summary.of(values)
    mean = f"{summary.mean:.3f}"
    return Value(mean if summary.count == 1 else f"{mean} ± {summary.std:.3f}", summary.mean)
