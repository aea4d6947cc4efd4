"""What the graphs are, counted on the data themselves, beside what the paper says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lcgnn.errors import ConfigError
from lcgnn.experiments.graphs import Graphs
from lcgnn.graph import Graph, Split
from lcgnn.sources.benchmarks import Benchmark, benchmark
from lcgnn.sources.source import Progress

Number = int | float

STATISTICS: Mapping[str, Callable[[Graph, Split], Number | None]] = {
    "nodes": lambda graph, _: graph.num_nodes,
    "raw_links": lambda graph, _: graph.num_source_links,
    "edges": lambda graph, _: graph.num_edges,
    "classes": lambda graph, _: graph.num_classes,
    "features": lambda graph, _: graph.num_features,
    "label_rate": lambda graph, split: len(split.train) / graph.num_nodes,
    "label_consistency": lambda graph, _: float(np.nanmean(graph.label_consistency)),
}


@dataclass(frozen=True)
class StatisticsRow:
    """One thing that is counted.

    Args:
        name: In the table.
        statistic: A name in ``STATISTICS``.
        paper: What the paper reports, one a graph; None where it says nothing.
    """

    name: str
    statistic: str
    paper: tuple[Number | None, ...]


@dataclass(frozen=True)
class Statistics:
    """A table of what graphs are."""

    name: str
    title: str
    note: str
    datasets: tuple[str, ...]
    rows: tuple[StatisticsRow, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if row.statistic not in STATISTICS:
                raise ConfigError(f"there is no statistic {row.statistic!r}; there are {', '.join(STATISTICS)}")
            if len(row.paper) != len(self.datasets):
                raise ConfigError(
                    f"row {row.name!r} has {len(row.paper)} figures of the paper for {len(self.datasets)} graphs"
                )

    def measure(self, graphs: Graphs) -> dict[str, list[Number | None]]:
        """Every statistic of the table, a number for each graph."""
        loaded = [graphs.of(benchmark(name)) for name in self.datasets]
        measured = [statistics_of(item.graph, item.split) for item in loaded]
        return {row.statistic: [item[row.statistic] for item in measured] for row in self.rows}


def statistics_of(graph: Graph, split: Split) -> dict[str, Number | None]:
    """All statistics of one graph, by name."""
    return {name: count(graph, split) for name, count in STATISTICS.items()}


def measured_or_published(
    found: Benchmark, progress: Progress | None = None, *, fetch: bool = False
) -> dict[str, str | Number | None]:
    """A benchmark's name and statistics; as published, the others None, if it would have to be fetched first.

    Args:
        found: The benchmark.
        progress: Told what is being fetched or read.
        fetch: Whether to fetch it.
    """
    if fetch or found.is_here():
        return {"name": found.key, **statistics_of(*found.read(progress=progress))}
    published: dict[str, Number | None] = {
        "nodes": found.num_nodes,
        "raw_links": found.num_links,
        "classes": found.num_classes,
        "features": found.num_features,
        "label_rate": found.label_rate,
    }
    return {"name": found.key, **{name: published.get(name) for name in STATISTICS}}
