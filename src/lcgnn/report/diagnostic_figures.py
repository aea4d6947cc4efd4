"""The figures of single methods: accuracy by label consistency of the node, confusion, training curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from lcgnn.runs.records import CurvePoint, Fifth

# What is drawn of a curve; a screen shows no more.
_CURVE_POINTS = 120


@dataclass(frozen=True)
class Fifths:
    """A row's accuracy by label consistency of the node, in percent, one number a fifth.

    Args:
        means: Over the runs; NaN where a fifth has no nodes.
        spreads: Standard deviations over the runs.
        paper: What the paper reports.
    """

    means: tuple[float, ...]
    spreads: tuple[float, ...]
    paper: tuple[float | None, ...] = ()

    @classmethod
    def of_runs(cls, runs: Sequence[Sequence[Fifth]]) -> Fifths:
        """From the counts that the records of runs carry."""
        shares = np.array(
            [
                [100 * fifth.correct / fifth.nodes if fifth.nodes else math.nan for fifth in fifths]
                for fifths in runs
            ]
        )  # (runs, 5)
        spread = shares.std(axis=0, ddof=1) if len(runs) > 1 else np.zeros(shares.shape[1])
        return cls(tuple(shares.mean(axis=0).tolist()), tuple(spread.tolist()))


def fifths_figure(base: str, rows: Mapping[str, Fifths]) -> Figure:
    """Accuracy by label consistency of the node: the base as bars, what is compared with it as lines.

    Args:
        base: The row that is drawn as bars.
        rows: All of them, by name.
    """
    traces = [
        trace for number, (name, row) in enumerate(rows.items()) for trace in _traces(number, name, row, base)
    ]
    layout = base_layout(height=420)
    count = len(next(iter(rows.values())).means)
    layout["xaxis"] |= {
        "title": axis_title("label consistency of the node, %"),
        "tickmode": "array",
        "tickvals": list(range(count)),
        "ticktext": [f"{100 * place // count}–{100 * (place + 1) // count}" for place in range(count)],
        "showgrid": False,
    }
    layout["yaxis"] |= {"title": axis_title("test accuracy, %"), "rangemode": "tozero"}
    return {"data": traces, "layout": layout}


def _traces(number: int, name: str, row: Fifths, base: str) -> Iterator[dict[str, Any]]:
    places = list(range(len(row.means)))
    common = {"x": places, "y": finite_all(row.means), "name": plain(name), "hovertemplate": "%{y:.1f} %"}
    errors = {"type": "data", "array": finite_all(row.spreads), "color": "@muted", "thickness": 1.2, "width": 4}
    colour, symbol = series_colour(number), series_symbol(number)
    if name == base:
        yield common | {"type": "bar", "marker": {"color": "@bar"}, "error_y": errors, "width": 0.62}
    else:
        marker = {"color": colour, "symbol": symbol, "size": 9}
        line = {"color": colour, "width": 2.5}
        yield common | {"type": "scatter", "mode": "lines+markers", "marker": marker, "line": line}
    if any(value is not None for value in row.paper):
        marker = {"color": colour, "symbol": f"{symbol}-open", "size": 12, "line": {"width": 1.5}}
        paper = {"x": places, "y": finite_all(row.paper), "name": f"{plain(name)}, paper", "mode": "markers"}
        yield common | paper | {"type": "scatter", "marker": marker}


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


def curves_figure(runs: Mapping[int, Sequence[CurvePoint]]) -> Figure:
    """Loss above, validation accuracy below, over epochs; a thin line for every seed.

    Args:
        runs: By seed, some of the epochs.
    """
    panels = (
        ("training loss", "loss", "@series-0", "solid", "y", 1.0),
        ("validation loss", "validation_loss", "@series-1", "dash", "y", 1.0),
        ("validation accuracy", "validation_accuracy", "@series-2", "solid", "y2", 100.0),
    )
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [point.epoch for point in curve],
            "y": [_scaled(getattr(point, field), scale) for point in curve],
            "yaxis": axis,
            "name": name,
            "line": {"color": colour, "width": 1.3, "dash": dash},
            "opacity": 1 if len(runs) == 1 else 0.6,
            "legendgroup": name,
            "showlegend": seed == min(runs),
            "hovertemplate": f"seed {int(seed)}, epoch %{{x}}: %{{y:.3g}}<extra></extra>",
        }
        for name, field, colour, dash, axis, scale in panels
        for seed, curve in ((seed, _thinned(curve)) for seed, curve in sorted(runs.items()))
    ]
    layout = base_layout(height=520)
    layout["hovermode"] = "closest"
    layout["xaxis"] |= {"title": axis_title("epoch"), "anchor": "y2"}
    layout["yaxis"] |= {"title": axis_title("loss"), "domain": [0.54, 1]}
    layout["yaxis2"] = {**layout["yaxis"], "title": axis_title("accuracy, %"), "domain": [0, 0.46]}
    return {"data": traces, "layout": layout}


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else finite(scale * value)


def _thinned(curve: Sequence[CurvePoint]) -> list[CurvePoint]:
    """At most so many points of a curve as a screen shows, the first and the last among them."""
    if len(curve) <= _CURVE_POINTS:
        return list(curve)
    kept = np.linspace(0, len(curve) - 1, _CURVE_POINTS).round().astype(int)
    return [curve[place] for place in kept]
