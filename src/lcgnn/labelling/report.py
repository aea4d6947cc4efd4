"""What came of the labelling, as one HTML file without scripts that can be sent to somebody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from html import escape

from lcgnn import __version__
from lcgnn.labelling.messages import CurvePoint, StateMessage
from lcgnn.labelling.training import METHOD
from lcgnn.labelling.view import View

_WIDTH, _HEIGHT, _MARGIN = 640, 240, 40
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;"
    "background:#fff}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem;text-align:left;"
    "border-bottom:1px solid #ddd}td{min-width:4rem;overflow-wrap:anywhere}"
    "td.n{text-align:right;white-space:nowrap}h1{overflow-wrap:anywhere}svg{width:100%;height:auto}"
    "footer{color:#666;font-size:.85em}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}}"
)


def report_page(view: View) -> str:
    """The page's HTML; every name in it is text."""
    state, opened = view.state(), view.opened
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    title = f"Labels of {opened.source.name}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        _paragraph(
            f"{len(state.labelled):,} of {opened.graph.num_nodes:,} nodes have a label, {state.skipped:,} were "
            f"skipped, and of {state.unsure:,} nobody could tell. The other answers are those of {METHOD}."
        ),
        _paragraph(state.advice),
        _paragraph(state.next_ten),
        "<h2>Classes</h2>",
        _table(
            ("class", "given", "predicted"), ((item.name, item.given, item.predicted) for item in state.classes)
        ),
        *_curve(state.curve),
        *_doubts(state),
        *_least_sure(state),
        f"<footer>Made by lcgnn {escape(__version__)}, {now}.</footer>",
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="lcgnn">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _doubts(state: StateMessage) -> list[str]:
    if not state.doubtful:
        return []
    rows = ((item.id, item.given, item.instead, item.reason) for item in state.doubtful)
    return ["<h2>Labels that look wrong</h2>", _table(("node", "given", "perhaps", "why"), rows)]


def _least_sure(state: StateMessage) -> list[str]:
    if not state.least_sure:
        return []
    rows = ((item.id, item.words) for item in state.least_sure)
    return ["<h2>Where the answers are least sure</h2>", _table(("node", "how sure"), rows)]


def _curve(points: Sequence[CurvePoint]) -> list[str]:
    """Expected accuracy against the number of labels, with its interval, as a picture and as a table."""
    if not points:
        return []
    rows = (
        (point.labels, f"{100 * point.expected:.0f}", f"{100 * point.low:.0f} to {100 * point.high:.0f}")
        for point in points
    )
    most = max(point.labels for point in points)

    def place(labels: int, share: float) -> str:
        across = _MARGIN + (_WIDTH - 2 * _MARGIN) * labels / most
        return f"{across:.1f},{_HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * share:.1f}"

    line = " ".join(place(point.labels, point.expected) for point in points)
    band = " ".join(place(point.labels, point.high) for point in points) + " "
    band += " ".join(place(point.labels, point.low) for point in reversed(points))
    picture = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Expected accuracy by labels">'
        f'<polygon points="{band}" fill="#4477aa" fill-opacity="0.25"/>'
        f'<polyline points="{line}" fill="none" stroke="#4477aa" stroke-width="2"/>'
        f'<path d="M{place(0, 1)} L{place(0, 0)} L{place(most, 0)}" fill="none" stroke="#888"/>'
        f'<text x="4" y="{_MARGIN}" font-size="12" fill="#888">100 %</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="{_HEIGHT - 15}" font-size="12" fill="#888" text-anchor="end">{most:,} '
        "labels</text></svg>"
    )
    return [
        "<h2>What to expect</h2>",
        _paragraph(
            "The share of answers that should be right, in percent, estimated from labels that were held out."
        ),
        picture,
        _table(("labels", "expected", "between"), rows),
    ]


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"
