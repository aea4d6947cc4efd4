"""Sections on what only some records carry: label consistency of nodes, confusion, calibration, curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from lcgnn.errors import OutputError
from lcgnn.experiments.spec import Experiment
from lcgnn.report.diagnostic_figures import Fifths, confusion_figure, curves_figure, fifths_figure
from lcgnn.report.plotting import Figure
from lcgnn.report.sections import Plot, Section, Variant
from lcgnn.report.tables import calibration_table
from lcgnn.runs.records import Fifth, Record, StageRecord

Measured = tuple[Record, StageRecord]
Stages = Mapping[tuple[str, int], Sequence[Measured]]


def diagnostic_sections(studies: Sequence[tuple[Experiment, Stages]]) -> list[Section]:
    """The sections that the records have something for; OutputError names records that do not fit together."""
    builders = (_fifths_section, _confusion_section, _calibration_section, _curves_section)
    return [section for build in builders for section in build(studies)]


def _fifths_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    variants = []
    for experiment, stages in studies:
        for position, column in enumerate(experiment.columns):
            for base, names in _compared_rows(experiment).items():
                counted = {name: _fifths(stages[name, position]) for name in (base, *names)}
                kept = {name: runs for name, runs in counted.items() if runs}
                if kept:
                    figure = fifths_figure(base, {name: Fifths.of_runs(runs) for name, runs in kept.items()})
                    variants.append(Variant(f"{column.title} · {base}", figure, experiment.title))
    if variants:
        caption = (
            "Test nodes by label consistency, the share of a node's neighbours with its label, as in Figure 1 of "
            "the paper, for every experiment. Bars: the base, with the standard deviation over seeds; lines: what "
            "is compared to it."
        )
        plot = Plot("Accuracy by label consistency of the node", caption, tuple(variants))
        yield Section("label-consistency", "Where label consistency helps", blocks=(plot,))


def _fifths(runs: Sequence[Measured]) -> list[tuple[Fifth, ...]]:
    return [stage.fifths for _, stage in runs if stage.fifths]


def _compared_rows(experiment: Experiment) -> dict[str, list[str]]:
    """Rows that others are compared with, and these, then the rows without any such tie."""
    found: dict[str, list[str]] = {}
    for row in experiment.rows:
        if row.compare is not None:
            found.setdefault(row.compare, []).append(row.name)
    alone: dict[str, list[str]] = {
        row.name: [] for row in experiment.rows if row.compare is None and row.name not in found
    }
    return found | alone


def _confusion_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    variants = _variants(studies, lambda stage: stage.confusion, _confusion)
    if variants:
        caption = (
            "Rows are the true class, columns what its test nodes were taken for, in percent of the class, over "
            "all seeds. The diagonal is right."
        )
        plot = Plot("Confusion of classes", caption, variants, matrix=True)
        yield Section("confusion", "Which classes are confused", blocks=(plot,))


def _confusion(runs: Sequence[Measured]) -> Figure:
    matrices = [np.array(stage.confusion, dtype=np.float64) for _, stage in runs]  # (C, C) each
    if len({matrix.shape for matrix in matrices}) > 1:
        names = ", ".join(record.run for record, _ in runs)
        raise OutputError(f"The confusion in one of the records {names} has another size than in the others.")
    classes = next((record.classes for record, _ in runs if record.classes), None)
    numbered = [f"class {number}" for number in range(len(matrices[0]))]
    return confusion_figure(np.sum(matrices, axis=0), classes or numbered)


def _calibration_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    tables = []
    for experiment, stages in studies:
        errors = {
            place: [stage.calibration_error for _, stage in runs if stage.calibration_error is not None]
            for place, runs in stages.items()
        }
        if any(errors.values()):
            tables.append(calibration_table(f"{experiment.name}-calibration", experiment, errors))
    if tables:
        text = (
            "The calibration error of the predicted probabilities on the test nodes. 0 is perfect: of the nodes "
            "that are given their class with a probability of 80 %, 80 % are right."
        )
        yield Section("calibration", "How far the probabilities can be trusted", text, tuple(tables))


def _curves_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    variants = _variants(studies, lambda stage: stage.curve, _curves)
    if variants:
        caption = "Loss and validation accuracy by epoch, a line for every seed."
        yield Section("training", "How training went", blocks=(Plot("Training curves", caption, variants),))


def _curves(runs: Sequence[Measured]) -> Figure:
    return curves_figure({record.seed: stage.curve for record, stage in runs if stage.curve})


def _variants(
    studies: Sequence[tuple[Experiment, Stages]],
    shown: Callable[[StageRecord], object],
    draw: Callable[[Sequence[Measured]], Figure],
) -> tuple[Variant, ...]:
    """A figure for every cell with runs whose stage has what is shown."""
    variants = []
    for experiment, stages in studies:
        for position, column in enumerate(experiment.columns):
            for row in experiment.rows:
                runs = [(record, stage) for record, stage in stages[row.name, position] if shown(stage)]
                if runs:
                    variants.append(Variant(f"{column.title} · {row.name}", draw(runs), experiment.title))
    return tuple(variants)
