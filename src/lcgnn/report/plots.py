"""Plots as image files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lcgnn.datasets import DATASETS
from lcgnn.files import written_atomically

# Distinguishable without colour vision, and in print.
BASE_COLOUR, CONSISTENCY_COLOUR, PAPER_COLOUR = "#9aa5b1", "#0b6e99", "#d1495b"


def save_comparison(path: Path, summaries: Sequence[Mapping[str, Any]]) -> None:
    """Draw every session's base and final accuracy side by side, with their spread and the paper's figures."""
    # A figure made without pyplot needs no display and leaves no global state behind.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 1.5 * len(summaries), 4.2), layout="constrained")
    axes = figure.add_subplot()
    for position, summary in enumerate(summaries):
        bars = [(-0.19, summary["stages"][0], BASE_COLOUR), (0.19, summary["stages"][-1], CONSISTENCY_COLOUR)]
        for offset, stage, colour in bars:
            place, mean, std = position + offset, 100 * stage["mean"], 100 * stage["std"]
            axes.bar(place, mean, 0.36, yerr=std, color=colour, capsize=3, ecolor="#333333")
            top = max(mean + std, stage["paper"]["mean"] if stage["paper"] else 0)
            axes.annotate(f"{mean:.1f}", (place, top), (0, 3), textcoords="offset points", ha="center", fontsize=9)
            if stage["paper"]:
                axes.plot([place - 0.18, place + 0.18], [stage["paper"]["mean"]] * 2, color=PAPER_COLOUR, lw=2)
    _label(axes, summaries)
    with written_atomically(path) as temporary:
        figure.savefig(temporary, dpi=150, format=path.suffix.lstrip("."))


def _label(axes: Any, summaries: Sequence[Mapping[str, Any]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lowest = min(stage["mean"] - stage["std"] for summary in summaries for stage in summary["stages"])
    highest = max(stage["mean"] + stage["std"] for summary in summaries for stage in summary["stages"])
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


def _title(summary: Mapping[str, Any]) -> str:
    labels = summary["split"]["labels_per_class"] or 20
    method = summary["stages"][0]["method"].upper()
    return f"{DATASETS[summary['dataset']].title}\n{method}, {labels} labels\nper class"
