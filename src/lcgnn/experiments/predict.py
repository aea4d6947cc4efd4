"""The models of a run, used again: on the graph that they were trained on, on a grown one or on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.artifacts import save_answers, save_predictions
from lcgnn.datasets import load
from lcgnn.datasets.known_tables import KnownTables, load_known_tables
from lcgnn.datasets.tables import TABLE_NAMES, Tables
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.evaluation import class_counts
from lcgnn.experiments.run import MODEL_FILE
from lcgnn.experiments.spec import SplitSpec
from lcgnn.graph import Graph, Split
from lcgnn.model import TrainedModel

FORMATS = (".csv", ".parquet")
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the models of a run say of a graph.

    Args:
        graph: The graph.
        distribution: (N, C) the mean of what the models say.
        split: A benchmark's; None for tables.
        given: The nodes whose label is given.
        trained_on_it: Whether the models were trained on this very graph.
        notes: What there is to say of its tables.
        models: The models.
    """

    graph: Graph
    distribution: NDArray[np.float32]
    split: Split | None
    given: NDArray[np.int64]
    trained_on_it: bool
    notes: tuple[str, ...]
    models: tuple[TrainedModel, ...]

    def save(self, path: Path) -> None:
        """Write a line a node, in the columns that training writes."""
        if self.split is None:
            save_answers(path, self.distribution, self.graph, self.given)
        else:
            save_predictions(path, self.distribution, self.graph, self.split)

    def summary(self) -> dict[str, Any]:
        """All but the answers themselves, as one plain object."""
        return {
            "dataset": self.graph.name,
            "method": self.models[0].name,
            "models": len(self.models),
            "nodes": self.graph.num_nodes,
            "trained_on_it": self.trained_on_it,
            "classes": class_counts(self.distribution, self.graph, self.given),
            "notes": list(self.notes),
        }


def predict(run: Path, where: Tables | str | None = None, *, device: str = "auto") -> Prediction:
    """Classify the nodes of a graph with the models of a run.

    Args:
        run: A run's folder, whose models are averaged, or the folder or file of one model.
        where: Tables or the name of a benchmark; None for what the models were trained on.
        device: A torch device or "auto".
    """
    models = tuple(_load_models(run))
    first = models[0]
    first.check_inductive()
    named, where = where is not None, _trained_on(first) if where is None else where
    if isinstance(where, Tables):
        known = _read_tables(first, where)
        graph, split, given, notes = known.graph, None, known.given, known.notes
    else:
        graph, split = _read_benchmark(first, where)
        given, notes = split.train, ()
    trained_on_it = graph.checksum == first.about.get("graph")
    if trained_on_it and split is None and given.size:
        given = _split_of(first).make(graph, Split(given, _NOBODY, _NOBODY)).train
    if not trained_on_it and not named:
        notes = (*notes, f"{graph.name} has changed since the model was trained, which is used as it is.")
    distribution = _mean([model.label_distribution(graph, device) for model in models])
    return Prediction(graph, distribution, split, given, trained_on_it, notes, models)


def check_output(path: Path) -> None:
    """Refuse a file for the answers that cannot be one, before any work is done."""
    if path.suffix not in FORMATS:
        raise ConfigError(f"--out {path}: the file's name must end in {' or '.join(FORMATS)}.")
    if path.stem in TABLE_NAMES:
        raise ConfigError(f"--out {path}: that is what a table of a graph is called. Choose another name.")
    if path.is_dir():
        raise OutputError(f"Cannot write {path}: it is a folder. Name a file.")


def find_models(run: Path) -> list[Path]:
    """The model files that a path means: itself, the one in it, or those of a run's seeds in their order."""
    if run.is_file():
        return [run]
    if (run / MODEL_FILE).is_file():
        return [run / MODEL_FILE]
    seeds = [path for path in run.glob(f"seed-*/{MODEL_FILE}") if path.parent.name[5:].isdecimal()]
    if seeds:
        return sorted(seeds, key=lambda path: int(path.parent.name[5:]))
    if not run.exists():
        raise OutputError(f"{run} does not exist. Give the folder that 'lcgnn train' wrote, or a model file.")
    if (run / "config.json").is_file():
        raise OutputError(f"{run} has no model yet: the training did not end. Give the same command again.")
    raise OutputError(f"{run} holds no model. Give the folder that 'lcgnn train' wrote, or a model file.")


def _load_models(run: Path) -> list[TrainedModel]:
    paths = find_models(run)
    models = [TrainedModel.load(path) for path in paths]
    for path, model in zip(paths, models, strict=True):
        if (model.name, model.class_names, model.form) != (models[0].name, models[0].class_names, models[0].form):
            raise OutputError(f"{path} is not of the same run as {paths[0]}. Name one of the two models.")
    return models


def _trained_on(model: TrainedModel) -> Tables | str:
    """What a model was trained on, if it is still where it was."""
    tables, dataset = model.about.get("tables"), model.about.get("dataset")
    if tables is None:
        if dataset is None:
            raise ConfigError(
                "The model does not say what it was trained on. Name a graph: lcgnn predict RUN GRAPH"
            )
        return str(dataset)
    if not Path(tables["folder"]).is_dir():
        raise DataError(
            f"{tables['folder']}, which the model was trained on, is not here. "
            "Say where it is: lcgnn predict RUN GRAPH"
        )
    return Tables(tables["folder"])


def _read_tables(model: TrainedModel, tables: Tables) -> KnownTables:
    if model.form is None:
        raise DataError(
            f"The model was trained on {model.about.get('dataset', 'features')}, not on a table's columns, so it "
            f"cannot read {tables.folder}. Train on tables: lcgnn train {tables.folder}"
        )
    known = load_known_tables(tables, model.form, model.class_names)
    if not model.form.encoding.columns and known.graph.checksum != model.about.get("graph"):
        raise DataError(
            "The model was trained without feature columns, on features made from the edges, which mean nothing "
            f"in a graph with other edges or labels. Train on this one: lcgnn train {tables.folder}"
        )
    return known


def _read_benchmark(model: TrainedModel, name: str) -> tuple[Graph, Split]:
    if model.form is not None:
        raise DataError(
            f"The model was trained on a table's columns, and {name} has none. Name a folder of tables."
        )
    graph, public = load(name)
    return graph, _split_of(model).make(graph, public)


def _split_of(model: TrainedModel) -> SplitSpec:
    return SplitSpec(**model.about.get("split", {}))


def _mean(distributions: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return distributions[0] if len(distributions) == 1 else np.mean(distributions, axis=0, dtype=np.float32)
