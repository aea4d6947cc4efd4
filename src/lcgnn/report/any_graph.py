"""On which graphs label consistency helps, and what predicts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.stats import spearmanr

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.study import stages_of
from lcgnn.report.choice_goals import bias_in_words, gain_over, goals_table
from lcgnn.report.sections import Section
from lcgnn.report.tables import SIGNS, Cells, Heading, Table, Value, text_value, verdict
from lcgnn.runs.choice.candidates import AUTO
from lcgnn.runs.records import Record, StageRecord
from lcgnn.sources.benchmarks import BENCHMARKS

# The studies of graphs as somebody's own, of which the first answers for all graphs at a glance.
STUDIES = ("any_graph_5", "any_graph_random", "any_graph_3", "any_graph_10", "any_graph_20")
_BASE, _WITH = "GCN", "LC-GCN"
_STRONGER, _STRONGER_WITH = "APPNP", "LC-APPNP"
# Fewer points have no correlation worth a word.
_FEWEST_GRAPHS = 5


@dataclass(frozen=True)
class GraphLine:
    """A graph: what it is like, and what label consistency brings on it.

    Args:
        title: Of the graph.
        agreeing: The share of the test nodes more than 60 % of whose neighbours have their label.
        sureness: The mean probability of what the base predicts; NaN where no record has it.
        label_rate: The share of the nodes whose label is trained on.
        gain: Of label consistency over GCN, over the draws that both have.
        stronger_gain: The same over APPNP, where it was run.
        accuracies: The mean test accuracy of GCN and LC-GCN.
    """

    title: str
    agreeing: float
    sureness: float
    label_rate: float
    gain: PairedDifference
    stronger_gain: PairedDifference | None
    accuracies: tuple[float, float]


@dataclass(frozen=True)
class Predictor:
    """Something known of every graph, and how the gain of label consistency goes with it.

    Args:
        name: In words.
        correlation: Spearman's, over the graphs.
        p_value: How often chance gives as much.
    """

    name: str
    correlation: float
    p_value: float


def any_graph_sections(studies: Mapping[str, tuple[Experiment, Sequence[Record], Cells]]) -> list[Section]:
    """Nothing if no study of graphs as somebody's own has records."""
    found = {name: studies[name] for name in STUDIES if name in studies}
    if not found:
        return []
    name, (experiment, records, cells) = next(iter(found.items()))
    chosen = [record for record in records if record.method == AUTO]
    lines = graph_lines(experiment, records, cells)
    goals = goals_table(found)
    blocks = [*([_gain_table(lines)] if lines else []), *([goals] if goals is not None else [])]
    if not blocks:
        return []
    title = "Any graph: where label consistency helps, and how good the choice is"
    text = " ".join(filter(None, (in_words(lines), bias_in_words(chosen))))
    note = f"From the records of {name}, but for goals that are said to be from others."
    return [Section("any-graph", title, text, tuple(blocks), note=note)]


def graph_lines(experiment: Experiment, records: Iterable[Record], cells: Cells) -> list[GraphLine]:
    """One for every graph that GCN and LC-GCN were run on, the largest gain first."""
    stages = stages_of(experiment, records)
    lines = []
    for position, column in enumerate(experiment.columns):
        base, both = (cells.get((row, position)) for row in (_BASE, _WITH))
        of_base = [stage for _, stage in stages[_BASE, position]]
        gain = gain_over(cells, _WITH, _BASE, position)
        if base is None or both is None or gain is None:
            continue
        lines.append(
            GraphLine(
                BENCHMARKS[column.dataset].title,
                fmean(map(_agreeing, of_base)),
                _mean([stage.confidence for stage in of_base if stage.confidence is not None]),
                fmean(map(_label_rate, [record for record, _ in stages[_BASE, position]])),
                gain,
                gain_over(cells, _STRONGER_WITH, _STRONGER, position),
                (base.summary.mean, both.summary.mean),
            )
        )
    return sorted(lines, key=lambda line: -line.gain.mean)


def predictors(lines: Sequence[GraphLine]) -> list[Predictor]:
    """What may predict the gain, the strongest first; nothing from too few graphs."""
    if len(lines) < _FEWEST_GRAPHS:
        return []
    gains = [line.gain.mean for line in lines]
    candidates = {
        "the share of nodes whose neighbours mostly have their label": [line.agreeing for line in lines],
        "how sure the base is": [line.sureness for line in lines],
        "the label rate": [line.label_rate for line in lines],
        "the accuracy of the base": [line.accuracies[0] for line in lines],
    }
    found = []
    for name, values in candidates.items():
        known = np.array([pair for pair in zip(values, gains, strict=True) if not np.isnan(pair).any()])
        # What is the same on all graphs goes with nothing.
        if len(known) >= _FEWEST_GRAPHS and (np.ptp(known, axis=0) > 0).all():
            result = spearmanr(known)
            found.append(Predictor(name, float(result.statistic), float(result.pvalue)))
    return sorted(found, key=lambda item: -abs(item.correlation))


def in_words(lines: Sequence[GraphLine]) -> str:
    """On which graphs it helps, by how much, and what goes with that."""
    if not lines:
        return ""
    helped = [line.title for line in lines if line.gain.mean > 0.01]
    harmed = [line.title for line in lines if line.gain.mean < -0.01]
    sentences = [
        f"Label consistency on GCN gains more than a point on {len(helped)} of {len(lines)} graphs "
        f"({', '.join(helped) or 'none'}) and loses more than a point on {len(harmed)} "
        f"({', '.join(harmed) or 'none'}); {100 * fmean(line.gain.mean for line in lines):+.1f} points on average."
    ]
    found = predictors(lines)
    if found:
        listed = "; ".join(f"{item.name} {item.correlation:+.2f} (p = {item.p_value:.2g})" for item in found)
        told = "Something may predict it" if found[0].p_value < 0.05 / len(found) else "None of these predicts it"
        sentences.append(
            f"Rank correlation of the gain with what is known of a graph: {listed}. {told}, as far as "
            f"{len(lines)} graphs can say: of {len(found)} correlations one is below p = {0.05 / len(found):.3f} "
            "in one of twenty such studies by chance."
        )
    return " ".join(sentences)


def _gain_table(lines: Sequence[GraphLine]) -> Table:
    headings = (
        Heading("graph", numeric=False),
        *(Heading(text) for text in ("GCN", "LC-GCN", "gain", "gain on APPNP", "agreeing", "sureness")),
        Heading("label rate"),
    )
    caption = (
        "Test accuracy in percent and the gain in points, with the 95 % interval over the draws. Agreeing: nodes "
        "with more than 60 % of their neighbours of their own class, in percent. Sureness: the mean probability "
        "of what GCN predicts. Label rate: the share of the nodes whose label is given, in percent."
    )
    rows = tuple(
        (
            text_value(line.title),
            *(_percent(value) for value in line.accuracies),
            _difference(line.gain),
            Value("–", None) if line.stronger_gain is None else _difference(line.stronger_gain),
            _percent(line.agreeing),
            _percent(line.sureness),
            Value(f"{100 * line.label_rate:.2f}", line.label_rate),
        )
        for line in lines
    )
    return Table("any-graph", caption, headings, rows)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else float("nan")


def _agreeing(stage: StageRecord) -> float:
    fifths = stage.fifths or ()
    total = sum(fifth.nodes for fifth in fifths)
    return sum(fifth.nodes for fifth in fifths[3:]) / total if total else float("nan")


def _label_rate(record: Record) -> float:
    confusion = np.array(record.last.confusion or ((1,),))
    split = record.split
    given = split.labels if split.labels is not None else (split.labels_per_class or 0) * confusion.shape[0]
    return given / (given + int(confusion.sum()))


def _percent(share: float) -> Value:
    return Value(f"{100 * share:.1f}", share) if share == share else Value("–", None)


def _difference(found: PairedDifference) -> Value:
    told = verdict(found)
    interval = "" if found.count < 2 else f" [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    return Value(f"{SIGNS[told]} {100 * found.mean:+.1f}{interval}", found.mean, told)
