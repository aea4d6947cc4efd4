"""What is to be run: one run, and a whole experiment of them read from TOML."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from lcgnn import datasets
from lcgnn.datasets.splits import first_per_class, random_split, with_validation
from lcgnn.datasets.tables import Tables
from lcgnn.errors import ConfigError
from lcgnn.files import read_toml
from lcgnn.graph import Graph, Split
from lcgnn.methods import Method, create, entry

SplitKind = Literal["public", "random"]


@dataclass(frozen=True)
class SplitSpec:
    """Which labels may be used.

    Args:
        kind: The dataset's public split, or a random draw of the labelled nodes.
        labels_per_class: Training labels per class; None keeps what the public split has (20 for a random one).
        seed: Of the random draw.
        validation: The share of the training labels that is held out for validation.
    """

    kind: SplitKind = "public"
    labels_per_class: int | None = None
    seed: int = 0
    validation: float = 0.0

    def make(self, graph: Graph, public: Split) -> Split:
        """The split itself."""
        split = self._drawn(graph, public)
        return with_validation(graph, split, self.validation) if self.validation else split

    def to_json(self) -> dict[str, Any]:
        """As plain data, with a validation share only where there is one."""
        fields = dataclasses.asdict(self)
        if not self.validation:
            del fields["validation"]
        return fields

    def _drawn(self, graph: Graph, public: Split) -> Split:
        if self.kind == "random":
            return random_split(graph, labels_per_class=self.labels_per_class or 20, seed=self.seed)
        if self.kind != "public":
            raise ConfigError(f"There is no split {self.kind!r}; it can be 'public' or 'random'.")
        if self.labels_per_class is None:
            return public
        return first_per_class(graph, public, self.labels_per_class)


@dataclass(frozen=True)
class RunSpec:
    """One fit: a method with its settings on a dataset with a split, from a seed.

    Args:
        dataset: A benchmark's name, or what to call the graph in the tables.
        method: A method's name.
        seed: Of everything random.
        settings: Of the method, where they differ from its defaults.
        split: Which labels may be used.
        tables: Where the graph comes from, if it is not a benchmark.
    """

    dataset: str
    method: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    split: SplitSpec = SplitSpec()
    tables: Tables | None = None

    def configuration(self) -> dict[str, Any]:
        """All of it but the seed, as plain data."""
        fields = {**dataclasses.asdict(self), "split": self.split.to_json()}
        del fields["seed"]
        if self.tables is None:
            del fields["tables"]
        return fields

    def create_method(self) -> Method:
        """The method; a benchmark's own settings are no graph's that happens to have its name."""
        return create(self.method, None if self.tables else self.dataset, **self.settings)


def fingerprint(content: Mapping[str, Any]) -> str:
    """A hash of plain data that does not depend on the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Reported:
    """A number of the paper, in percent; the spread is None where the paper gives none."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Column:
    """A column of an experiment: a dataset and the labels to train on.

    Args:
        dataset: Its name.
        split: Which labels.
        draws: With a random split, so many draws take turns over the seeds; 0 for the same split every time.
    """

    dataset: str
    split: SplitSpec
    draws: int = 0

    def split_for(self, seed: int) -> SplitSpec:
        """The split that a seed is run on."""
        return dataclasses.replace(self.split, seed=seed % self.draws) if self.draws else self.split

    @property
    def title(self) -> str:
        name = datasets.DATASETS[self.dataset].title
        labels = self.split.labels_per_class
        return name if labels is None else f"{name}, {labels} label{'' if labels == 1 else 's'}"


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
    """

    name: str
    method: str
    stage: str | None
    settings: Mapping[str, Any]
    compare: str | None
    paper: tuple[Reported | None, ...]

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

    def runs(self, row: Row, column: Column, seeds: int) -> list[RunSpec]:
        """The runs behind one cell; a method whose seeds all give the same runs once."""
        method = create(row.method, column.dataset, **row.settings)
        count = 1 if method.deterministic and not column.draws else seeds
        return [
            RunSpec(column.dataset, row.method, seed, row.settings, column.split_for(seed))
            for seed in range(count)
        ]

    def configurations(self, row: Row, column: Column) -> list[dict[str, Any]]:
        """What the runs of a cell have in common, as their records say it; one for each draw of the labels."""
        method = create(row.method, column.dataset, **row.settings)
        return [
            {
                "dataset": column.dataset,
                "method": row.method,
                "settings": dataclasses.asdict(method),
                "split": column.split_for(draw).to_json(),
            }
            for draw in range(max(column.draws, 1))
        ]

    def all_runs(self, seeds: int) -> Iterator[RunSpec]:
        """Every run of the experiment, seed by seed, so that early results cover the whole table."""
        cells = [self.runs(row, column, seeds) for row in self.rows for column in self.columns]
        for seed in range(seeds):
            yield from (cell[seed] for cell in cells if seed < len(cell))


def load_experiment(name: str) -> Experiment:
    """An experiment of the paper by its name, or any by the path of its TOML file."""
    if name in packaged_experiments():
        return packaged_experiments()[name]
    path = Path(name)
    if path.suffix == ".toml":
        return _experiment(path.stem, read_toml(path), str(path))
    raise ConfigError(
        f"There is no experiment {name!r}. There are {', '.join(packaged_experiments())}, and any .toml file."
    )


@cache
def packaged_experiments() -> dict[str, Experiment]:
    """The experiments of the package by name: the tables of the paper, then what goes beyond it."""
    found = {}
    for folder in ("paper", "beyond"):
        files = resources.files("lcgnn.experiments").joinpath(folder).iterdir()
        for file in sorted((file for file in files if file.name.endswith(".toml")), key=lambda file: file.name):
            name = file.name.removesuffix(".toml")
            found[name] = _experiment(name, read_toml(file), file.name)
    return found


@cache
def paper_results() -> dict[tuple[str, str, int | None], Reported]:
    """What the paper reports by method, dataset and labels per class (None: the whole public split)."""
    return {
        (row.reported_as, column.dataset, column.split.labels_per_class): reported
        for experiment in packaged_experiments().values()
        for row in experiment.rows
        for column, reported in zip(experiment.columns, row.paper, strict=True)
        if reported
    }


def _experiment(name: str, content: Mapping[str, Any], place: str) -> Experiment:
    """An experiment from the content of its file, every name in it checked."""
    try:
        columns = tuple(_column(item) for item in content["columns"])
        rows = tuple(_row(item, len(columns)) for item in content["rows"])
        experiment = Experiment(
            name,
            str(content.get("title", name)),
            str(content.get("note", "")),
            columns,
            rows,
            int(content.get("seeds", 10)),
        )
        for row in rows:
            if row.compare is not None and row.compare not in {other.name for other in rows}:
                raise ConfigError(f"row {row.name!r} is compared with {row.compare!r}, which is no row")
            for column in columns:
                experiment.runs(row, column, 1)
    except KeyError as error:
        raise ConfigError(f"{place}: {error.args[0]!r} is missing.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{place}: {error}.") from error
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error
    return experiment


def _column(item: Mapping[str, Any]) -> Column:
    dataset = item["dataset"]
    if dataset not in datasets.DATASETS:
        raise ConfigError(f"There is no dataset {dataset!r}; there are {', '.join(datasets.DATASETS)}.")
    split = SplitSpec(item.get("split", "public"), item.get("labels_per_class"), item.get("split_seed", 0))
    draws = item.get("draws", 0)
    if draws and split.kind != "random":
        raise ConfigError(f"draws = {draws} needs split = 'random'")
    return Column(dataset, split, draws)


def _row(item: Mapping[str, Any], num_columns: int) -> Row:
    paper = tuple(Reported(*value) if value else None for value in item.get("paper", [[]] * num_columns))
    if len(paper) != num_columns:
        raise ConfigError(f"row {item['name']!r} has {len(paper)} figures of the paper for {num_columns} columns")
    return Row(
        item["name"],
        item["method"],
        item.get("stage"),
        item.get("settings", {}),
        item.get("compare"),
        paper,
    )
