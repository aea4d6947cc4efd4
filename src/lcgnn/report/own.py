"""Trainings on graphs of one's own, from the summaries in their folders."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from lcgnn.errors import OutputError
from lcgnn.files import read_json
from lcgnn.report.sections import Section
from lcgnn.report.tables import Heading, Table, Value, text_value
from lcgnn.runs.records import Summary

_log = logging.getLogger(__name__)


def own_section(folder: Path) -> Section | None:
    """A line for each training in a folder of run folders; None if there is none."""
    rows = tuple(_row(summary) for summary in _summaries(folder))
    if not rows:
        return None
    headings = (
        Heading("graph", numeric=False),
        Heading("method", numeric=False),
        Heading("seeds"),
        Heading("labels"),
        Heading("expected accuracy"),
        Heading("test accuracy"),
        Heading("folder", numeric=False),
    )
    caption = (
        "In percent. Expected: estimated from held-out labels, with its 95 % interval. Test: the mean over the "
        "seeds, where there are test labels."
    )
    table = Table("trainings", caption, headings, rows)
    return Section("trainings", f"Trainings in {folder}", blocks=(table,))


def _summaries(folder: Path) -> Iterator[Summary]:
    """What every training came to; a summary that cannot be read is named and left out."""
    for path in sorted(folder.glob("*/summary.json")):
        try:
            yield Summary.from_json(read_json(path), str(path))
        except OutputError as error:
            _log.warning("%s", error)


def _row(summary: Summary) -> tuple[Value, ...]:
    classes = () if summary.answers is None else summary.answers.classes
    labels = sum(item.given for item in classes)
    return (
        text_value(summary.dataset),
        text_value(summary.method),
        Value(f"{len(summary.seeds)}", len(summary.seeds)),
        Value(f"{labels:,}", labels),
        _expected(summary),
        _measured(summary),
        text_value(summary.folder),
    )


def _expected(summary: Summary) -> Value:
    if summary.expected is None:
        return Value("", None)
    overall = summary.expected.overall
    interval = f"[{100 * overall.low:.0f}, {100 * overall.high:.0f}]"
    return Value(f"{100 * overall.accuracy:.0f} {interval}", overall.accuracy)


def _measured(summary: Summary) -> Value:
    mean = summary.last.mean
    return Value("", None) if mean is None else Value(f"{100 * mean:.1f}", mean)
