"""What the graphs are, as a table beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lcgnn.errors import OutputError
from lcgnn.experiments.statistics import Number, Statistics
from lcgnn.files import read_json
from lcgnn.report.tables import Heading, Table, Value, text_value
from lcgnn.sources.benchmarks import BENCHMARKS

# What the table of what was counted begins with.
COUNTED = "Counted on the data; a dash where the paper says nothing."

Measured = Mapping[str, Sequence[Number | None]]


def read_measured(statistics: Statistics, results: Path) -> Measured | None:
    """What ``lcgnn reproduce`` counted, or None if it did not yet; OutputError if the file is something else."""
    path = results / f"{statistics.name}.json"
    if not path.exists():
        return None
    content: Any = read_json(path)
    try:
        for row in statistics.rows:
            values = content[row.statistic]
            if len(values) != len(statistics.datasets) or any(isinstance(value, str) for value in values):
                raise ValueError(row.statistic)
    except (KeyError, TypeError, ValueError) as error:
        raise OutputError(
            f"{path} is not what was counted for {statistics.name}. Delete it and run: "
            f"lcgnn reproduce {statistics.name}"
        ) from error
    measured: Measured = content
    return measured


def statistics_table(statistics: Statistics, measured: Measured) -> Table:
    """Ours and the paper's, for every graph."""
    headings = [Heading("", numeric=False)]
    for name in statistics.datasets:
        group = BENCHMARKS[name].title
        headings += [Heading("ours", group=group, first=True), Heading("paper", group=group)]
    rows = [
        (
            text_value(row.name),
            *(_value(number) for pair in zip(measured[row.statistic], row.paper, strict=True) for number in pair),
        )
        for row in statistics.rows
    ]
    return Table(statistics.name, COUNTED, tuple(headings), tuple(rows))


def _value(number: Number | None) -> Value:
    if number is None:
        return Value("–", None)
    return Value(f"{number:,}" if isinstance(number, int) else f"{number:.3f}", number)
