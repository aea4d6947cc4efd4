"""The figures of single methods: accuracy by label consistency of the node, confusion, training curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.report.plotting import (
    Figure,
    axis_title,
    base_layout,
    finite,
    finite_all,
    plain,
    series_colour,
    series_symbol,
)

# What is drawn of a curve; a screen shows no more.
_CURVE_POINTS = 120


def fifths_figure(base: str, rows: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]]) -> Figure:
    """Accuracy by label consistency of the node: the base as bars, what is compared with it as lines.

    Args:
        base: The row that is drawn as bars.
        rows: The fifths of every run, by row.
    """
    traces = []
    for number, (name, runs) in enumerate(rows.items()):
        means, spreads = _fifth_accuracies(runs)
        common = {
            "x": list(range(len(means))),
            "y": finite_all(means),
            "name": plain(name),
            "hovertemplate": "%{y:.1f} %",
        }
        errors = {"type": "data", "array": finite_all(spreads), "color": "@muted", "thickness": 1.2, "width": 4}
        if name == base:
            bar = {"type": "bar", "marker": {"color": "@bar"}, "error_y": errors, "width": 0.62}
            traces.append(common | bar)
        else:
            colour = series_colour(number)
            marker = {"color": colour, "symbol": series_symbol(number), "size": 9}
            line = {"color": colour, "width": 2.5}
            traces.append(common | {"type": "scatter", "mode": "lines+markers", "marker": marker, "line": line})
    layout = base_layout(height=420)
    fifths = next(iter(rows.values()))[0]
    layout["xaxis"] |= {
        "title": axis_title("label consistency, by fifths of the nodes"),
        "tickmode": "array",
        "tickvals": list(range(len(fifths))),
        "ticktext": [f"{float(item['low']):.2f}–{float(item['high']):.2f}" for item in fifths],
        "showgrid": False,
    }
    layout["yaxis"] |= {"title": axis_title("test accuracy, %"), "rangemode": "tozero"}
    return {"data": traces, "layout": layout}


def _fifth_accuracies(runs: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[list[float], list[float]]:
    """Mean and standard deviation over the runs, by fifth, in percent; NaN where a fifth has no nodes."""
    shares = np.array(
        [[item["correct"] / item["nodes"] if item["nodes"] else math.nan for item in fifths] for fifths in runs]
    )  # (runs, 5)
    spread = shares.std(axis=0, ddof=1) if len(runs) > 1 else np.zeros(shares.shape[1])
    return [100 * float(value) for value in shares.mean(axis=0)], [100 * float(value) for value in spread]


def confusion_figure(confusion: NDArray[np.float64], classes: Sequence[str]) -> Figure:
    """What the nodes of each class were taken for: shares of the true class, counts on hovering.

    Args:
        confusion: (C, C), rows are the truth.
        classes: Names of the classes.
    """
    totals = confusion.sum(axis=1, keepdims=True)  # (C, 1)
    shares = 100 * np.divide(confusion, totals, out=np.zeros_like(confusion), where=totals > 0)
    names = [plain(name) for name in classes]
    places = list(range(len(names)))
    heat = {
        "type": "heatmap",
        "x": places,
        "y": places,
        "z": [finite_all(row) for row in shares],
        "zmin": 0,
        "zmax": 100,
        "customdata": [
            [[truth, taken, finite(float(count))] for taken, count in zip(names, row, strict=True)]
            for truth, row in zip(names, confusion, strict=True)
        ],
        "texttemplate": "%{z:.0f}" if len(names) <= 20 else "",
        "hovertemplate": "%{customdata[0]} taken for %{customdata[1]}: %{z:.1f} %, "
        "%{customdata[2]:,.0f} predictions<extra></extra>",
        "colorscale": [[0, "@heat-low"], [1, "@heat-high"]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
    }
    layout = base_layout(height=max(360, 150 + 46 * len(names)))
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": names, "showgrid": False, "zeroline": False}
    layout["margin"] |= {"t": 8}
    layout["xaxis"] |= ticks | {"title": axis_title("taken for"), "tickangle": -35}
    layout["yaxis"] |= ticks | {"title": axis_title("true class"), "autorange": "reversed"}
    return {"data": [heat], "layout": layout}


def curves_figure(runs: Mapping[int, Sequence[Sequence[float | None]]]) -> Figure:
    """Loss above, validation accuracy below, over epochs; a thin line for every seed.

    Args:
        runs: By seed, a list of (epoch, loss, validation loss, validation accuracy).
    """
    panels = (
        ("training loss", 1, "@series-0", "solid", "y", 1.0),
        ("validation loss", 2, "@series-1", "dash", "y", 1.0),
        ("validation accuracy", 3, "@series-2", "solid", "y2", 100.0),
    )
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [row[0] for row in curve],
            "y": [None if row[column] is None else finite(scale * float(row[column] or 0)) for row in curve],
            "yaxis": axis,
            "name": name,
            "line": {"color": colour, "width": 1.3, "dash": dash},
            "opacity": 1 if len(runs) == 1 else 0.6,
            "legendgroup": name,
            "showlegend": seed == min(runs),
            "hovertemplate": f"seed {int(seed)}, epoch %{{x}}: %{{y:.3g}}<extra></extra>",
        }
        for name, column, colour, dash, axis, scale in panels
        for seed, curve in ((seed, _thinned(curve)) for seed, curve in sorted(runs.items()))
    ]
    layout = base_layout(height=520)
    layout["hovermode"] = "closest"
    layout["xaxis"] |= {"title": axis_title("epoch"), "anchor": "y2"}
    layout["yaxis"] |= {"title": axis_title("loss"), "domain": [0.54, 1]}
    layout["yaxis2"] = {**layout["yaxis"], "title": axis_title("accuracy, %"), "domain": [0, 0.46]}
    return {"data": traces, "layout": layout}


def _thinned(curve: Sequence[Sequence[float | None]]) -> list[Sequence[float | None]]:
    """At most so many points of a curve as a screen shows, the first and the last among them."""
    if len(curve) <= _CURVE_POINTS:
        return list(curve)
    kept = np.linspace(0, len(curve) - 1, _CURVE_POINTS).round().astype(int)
    return [curve[place] for place in kept]
