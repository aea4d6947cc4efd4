"""The figures of an experiment: accuracy over labels, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcgnn.assessment.evaluation import bootstrap_interval
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
from lcgnn.report.tables import WORDS, Comparison, Verdict, verdict

# Characters over a group of differences, which has a plot's width.
_LONGEST_HEADING = 60


@dataclass(frozen=True)
class Point:
    """A place on a few-label curve: the accuracies that were measured there, and the paper's figure in percent."""

    labels: int
    accuracies: tuple[float, ...]
    paper: float | None


def few_label_figure(lines: Mapping[str, Sequence[Point]]) -> Figure:
    """Mean accuracy over the number of labels, one line a row, a band for its bootstrap interval."""
    traces: list[dict[str, Any]] = []
    for number, (name, points) in enumerate(lines.items()):
        traces += _few_label_line(number, name, [point for point in points if point.accuracies])
        traces += _paper_marks(number, name, [point for point in points if point.paper is not None])
    labels = sorted({point.labels for points in lines.values() for point in points})
    layout = base_layout(height=440)
    layout["xaxis"] |= {"title": axis_title("labels per class"), "tickmode": "array", "tickvals": labels}
    layout["yaxis"] |= {"title": axis_title("test accuracy, %")}
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
        "y": finite_all(highs + lows[::-1]),
        "fill": "toself",
        "mode": "lines",
        "line": {"width": 0},
        "fillcolor": f"{series_colour(number)}/20",
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": str(number),
    }
    line = {
        "type": "scatter",
        "x": labels,
        "y": finite_all([100 * float(np.mean(point.accuracies)) for point in points]),
        "customdata": [
            [finite(low), finite(high), len(point.accuracies)]
            for low, high, point in zip(lows, highs, points, strict=True)
        ],
        "name": plain(name),
        "mode": "lines+markers",
        "line": {"color": series_colour(number), "width": 2.5},
        "marker": {"color": series_colour(number), "symbol": series_symbol(number), "size": 9},
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
            "y": finite_all([point.paper for point in points]),
            "name": f"{plain(name)}, paper",
            "mode": "markers",
            "marker": {
                "color": series_colour(number),
                "symbol": f"{series_symbol(number)}-open",
                "size": 12,
                "line": {"width": 1.5},
            },
            "hovertemplate": "%{y:.1f} %",
            "showlegend": False,
            "legendgroup": str(number),
        }
    ]


def difference_figure(comparisons: Sequence[Comparison]) -> Figure:
    """Every paired difference as a mark with its interval, under the name of the comparison."""
    places: list[tuple[int, Comparison]] = []
    headings: list[tuple[int, Comparison]] = []
    line = 0
    for item in comparisons:
        if not places or (item.row, item.other) != (places[-1][1].row, places[-1][1].other):
            headings.append((line, item))
            line += 1
        places.append((line, item))
        line += 1
    layout = base_layout(height=110 + 25 * line)
    layout["annotations"] = [
        {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": place,
            "text": f"<b>{plain(f'{item.row} − {item.other}', _LONGEST_HEADING)}</b>",
            "font": {"size": 12},
            "showarrow": False,
            "bgcolor": "@surface",
            "borderpad": 1,
        }
        for place, item in headings
    ]
    layout["xaxis"] |= {"title": axis_title("difference in points"), "zeroline": True, "zerolinecolor": "@muted"}
    layout["xaxis"]["rangemode"] = "tozero"
    layout["yaxis"] |= {
        "tickmode": "array",
        "tickvals": [place for place, _ in places],
        "ticktext": [plain(item.column) for _, item in places],
        "range": [line - 0.4, -0.6],
        "showgrid": False,
    }
    verdicts: tuple[Verdict, ...] = ("better", "worse", "unclear")
    traces = [_verdict_trace(found, places) for found in verdicts]
    return {"data": [trace for trace in traces if trace["x"]], "layout": layout}


def _verdict_trace(found: Verdict, places: Sequence[tuple[int, Comparison]]) -> dict[str, Any]:
    symbol = {"better": "triangle-up", "worse": "triangle-down", "unclear": "circle"}[found]
    own = [(place, item.difference) for place, item in places if verdict(item.difference) == found]
    differences = [difference for _, difference in own]
    return {
        "type": "scatter",
        "x": finite_all([100 * item.mean for item in differences]),
        "y": [place for place, _ in own],
        "customdata": [
            [finite(100 * item.low), finite(100 * item.high), item.wins, item.count] for item in differences
        ],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": finite_all([100 * (item.high - item.mean) for item in differences]),
            "arrayminus": finite_all([100 * (item.mean - item.low) for item in differences]),
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
