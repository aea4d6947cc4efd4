"""Sections on what only some records carry: label consistency of nodes, confusion, calibration, curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from lcgnn.errors import OutputError
from lcgnn.experiments.spec import Experiment
from lcgnn.report.diagnostic_figures import Fifths, confusion_figure, curves_figure, fifths_figure
from lcgnn.report.plotting import Figure
from lcgnn.report.sections import Plot, Section, Variant
from lcgnn.report.tables import calibration_table

Measured = tuple[dict[str, Any], dict[str, Any]]
Stages = Mapping[tuple[str, int], Sequence[Measured]]


def diagnostic_sections(studies: Sequence[tuple[Experiment, Stages]]) -> list[Section]:
    """The sections that the records have something for; OutputError names a record whose data do not fit."""
    builders = (_fifths_section, _confusion_section, _calibration_section, _curves_section)
    return [section for build in builders for section in build(studies)]


def _fifths_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    variants = []
    for experiment, stages in studies:
        for position, column in enumerate(experiment.columns):
            for base, names in _compared_rows(experiment).items():
                runs = {name: _carrying("fifths", stages[name, position]) for name in (base, *names)}
                kept = {name: found for name, found in runs.items() if found}
                if kept:
                    with _naming_records("fifths", [run for found in kept.values() for run in found]):
                        figure = fifths_figure(base, {name: _fifths(found) for name, found in kept.items()})
                    variants.append(Variant(f"{column.title} · {base}", figure, experiment.title))
    if variants:
        caption = (
            "Test nodes by label consistency, the share of a node's neighbours with its label, as in Figure 1 of "
            "the paper, for every experiment. Bars: the base, with the standard deviation over seeds; lines: what "
            "is compared to it."
        )
        plot = Plot("Accuracy by label consistency of the node", caption, tuple(variants))
        yield Section("label-consistency", "Where label consistency helps", blocks=(plot,))


def _fifths(runs: Sequence[Measured]) -> Fifths:
    return Fifths.of_runs([stage["fifths"] for _, stage in runs])


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
    variants = _variants("confusion", studies, _confusion)
    if variants:
        caption = (
            "Rows are the true class, columns what its test nodes were taken for, in percent of the class, over "
            "all seeds. The diagonal is right."
        )
        plot = Plot("Confusion of classes", caption, variants, matrix=True)
        yield Section("confusion", "Which classes are confused", blocks=(plot,))


def _confusion(runs: Sequence[Measured]) -> Figure:
    total = np.sum([np.asarray(stage["confusion"], dtype=np.float64) for _, stage in runs], axis=0)  # (C, C)
    if total.ndim != 2 or total.shape[0] != total.shape[1]:
        raise ValueError(f"a confusion matrix is square, not {total.shape}")
    named = next((record["classes"] for record, _ in runs if record.get("classes")), None)
    classes = [str(name) for name in named or [f"class {number}" for number in range(len(total))]]
    return confusion_figure(total, classes)


def _calibration_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    tables = []
    for experiment, stages in studies:
        errors = {}
        for place, runs in stages.items():
            with _naming_records("calibration_error", runs):
                carrying = _carrying("calibration_error", runs)
                errors[place] = [float(stage["calibration_error"]) for _, stage in carrying]
        if any(errors.values()):
            tables.append(calibration_table(f"{experiment.name}-calibration", experiment, errors))
    if tables:
        text = (
            "The calibration error of the predicted probabilities on the test nodes. 0 is perfect: of the nodes "
            "that are given their class with a probability of 80 %, 80 % are right."
        )
        yield Section("calibration", "How far the probabilities can be trusted", text, tuple(tables))


def _curves_section(studies: Sequence[tuple[Experiment, Stages]]) -> Iterator[Section]:
    variants = _variants("curve", studies, _curves)
    if variants:
        caption = "Loss and validation accuracy by epoch, a line for every seed."
        yield Section("training", "How training went", blocks=(Plot("Training curves", caption, variants),))


def _curves(runs: Sequence[Measured]) -> Figure:
    return curves_figure({int(record["seed"]): stage["curve"] for record, stage in runs})


def _variants(
    key: str, studies: Sequence[tuple[Experiment, Stages]], draw: Callable[[Sequence[Measured]], Figure]
) -> tuple[Variant, ...]:
    """A figure for every cell whose runs carry the key."""
    variants = []
    for experiment, stages in studies:
        for position, column in enumerate(experiment.columns):
            for row in experiment.rows:
                runs = _carrying(key, stages[row.name, position])
                if runs:
                    with _naming_records(key, runs):
                        figure = draw(runs)
                    variants.append(Variant(f"{column.title} · {row.name}", figure, experiment.title))
    return tuple(variants)


def _carrying(key: str, runs: Sequence[Measured]) -> list[Measured]:
    return [(record, stage) for record, stage in runs if stage.get(key) is not None and stage[key] != []]


@contextmanager
def _naming_records(key: str, runs: Sequence[Measured]) -> Iterator[None]:
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError) as error:
        names = ", ".join(str(record["run"]) for record, _ in runs)
        raise OutputError(f"{key!r} in one of the records {names} cannot be shown: {error}.") from error
