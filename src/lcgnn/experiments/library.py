"""The library of experiments: what the package can reproduce, and what a user's own TOML file asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from lcgnn.errors import ConfigError
from lcgnn.experiments.spec import Column, Experiment, Row
from lcgnn.experiments.statistics import Statistics, StatisticsRow
from lcgnn.files import read_toml
from lcgnn.runs.reported import Reported
from lcgnn.runs.spec import SplitSpec
from lcgnn.sources.benchmarks import BENCHMARKS


def load(name: str) -> Experiment | Statistics:
    """What the package has under a name, or what is in a TOML file."""
    if name in packaged():
        return packaged()[name]
    path = Path(name)
    if path.suffix == ".toml":
        return _read(path.stem, read_toml(path), str(path))
    raise ConfigError(f"There is no experiment {name!r}. There are {', '.join(packaged())}, and any .toml file.")


def load_experiment(name: str) -> Experiment:
    """An experiment of the package by its name, or any by the path of its TOML file."""
    found = load(name)
    if not isinstance(found, Experiment):
        raise ConfigError(f"{name} counts what is in the graphs; it has no runs.")
    return found


@cache
def packaged() -> dict[str, Experiment | Statistics]:
    """Everything that the package can reproduce, by name: what is in the paper, then what goes beyond it."""
    found = {}
    for folder in ("paper", "beyond"):
        files = resources.files("lcgnn.experiments").joinpath(folder).iterdir()
        for file in sorted((file for file in files if file.name.endswith(".toml")), key=lambda file: file.name):
            name = file.name.removesuffix(".toml")
            found[name] = _read(name, read_toml(file), file.name)
    return found


def packaged_experiments() -> dict[str, Experiment]:
    """Those of them that are made of runs."""
    return {name: item for name, item in packaged().items() if isinstance(item, Experiment)}


def packaged_statistics() -> dict[str, Statistics]:
    """Those of them that only look at the data."""
    return {name: item for name, item in packaged().items() if isinstance(item, Statistics)}


def _read(name: str, content: Mapping[str, Any], place: str) -> Experiment | Statistics:
    """From the content of a file, every name in it checked."""
    try:
        return _statistics(name, content) if content.get("kind") == "statistics" else _experiment(name, content)
    except KeyError as error:
        raise ConfigError(f"{place}: {error.args[0]!r} is missing.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{place}: {error}.") from error
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error


def _experiment(name: str, content: Mapping[str, Any]) -> Experiment:
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
        if row.strategy is not None and all(column.split.kind != "suggested" for column in columns):
            raise ConfigError(f"row {row.name!r} has a strategy, and no column's labels are suggested")
        for column in columns:
            experiment.runs(row, column, 1)
            row.split_for(column, 0).check()
    return experiment


def _statistics(name: str, content: Mapping[str, Any]) -> Statistics:
    graphs = tuple(_dataset(item) for item in content["columns"])
    rows = tuple(
        StatisticsRow(item["name"], item["statistic"], tuple(item.get("paper", [None] * len(graphs))))
        for item in content["rows"]
    )
    return Statistics(name, str(content.get("title", name)), str(content.get("note", "")), graphs, rows)


def _dataset(item: Mapping[str, Any]) -> str:
    dataset = str(item["dataset"])
    if dataset not in BENCHMARKS:
        raise ConfigError(f"There is no dataset {dataset!r}; there are {', '.join(BENCHMARKS)}.")
    return dataset


def _column(item: Mapping[str, Any]) -> Column:
    split = SplitSpec(
        item.get("split", "public"),
        item.get("labels_per_class"),
        item.get("split_seed", 0),
        labels=item.get("labels"),
    )
    if split.kind != "suggested":
        # A row says by which strategy.
        split.check()
    draws, fifth = item.get("draws", 0), item.get("fifth")
    if draws and split.kind == "public":
        raise ConfigError(f"draws = {draws} needs split = 'random', 'handful' or 'suggested'")
    if fifth not in (None, 1, 2, 3, 4, 5):
        raise ConfigError(f"fifth = {fifth!r}: the fifths of label consistency are 1 to 5")
    return Column(_dataset(item), split, draws, item.get("seeds"), fifth)


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
        item.get("features"),
        item.get("strategy"),
    )
