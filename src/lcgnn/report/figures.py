"""Figures as plain data in plotly's format: traces and a layout, drawn by the page.

A colour is written as a name with an at-sign, ``@series-0`` or ``@series-0/20`` (20 % opaque); the page puts in
the theme's, light or dark. Every text from a file goes through `plain`, because plotly reads tags in text.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.evaluation import PairedDifference, bootstrap_interval
from lcgnn.report.tables import WORDS, Verdict, verdict

Figure = dict[str, Any]

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
NUM_COLOURS = 8

# What is drawn of a curve; a screen shows no more.
_CURVE_POINTS = 120
_LONGEST_LABEL = 40


@dataclass(frozen=True)
class Point:
    """A place on a few-label curve: the accuracies that were measured there, and the paper's figure in percent."""

    labels: int
    accuracies: tuple[float, ...]
    paper: float | None


def plain(text: str) -> str:
    """A text as plotly shows it literally, cut to what fits a label."""
    cut = text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"
    return html.escape(cut, quote=False)


def few_label_figure(lines: Mapping[str, Sequence[Point]]) -> Figure:
    """Mean accuracy over the number of labels, one line a row, a band for its bootstrap interval."""
    traces: list[dict[str, Any]] = []
    for number, (name, points) in enumerate(lines.items()):
        traces += _few_label_line(number, name, [point for point in points if point.accuracies])
        traces += _paper_marks(number, name, [point for point in points if point.paper is not None])
    labels = sorted({point.labels for points in lines.values() for point in points})
    layout = _layout(height=440)
    layout["xaxis"] |= {"title": _title("labels per class"), "tickmode": "array", "tickvals": labels}
    layout["yaxis"] |= {"title": _title("test accuracy, %")}
    return {"data": traces, "layout": layout}


def _few_label_line(number: int, name: str, points: Sequence[Point]) -> list[dict[str, Any]]:
    if not points:
        return []
    intervals = [bootstrap_interval(point.accuracies) for point in points]
    labels = [point.labels for point in points]
    lows, highs = [100 * low for low, _ in intervals], [100 * high for _, high in intervals]
    band = {
        "type": "scatter",
        "x": labels + labels[::-1],
        "y": _numbers(highs + lows[::-1]),
        "fill": "toself",
        "mode": "lines",
        "line": {"width": 0},
        "fillcolor": f"{_colour(number)}/20",
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": str(number),
    }
    line = {
        "type": "scatter",
        "x": labels,
        "y": _numbers([100 * float(np.mean(point.accuracies)) for point in points]),
        "customdata": [
            [_number(low), _number(high), len(point.accuracies)]
            for low, high, point in zip(lows, highs, points, strict=True)
        ],
        "name": plain(name),
        "mode": "lines+markers",
        "line": {"color": _colour(number), "width": 2.5},
        "marker": {"color": _colour(number), "symbol": _symbol(number), "size": 9},
        "hovertemplate": "%{y:.1f} % [%{customdata[0]:.1f}, %{customdata[1]:.1f}], %{customdata[2]} runs",
        "legendgroup": str(number),
    }
    return [band, line]


def _paper_marks(number: int, name: str, points: Sequence[Point]) -> list[dict[str, Any]]:
    """The paper's figures as hollow marks; they share the legend's entry where the row has a line."""
    if not points:
        return []
    return [
        {
            "type": "scatter",
            "x": [point.labels for point in points],
            "y": _numbers([point.paper for point in points]),
            "name": f"{plain(name)}, paper",
            "mode": "markers",
            "marker": {
                "color": _colour(number),
                "symbol": f"{_symbol(number)}-open",
                "size": 12,
                "line": {"width": 1.5},
            },
            "hovertemplate": "%{y:.1f} %",
            "showlegend": False,
            "legendgroup": str(number),
        }
    ]


def difference_figure(comparisons: Sequence[tuple[str, str, PairedDifference]]) -> Figure:
    """Every paired difference as a mark with its interval, under the name of the comparison."""
    places: list[tuple[int, str, PairedDifference]] = []
    headings: list[tuple[int, str]] = []
    line = 0
    for position, (label, column, difference) in enumerate(comparisons):
        if position == 0 or comparisons[position - 1][0] != label:
            headings.append((line, label))
            line += 1
        places.append((line, column, difference))
        line += 1
    layout = _layout(height=110 + 25 * line)
    layout["annotations"] = [
        {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": place,
            "text": f"<b>{plain(label.replace(' minus ', ' − '))}</b>",
            "font": {"size": 12},
            "showarrow": False,
            "bgcolor": "@surface",
            "borderpad": 1,
        }
        for place, label in headings
    ]
    layout["xaxis"] |= {"title": _title("difference in points"), "zeroline": True, "zerolinecolor": "@muted"}
    layout["xaxis"]["rangemode"] = "tozero"
    layout["yaxis"] |= {
        "tickmode": "array",
        "tickvals": [place for place, _, _ in places],
        "ticktext": [plain(column) for _, column, _ in places],
        "range": [line - 0.4, -0.6],
        "showgrid": False,
    }
    verdicts: tuple[Verdict, ...] = ("better", "worse", "unclear")
    traces = [_verdict_trace(found, [item for item in places if verdict(item[2]) == found]) for found in verdicts]
    return {"data": [trace for trace in traces if trace["x"]], "layout": layout}


def _verdict_trace(found: Verdict, places: Sequence[tuple[int, str, PairedDifference]]) -> dict[str, Any]:
    symbol = {"better": "triangle-up", "worse": "triangle-down", "unclear": "circle"}[found]
    differences = [difference for _, _, difference in places]
    return {
        "type": "scatter",
        "x": _numbers([100 * item.mean for item in differences]),
        "y": [place for place, _, _ in places],
        "customdata": [
            [_number(100 * item.low), _number(100 * item.high), item.wins, item.count] for item in differences
        ],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": _numbers([100 * (item.high - item.mean) for item in differences]),
            "arrayminus": _numbers([100 * (item.mean - item.low) for item in differences]),
            "color": f"@{found}",
            "thickness": 2,
            "width": 0,
        },
        "name": WORDS[found],
        "mode": "markers",
        "marker": {"color": f"@{found}", "symbol": symbol, "size": 12},
        "hovertemplate": "%{x:+.1f} [%{customdata[0]:+.1f}, %{customdata[1]:+.1f}], "
        "better on %{customdata[2]} of %{customdata[3]} seeds<extra></extra>",
    }


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
            "y": _numbers(means),
            "name": plain(name),
            "hovertemplate": "%{y:.1f} %",
        }
        errors = {"type": "data", "array": _numbers(spreads), "color": "@muted", "thickness": 1.2, "width": 4}
        if name == base:
            bar = {"type": "bar", "marker": {"color": "@bar"}, "error_y": errors, "width": 0.62}
            traces.append(common | bar)
        else:
            colour = _colour(number)
            marker = {"color": colour, "symbol": _symbol(number), "size": 9}
            line = {"color": colour, "width": 2.5}
            traces.append(common | {"type": "scatter", "mode": "lines+markers", "marker": marker, "line": line})
    layout = _layout(height=420)
    fifths = next(iter(rows.values()))[0]
    layout["xaxis"] |= {
        "title": _title("label consistency, by fifths of the nodes"),
        "tickmode": "array",
        "tickvals": list(range(len(fifths))),
        "ticktext": [f"{float(item['low']):.2f}–{float(item['high']):.2f}" for item in fifths],
        "showgrid": False,
    }
    layout["yaxis"] |= {"title": _title("test accuracy, %"), "rangemode": "tozero"}
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
        "z": [_numbers(row) for row in shares],
        "zmin": 0,
        "zmax": 100,
        "customdata": [
            [[truth, taken, _number(float(count))] for taken, count in zip(names, row, strict=True)]
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
    layout = _layout(height=max(360, 150 + 46 * len(names)))
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": names, "showgrid": False, "zeroline": False}
    layout["margin"] |= {"t": 8}
    layout["xaxis"] |= ticks | {"title": _title("taken for"), "tickangle": -35}
    layout["yaxis"] |= ticks | {"title": _title("true class"), "autorange": "reversed"}
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
            "y": [None if row[column] is None else _number(scale * float(row[column] or 0)) for row in curve],
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
    layout = _layout(height=520)
    layout["hovermode"] = "closest"
    layout["xaxis"] |= {"title": _title("epoch"), "anchor": "y2"}
    layout["yaxis"] |= {"title": _title("loss"), "domain": [0.54, 1]}
    layout["yaxis2"] = {**layout["yaxis"], "title": _title("accuracy, %"), "domain": [0, 0.46]}
    return {"data": traces, "layout": layout}


def _thinned(curve: Sequence[Sequence[float | None]]) -> list[Sequence[float | None]]:
    """At most so many points of a curve as a screen shows, the first and the last among them."""
    if len(curve) <= _CURVE_POINTS:
        return list(curve)
    kept = np.linspace(0, len(curve) - 1, _CURVE_POINTS).round().astype(int)
    return [curve[place] for place in kept]


def _layout(height: int) -> dict[str, Any]:
    axis = {
        "gridcolor": "@grid",
        "linecolor": "@grid",
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,
    }
    return {
        "height": height,
        "autosize": True,
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "@ink"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 56, "r": 12, "t": 44, "b": 48},
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "showlegend": True,
        "hoverlabel": {"namelength": -1, "bgcolor": "@surface", "bordercolor": "@grid", "font": {"color": "@ink"}},
        "hovermode": "closest",
        # Dragging would keep a finger from scrolling the page.
        "dragmode": False,
    }


def _title(text: str) -> dict[str, Any]:
    return {"text": text, "font": {"size": 13}, "standoff": 10}


def _colour(number: int) -> str:
    return f"@series-{number % NUM_COLOURS}"


def _symbol(number: int) -> str:
    return SYMBOLS[number % len(SYMBOLS)]


def _number(value: float | None) -> float | None:
    """A number that JSON has and no longer than a plot shows; None for what is not a finite one."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)


def _numbers(values: Sequence[float | None] | NDArray[np.float64]) -> list[float | None]:
    return [_number(value) for value in values]
