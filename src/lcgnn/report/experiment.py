"""An experiment's section of the page: its table, its curve and its comparisons."""

from __future__ import annotations

from lcgnn.experiments.spec import Experiment
from lcgnn.report.diagnostic_figures import Fifths, fifths_figure
from lcgnn.report.figures import Point, difference_figure, few_label_figure
from lcgnn.report.sections import Plot, Section, Variant
from lcgnn.report.tables import Cells, Table, accuracy_table, comparison_table, comparisons
from lcgnn.sources.benchmarks import BENCHMARKS

# What a split has where a column does not say it: the public splits of the benchmarks, and our random ones.
_DEFAULT_LABELS = 20


def experiment_section(number: int, experiment: Experiment, cells: Cells) -> Section:
    """Accuracies beside the paper's, a plot where the columns make a curve, and the paired comparisons."""
    pairs = comparisons(experiment, cells)
    plots = _fifths_plots(experiment, cells) if experiment.by_consistency else _few_label_plots(experiment, cells)
    blocks: list[Table | Plot] = [accuracy_table(experiment, cells), *plots]
    if pairs:
        caption = (
            "A mark is the mean difference over the seeds that both rows have, the line its 95 % interval. An "
            "interval that holds zero is no clear difference."
        )
        blocks.append(Plot("Paired differences", caption, (Variant("", difference_figure(pairs)),)))
        blocks.append(comparison_table(experiment, cells))
    return Section(f"experiment-{number}", experiment.title, blocks=tuple(blocks), note=experiment.note)


def _fifths_plots(experiment: Experiment, cells: Cells) -> list[Plot]:
    """The accuracies by label consistency: the first row as bars, the others as lines."""
    positions = range(len(experiment.columns))
    rows = {
        row.name: Fifths(
            tuple(100 * cells[row.name, position].summary.mean for position in positions),
            tuple(100 * cells[row.name, position].summary.std for position in positions),
            tuple(reported.mean if reported else None for reported in row.paper),
        )
        for row in experiment.rows
        if all((row.name, position) in cells for position in positions)
    }
    if not rows:
        return []
    caption = (
        "Means over the seeds, with the standard deviation of the bars; hollow marks are the paper's figures."
    )
    figure = fifths_figure(next(iter(rows)), rows)
    return [Plot("Accuracy by label consistency", caption, (Variant("", figure),))]


def _few_label_plots(experiment: Experiment, cells: Cells) -> list[Plot]:
    """A plot for every dataset that stands in columns with different numbers of labels."""
    positions: dict[tuple[str, str], dict[int, list[int]]] = {}
    for position, column in enumerate(experiment.columns):
        if column.split.labels is not None:
            continue
        labels = column.split.labels_per_class or _DEFAULT_LABELS
        by_labels = positions.setdefault((column.dataset, column.split.kind), {})
        by_labels.setdefault(labels, []).append(position)
    plots = []
    for (dataset, kind), by_labels in positions.items():
        lines = _few_label_lines(experiment, cells, by_labels)
        if len(by_labels) > 1 and lines:
            caption = (
                f"{BENCHMARKS[dataset].title}, {kind} split: mean test accuracy with its 95 % bootstrap interval "
                f"over {'seeds' if kind == 'public' else 'draws'}"
            )
            with_paper = any(point.paper is not None for points in lines.values() for point in points)
            caption += "; hollow marks are the paper's figures." if with_paper else "."
            plots.append(Plot("Accuracy by labels per class", caption, (Variant("", few_label_figure(lines)),)))
    return plots


def _few_label_lines(
    experiment: Experiment, cells: Cells, by_labels: dict[int, list[int]]
) -> dict[str, list[Point]]:
    """Points of every row that was run, in the order of their labels; columns with the same number share one."""
    lines: dict[str, list[Point]] = {}
    for row in experiment.rows:
        points = []
        for labels, positions in sorted(by_labels.items()):
            measured = [cells[row.name, position] for position in positions if (row.name, position) in cells]
            accuracies = tuple(
                value for cell in measured for value in cell.accuracies.values() if value is not None
            )
            papers = [reported.mean for position in positions if (reported := row.paper[position])]
            points.append(Point(labels, accuracies, papers[0] if papers else None))
        if any(point.accuracies for point in points):
            lines[row.name] = points
    return lines
