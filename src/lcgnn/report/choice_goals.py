"""How good the choice among methods is, beside what was aimed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.experiments.spec import Experiment
from lcgnn.methods.blend import BLEND
from lcgnn.report.tables import Cells, Heading, Table, Value, text_value
from lcgnn.runs.choice.candidates import AUTO
from lcgnn.runs.records import Record
from lcgnn.sources.benchmarks import BENCHMARKS

_BASE, _PAPER, _FEATURES = "GCN", "LC-GCN as in the paper", "MLP"
# As many choices have a miss among them nearly always, if the interval is a 95 % one.
_FEWEST_CHOICES = 60


def goals_table(studies: Mapping[str, tuple[Experiment, Sequence[Record], Cells]]) -> Table | None:
    """What the choice was meant to reach, beside what it reached; None where it was not run.

    Accuracy has goals for 5 labels a class alone; trust has the same ones for however many.
    """
    rows: list[tuple[Value, ...]] = []
    for name, (experiment, records, cells) in studies.items():
        rows += _accuracy_goals(experiment, cells) if name == "any_graph_5" else []
        chosen = [record for record in records if record.method == AUTO and record.expected is not None]
        rows += _trust_goals(experiment, chosen)
    if not rows:
        return None
    headings = tuple(Heading(text, numeric=False) for text in ("goal", "measured", "", "from"))
    return Table("any-graph-goals", "What was aimed at, beside what was measured.", headings, tuple(rows))


def _accuracy_goals(experiment: Experiment, cells: Cells) -> list[tuple[Value, ...]]:
    """Of the graphs on which the choice and all single rows were run."""
    compared = [row.name for row in experiment.rows if row.method not in (AUTO, BLEND, "gcn-control")]
    auto = next(row.name for row in experiment.rows if row.method == AUTO)
    there = [
        position
        for position in range(len(experiment.columns))
        if all((name, position) in cells for name in (auto, *compared))
    ]
    if not there:
        return []

    def minus(other: str) -> list[float]:
        found = (gain_over(cells, auto, other, position) for position in there)
        return [100 * item.mean for item in found if item is not None]

    minus_best = [min(column) for column in zip(*map(minus, compared), strict=True)]
    titles = [BENCHMARKS[experiment.columns[position].dataset].title for position in there]
    over = f"{len(there)} of {len(experiment.columns)} graphs, 5 labels a class"
    found = [
        _goal("at most 1 point behind the best single row of each graph, mean", fmean(minus_best), -1, over),
        _goal("at least 4 points above LC-GCN as in the paper, mean", fmean(minus(_PAPER)), 4, over),
    ]
    for other in (_BASE, _FEATURES):
        worst, where = min(zip(minus(other), titles, strict=True))
        found.append(_goal(f"never more than 2 points below {other}", worst, -2, f"{over}; least on {where}"))
    return found


def _trust_goals(experiment: Experiment, records: Sequence[Record]) -> list[tuple[Value, ...]]:
    """How far what was expected of the choice holds."""
    pairs = [(record.expected, record.last) for record in records if record.expected is not None]
    if not pairs:
        return []
    over = f"{len(pairs)} choices, {experiment.title.partition(': ')[2]}"
    errors = [100 * stage.calibration_error for _, stage in pairs if stage.calibration_error is not None]
    inside = [known.overall.low <= (stage.test_accuracy or 0.0) <= known.overall.high for known, stage in pairs]
    widths = [100 * (known.overall.high - known.overall.low) for known, _ in pairs]
    coverage = 100 * fmean(inside)
    return [
        _row("calibration error at most 6 points, mean", f"{fmean(errors):.1f}", fmean(errors) <= 6, over),
        _row(
            "the 95 % interval holds the truth in 92 to 98 %",
            f"{coverage:.1f} %",
            # Among few, not a single miss is what an interval that is right gives as well.
            None if all(inside) and len(inside) < _FEWEST_CHOICES else 92 <= coverage <= 98,
            over,
        ),
        _row("median width of the interval below 25 points", f"{median(widths):.0f}", median(widths) < 25, over),
    ]


def _goal(text: str, measured: float, least: float, over: str) -> tuple[Value, ...]:
    return _row(text, f"{measured:+.1f}", measured >= least, over)


def _row(text: str, measured: str, met: bool | None, over: str) -> tuple[Value, ...]:
    """A goal that is met, missed, or (None) that too few runs speak of."""
    sign = Value("met", "met", "better") if met else Value("missed", "missed", "worse")
    if met is None:
        sign = Value("too few to tell", "too few to tell")
    return text_value(text), text_value(measured), sign, text_value(over)


def bias_in_words(chosen: Sequence[Record]) -> str:
    """How far what was expected of the choice is from the truth on average, with and without its correction."""
    gaps, own_gaps = [], []
    for record in chosen:
        truth, choice = record.last.test_accuracy, record.choice
        taken = None if choice is None else choice.named(choice.taken)
        if truth is not None and record.expected is not None and taken is not None:
            gaps.append(100 * (record.expected.overall.accuracy - truth))
            tested = 1 - record.expected.alone / record.expected.given
            own_gaps.append(100 * (taken.accuracy * tested - truth))
    if not gaps:
        return ""
    return (
        f"What was expected of {len(gaps)} choices is {fmean(gaps):+.1f} points from the truth on average; the "
        f"share of held-out labels that the winner itself predicted right, {fmean(own_gaps):+.1f}."
    )


def gain_over(cells: Cells, row: str, than: str, position: int) -> PairedDifference | None:
    """How much better one row is than another, over the draws that both have."""
    one, other = cells.get((row, position)), cells.get((than, position))
    common = sorted(one.accuracies.keys() & other.accuracies.keys()) if one and other else []
    if one is None or other is None or not common:
        return None
    return PairedDifference.between(*([item.accuracies[key] for key in common] for item in (one, other)))
