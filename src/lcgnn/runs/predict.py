"""The models of a run, used again: on the graph that they were trained on, on a grown one or on another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.evaluation import class_counts
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.features.structure import with_structural_features
from lcgnn.graph import Graph, Split
from lcgnn.runs.artifacts import save_answers, save_predictions
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.run import MODEL_FILE
from lcgnn.runs.spec import SplitSpec
from lcgnn.sources.arrays import holds_arrays, load_arrays
from lcgnn.sources.benchmarks import load
from lcgnn.sources.npz import load_known_npz
from lcgnn.sources.parts.parted import holds_parts
from lcgnn.sources.tables.known import load_known_tables
from lcgnn.sources.tables.reading import TABLE_NAMES, Tables

FORMATS = (".csv", ".parquet")
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Subject:
    """A graph that is to be classified.

    Args:
        graph: With the classes of the model that is to classify it.
        given: The nodes whose label is given.
        split: A benchmark's; None for tables.
        notes: What there is to say of its tables.
    """

    graph: Graph
    given: NDArray[np.int64]
    split: Split | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the models of a run say of a graph.

    Args:
        subject: The graph.
        distribution: (N, C) the mean of what the models say.
        models: The models.
        trained_on_it: Whether the models were trained on this very graph.
    """

    subject: Subject
    distribution: NDArray[np.float32]
    models: tuple[TrainedModel, ...]
    trained_on_it: bool

    def save(self, path: Path) -> None:
        """Write a line a node, in the columns that training writes."""
        graph, split = self.subject.graph, self.subject.split
        if split is None:
            save_answers(path, self.distribution, graph, self.subject.given)
        else:
            save_predictions(path, self.distribution, graph, split)

    def summary(self) -> dict[str, Any]:
        """All but the answers themselves, as one plain object."""
        graph = self.subject.graph
        return {
            "dataset": graph.name,
            "method": self.models[0].name,
            "models": len(self.models),
            "nodes": graph.num_nodes,
            "trained_on_it": self.trained_on_it,
            "classes": class_counts(self.distribution, graph, self.subject.given),
            "notes": list(self.subject.notes),
        }


def predict(run: Path, where: Tables | str | None = None, *, device: str = "auto") -> Prediction:
    """Classify the nodes of a graph with the models of a run.

    Args:
        run: A run's folder, whose models are averaged, or the folder or file of one model.
        where: Tables or the name of a benchmark; None for what the models were trained on.
        device: A torch device or "auto".
    """
    models = load_models(run)
    first = models[0]
    first.check_inductive()
    place = _trained_on(first) if where is None else where
    subject = _tables(first, place) if isinstance(place, Tables) else _benchmark(first, place)
    trained_on_it = subject.graph.checksum == first.about.get("graph")
    if where is None and not trained_on_it:
        note = f"{subject.graph.name} has changed since the model was trained; the model is used as it is."
        subject = replace(subject, notes=(*subject.notes, note))
    total = np.zeros((subject.graph.num_nodes, len(first.class_names)), dtype=np.float32)
    for model in models:
        total += model.label_distribution(subject.graph, device)
    total /= len(models)
    return Prediction(subject, total, models, trained_on_it)


def check_output(path: Path) -> None:
    """Refuse a file for the answers that cannot be one, before any work is done."""
    if path.suffix not in FORMATS:
        raise ConfigError(f"--out {path}: the file's name must end in {' or '.join(FORMATS)}.")
    if path.stem in TABLE_NAMES:
        raise ConfigError(f"--out {path}: that is what a table of a graph is called. Choose another name.")
    if path.is_dir():
        raise OutputError(f"Cannot write {path}: it is a folder. Name a file.")


def load_models(run: Path) -> tuple[TrainedModel, ...]:
    """The models that a path means; OutputError if there are none, or if they are not of one run."""
    paths = find_models(run)
    models = tuple(TrainedModel.load(path) for path in paths)
    kinds = [(model.name, model.class_names, model.form, model.about.get("graph")) for model in models]
    for path, kind in zip(paths, kinds, strict=True):
        if kind != kinds[0]:
            raise OutputError(f"{path} is not of the same run as {paths[0]}. Name one of the two models.")
    return models


def find_models(run: Path) -> list[Path]:
    """The model files that a path means: itself, the one in it, or those of a run's seeds in their order."""
    if run.is_file():
        return [run]
    if (run / MODEL_FILE).is_file():
        return [run / MODEL_FILE]
    of_seeds = {path.parent.name.removeprefix("seed-"): path for path in run.glob(f"seed-*/{MODEL_FILE}")}
    if of_seeds:
        return [of_seeds[seed] for seed in sorted(of_seeds, key=lambda seed: (len(seed), seed))]
    if not run.exists():
        raise OutputError(f"{run} does not exist. Give the folder that 'lcgnn train' wrote, or a model file.")
    if (run / "config.json").is_file():
        raise OutputError(f"{run} has no model: the training did not end. Give its command again to continue.")
    raise OutputError(f"{run} holds no model. Give the folder that 'lcgnn train' wrote, or a model file.")


def _trained_on(model: TrainedModel) -> Tables | str:
    """What a model was trained on, if it is still where it was."""
    tables, dataset = model.about.get("tables"), model.about.get("dataset")
    if dataset is None:
        raise ConfigError("The model does not say what it was trained on. Name a graph: lcgnn predict RUN GRAPH")
    if tables is None:
        return str(dataset)
    if not Path(tables["folder"]).exists():
        raise DataError(
            f"{tables['folder']}, which the model was trained on, is not here. "
            "Say where it is: lcgnn predict RUN GRAPH"
        )
    return Tables(tables["folder"])


def _tables(model: TrainedModel, tables: Tables) -> Subject:
    """The graph in a folder of tables; on unchanged ones, the labels that were trained on are the given ones."""
    if holds_parts(Path(tables.folder)):
        raise DataError(
            f"{tables.folder} is a graph in parts, which is only trained on. Name the graph that it was made of: "
            "lcgnn predict RUN GRAPH"
        )
    if tables.are_arrays or holds_arrays(Path(tables.folder)):
        return _arrays(model, tables)
    if model.form is None or model.form.roles is None:
        raise DataError(
            f"The model was not trained on a table's columns, so it cannot read {tables.folder}. "
            f"Train on that: lcgnn train {tables.folder}"
        )
    known = load_known_tables(tables, model.form, model.class_names)
    graph, given = known.graph, known.given
    if graph.checksum == model.about.get("graph"):
        given = _split(model).make(graph, Split(given, _NOBODY, _NOBODY)).train
    elif not model.form.encoding.columns:
        raise DataError(
            "The model was trained without feature columns, on features made from the edges, which mean nothing "
            f"in a graph that is not exactly the same. Train on this one: lcgnn train {tables.folder}"
        )
    return Subject(graph, given, notes=known.notes)


def _arrays(model: TrainedModel, tables: Tables) -> Subject:
    """The graph in an .npz file or a folder of arrays, for a model that was not trained on columns either."""
    if model.form is not None and model.form.roles is not None:
        raise DataError(
            f"The model was trained on a table's columns, and {tables.folder} has none. Name a folder of tables."
        )
    if tables.are_arrays:
        scaling = None if model.form is None else model.form.scaling
        path = Path(tables.folder)
        graph, given, notes = load_known_npz(path, model.class_names, name=tables.name, scaling=scaling)
    else:
        graph, given, notes = _folder_of_arrays(model, tables)
    if graph.features is None:
        graph = with_structural_features(graph)
        if graph.checksum != model.about.get("graph"):
            raise DataError(
                f"{tables.folder} has no features, and those made from its edges mean nothing to the model. "
                f"Add features, or train on it: lcgnn train {tables.folder}"
            )
    if graph.checksum == model.about.get("graph"):
        given = _split(model).make(graph, Split(given, _NOBODY, _NOBODY)).train
    return Subject(graph, given, notes=notes)


def _folder_of_arrays(model: TrainedModel, tables: Tables) -> tuple[Graph, NDArray[np.int64], tuple[str, ...]]:
    graph, split = load_arrays(Path(tables.folder))
    if graph.class_names != model.class_names:
        raise DataError(
            f"{tables.folder} has other classes than the model, whose are {', '.join(model.class_names[:8])}. "
            f"Train on it: lcgnn train {tables.folder}"
        )
    return graph, split.train, ()


def _benchmark(model: TrainedModel, name: str) -> Subject:
    if model.form is not None and model.form.roles is not None:
        raise DataError(
            f"The model was trained on a table's columns, and {name} has none. Name a folder of tables."
        )
    graph, public = load(name)
    split = _split(model).make(graph, public)
    return Subject(graph, split.train, split)


def _split(model: TrainedModel) -> SplitSpec:
    return SplitSpec(**model.about.get("split", {}))
