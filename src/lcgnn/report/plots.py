"""Plots as image files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lcgnn.assessment.diagnosis import Diagnosis
from lcgnn.outputs import OutputKind, beginning
from lcgnn.runs.records import Summary
from lcgnn.sources.benchmarks import BENCHMARKS

# Distinguishable without colour vision, and in print.
BASE_COLOUR, CONSISTENCY_COLOUR, PAPER_COLOUR = "#9aa5b1", "#0b6e99", "#d1495b"

_MOST_CLASSES_DRAWN = 20

# What a plot says that it was made by.
_SOFTWARE = {"Software": "lcgnn"}


def _is_plot(path: Path) -> bool:
    found = beginning(path)
    return found.startswith(b"\x89PNG\r\n") and b"tEXtSoftware\0lcgnn" in found


PLOT = OutputKind("a plot", (".png",), _is_plot, " (those of version 0.1 have none)")


def save_comparison(path: Path, summaries: Sequence[Summary]) -> None:
    """Draw every session's base and final accuracy side by side, with their spread and the paper's figures."""
    # A figure made without pyplot needs no display and leaves no global state behind.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 1.5 * len(summaries), 4.2), layout="constrained")
    axes = figure.add_subplot()
    for position, summary in enumerate(summaries):
        bars = [(-0.19, summary.stages[0], BASE_COLOUR), (0.19, summary.last, CONSISTENCY_COLOUR)]
        for offset, stage, colour in bars:
            place, mean, std = position + offset, 100 * (stage.mean or 0.0), 100 * (stage.std or 0.0)
            axes.bar(place, mean, 0.36, yerr=std, color=colour, capsize=3, ecolor="#333333")
            top = max(mean + std, stage.paper.mean if stage.paper else 0)
            axes.annotate(f"{mean:.1f}", (place, top), (0, 3), textcoords="offset points", ha="center", fontsize=9)
            if stage.paper:
                axes.plot([place - 0.18, place + 0.18], [stage.paper.mean] * 2, color=PAPER_COLOUR, lw=2)
    _label(axes, summaries)
    with PLOT.written(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png", metadata=_SOFTWARE)


def _label(axes: Any, summaries: Sequence[Summary]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    stages = [stage for summary in summaries for stage in summary.stages]
    lowest = min((stage.mean or 0.0) - (stage.std or 0.0) for stage in stages)
    highest = max((stage.mean or 0.0) + (stage.std or 0.0) for stage in stages)
    # The axis does not start at zero, because the differences that matter are a few points; its label says so.
    floor = max(0, 10 * int(10 * lowest - 0.5))
    axes.set_ylim(floor, min(100 * highest + 9, 108))
    axes.set_ylabel(f"test accuracy %, from {floor}" if floor else "test accuracy %")
    axes.set_xticks(range(len(summaries)), [_title(summary) for summary in summaries], fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        handles=[
            Patch(color=BASE_COLOUR, label="base network"),
            Patch(color=CONSISTENCY_COLOUR, label="with label consistency"),
            Line2D([], [], color=PAPER_COLOUR, lw=2, label="the paper's figure"),
        ],
        loc="upper center",
        ncols=3,
        frameon=False,
        fontsize=9,
    )


def save_diagnosis(path: Path, name: str, diagnosis: Diagnosis) -> None:
    """Draw a graph's degrees, its labels by class, and how often labelled neighbours have the same label."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle(_plain(name))
    if diagnosis.by_class:
        degrees, classes = figure.subplots(1, 2)
        _draw_classes(classes, diagnosis)
    else:
        degrees = figure.subplots()
    _draw_degrees(degrees, diagnosis.degree_counts)
    with PLOT.written(path) as temporary, warnings.catch_warnings():
        # A class name in a script that the font lacks is drawn as boxes; the table has it in full.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(temporary, dpi=150, format="png", metadata=_SOFTWARE)


def _draw_degrees(axes: Any, counts: Sequence[int]) -> None:
    names = ["0", "1", *(f"{2**power}-{2 ** (power + 1) - 1}" for power in range(1, len(counts)))][: len(counts)]
    axes.bar(range(len(counts)), counts, color=BASE_COLOUR)
    axes.set_xticks(range(len(counts)), names, fontsize=8, rotation=45)
    axes.set_xlabel("neighbours")
    axes.set_ylabel("nodes")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_classes(axes: Any, diagnosis: Diagnosis) -> None:
    shown = sorted(diagnosis.by_class, key=lambda item: -item.labels)[:_MOST_CLASSES_DRAWN]
    axes.barh(range(len(shown)), [item.labels for item in shown], color=BASE_COLOUR)
    for position, item in enumerate(shown):
        text = "" if item.consistency is None else f", {item.consistency:.0%} of labelled neighbours agree"
        axes.annotate(f" {item.labels} labels{text}", (item.labels, position), va="center", fontsize=8)
    axes.set_yticks(range(len(shown)), [_plain(item.name) for item in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 2.2 * max([1, *(item.labels for item in shown)]))
    axes.set_xlabel("labels")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)


def _plain(text: str) -> str:
    """A user's text as it stands: a dollar sign does not begin a formula, and what cannot be drawn is replaced."""
    cut = text if len(text) <= 30 else text[:27] + "..."
    return "".join(character if character.isprintable() else "?" for character in cut).replace("$", r"\$")


def _title(summary: Summary) -> str:
    labels = summary.split.spec.labels_per_class or 20
    method = summary.stages[0].method.upper()
    return f"{BENCHMARKS[summary.dataset].title}\n{method}, {labels} labels\nper class"
