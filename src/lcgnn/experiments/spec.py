"""What an experiment is: rows by columns, each cell run from several seeds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from lcgnn.methods import entry
from lcgnn.runs.choice.auto import auto_made
from lcgnn.runs.choice.candidates import AUTO
from lcgnn.runs.records import configuration_key
from lcgnn.runs.reported import Reported
from lcgnn.runs.spec import RunSpec, SplitSpec
from lcgnn.sources.benchmarks import BENCHMARKS, benchmark
from lcgnn.sources.benchmarks.rescaled import Preparation, Rescaled


@dataclass(frozen=True)
class Column:
    """A column of an experiment: a dataset and the labels to train on.

    Args:
        dataset: Its name.
        split: Which labels.
        draws: With a random split, so many draws take turns over the seeds; 0 for the same split every time.
        seeds: Of its cells, where the experiment's are not enough; None for the experiment's.
        fifth: 1 to 5 counts only the test nodes in that fifth of label consistency; None counts all.
    """

    dataset: str
    split: SplitSpec
    draws: int = 0
    seeds: int | None = None
    fifth: int | None = None

    def split_for(self, seed: int) -> SplitSpec:
        """The split that a seed is run on."""
        return dataclasses.replace(self.split, seed=seed % self.draws) if self.draws else self.split

    @property
    def title(self) -> str:
        name = BENCHMARKS[self.dataset].title
        labels = self.split.labels_in_words()
        if labels is not None:
            name = f"{name}, {labels}"
        return name if self.fifth is None else f"{name}, consistency {20 * self.fifth - 20}–{20 * self.fifth} %"


@dataclass(frozen=True)
class Row:
    """A row of an experiment: a method with settings, or a stage that its runs pass through.

    Args:
        name: In the table.
        method: What is run.
        stage: Which stage of the run counts; None for the last.
        settings: Of the method, where they differ from its defaults.
        compare: Name of the row that this one is compared with, seed by seed.
        paper: What the paper reports, one a column.
        features: How they are scaled: "own" or "paper" (see `Rescaled`); None as the benchmark's name says.
        strategy: Which strategy suggests the labels of columns with suggested ones.
    """

    name: str
    method: str
    stage: str | None
    settings: Mapping[str, Any]
    compare: str | None
    paper: tuple[Reported | None, ...]
    features: Preparation | None = None
    strategy: str | None = None

    def split_for(self, column: Column, seed: int) -> SplitSpec:
        """The split that a seed is run on in a column."""
        split = column.split_for(seed)
        return dataclasses.replace(split, strategy=self.strategy) if split.kind == "suggested" else split

    def spec(self, column: Column, seed: int) -> RunSpec:
        """The run of the row in a column, from a seed."""
        published = benchmark(column.dataset)
        source = published if self.features is None else Rescaled(published, self.features)
        made = auto_made(self.settings) if self.method == AUTO else None
        return RunSpec(source, self.method, seed, self.settings, self.split_for(column, seed), made)

    @property
    def reported_as(self) -> str:
        """The method whose results the row shows: the base's, if it shows the base."""
        return self.method if self.stage is None else entry(self.method).family


@dataclass(frozen=True)
class Experiment:
    """A table: rows by columns, each cell run from several seeds."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    seeds: int

    @property
    def is_in_paper(self) -> bool:
        """Whether the paper gives a figure for any of its cells."""
        return any(reported for row in self.rows for reported in row.paper)

    @property
    def by_consistency(self) -> bool:
        """Whether its columns are fifths of the nodes by their label consistency."""
        return all(column.fifth for column in self.columns)

    def runs(self, row: Row, column: Column, seeds: int | None = None) -> list[RunSpec]:
        """The runs behind one cell, from so many seeds or its own number; a deterministic method runs once."""
        method = row.spec(column, 0).create_method()
        once = method.deterministic and not column.draws
        count = 1 if once else seeds or column.seeds or self.seeds
        return [row.spec(column, seed) for seed in range(count)]

    def configuration_keys(self, row: Row, column: Column) -> list[str]:
        """What tells the records of a cell's runs from others, one key for each draw of the labels."""
        spec = row.spec(column, 0)
        settings = spec.create_method().plain_settings()
        return [
            configuration_key(spec.source.name, row.method, settings, row.split_for(column, draw))
            for draw in range(max(column.draws, 1))
        ]

    def all_runs(self, seeds: int | None = None) -> Iterator[RunSpec]:
        """Every run of the experiment, seed by seed, so that early results cover the whole table.

        What strategies work out of a graph is remembered for a few graphs, so those about one come together.
        """
        cells = [self.runs(row, column, seeds) for row in self.rows for column in self.columns]
        for of_a_seed in zip_longest(*cells):
            runs = [run for run in of_a_seed if run is not None]
            yield from sorted(runs, key=lambda run: run.source.name if run.split.strategy else "")
