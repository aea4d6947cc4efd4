"""What all figures share: colours by name, literal text, numbers that JSON has, and the layout.

Figures are plain data in plotly's format, traces and a layout; the page draws them. A colour is written as a name
with an at-sign, ``@series-0`` or ``@series-0/20`` (20 % opaque); the page puts in the theme's, light or dark.
Every text that comes from a file goes through `plain`, because plotly reads tags in text.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import Any

Figure = dict[str, Any]

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
NUM_COLOURS = 8

_LONGEST_LABEL = 40


def plain(text: str, longest: int = _LONGEST_LABEL) -> str:
    """A text as plotly shows it literally, cut to what fits a label."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return html.escape(cut, quote=False)


def base_layout(height: int) -> dict[str, Any]:
    """Axes, legend and text that suit both themes and any width."""
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
        # By default plotly puts a dark square behind the button where the paper is transparent.
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "@ink/40", "activecolor": "@ink"},
        # Dragging would keep a finger from scrolling the page.
        "dragmode": False,
    }


def axis_title(text: str) -> dict[str, Any]:
    return {"text": text, "font": {"size": 13}, "standoff": 10}


def series_colour(number: int) -> str:
    return f"@series-{number % NUM_COLOURS}"


def series_symbol(number: int) -> str:
    return SYMBOLS[number % len(SYMBOLS)]


def finite(value: float | None) -> float | None:
    """A number that JSON has and no longer than a plot shows; None for what is not a finite one."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)


def finite_all(values: Iterable[float | None]) -> list[float | None]:
    return [finite(value) for value in values]
