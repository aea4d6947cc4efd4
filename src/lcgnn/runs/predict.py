"""The models of a run, used again: on the graph that they were trained on, on a grown one or on another."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.evaluation import ClassCount, class_counts
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.graph import Graph, Split
from lcgnn.runs.artifacts import PREDICTIONS, save_predictions
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.run import MODEL_FILE
from lcgnn.runs.spec import SplitSpec
from lcgnn.sources.choice import source_at, source_of
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import Known, Progress, Source
from lcgnn.sources.tables.columns import Columns

# What a table of a graph is called.
TABLE_NAMES = ("nodes", "labels", "edges")


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the models of a run say of a graph.

    Args:
        loaded: The graph, with the models' classes; its split's training nodes have a label that stays.
        distribution: (N, C) the mean of what the models say.
        models: The models.
        trained_on_it: Whether the models were trained on this very graph.
        notes: What there is to say of the graph, a sentence each.
    """

    loaded: Loaded
    distribution: NDArray[np.float32]
    models: tuple[TrainedModel, ...]
    trained_on_it: bool
    notes: tuple[str, ...]

    @property
    def method(self) -> str:
        """Of the models."""
        return self.models[0].name

    @property
    def classes(self) -> tuple[ClassCount, ...]:
        """How many nodes have a given label of each class, and how many a predicted one."""
        return class_counts(self.distribution, self.loaded.graph, self.loaded.split.train)

    def save(self, path: Path | str) -> None:
        """Write a line a node, in the columns that training writes, as .csv or .parquet."""
        check_output(Path(path))
        save_predictions(Path(path), self.distribution, self.loaded.graph, self.loaded.split)

    def to_json(self) -> dict[str, Any]:
        """All but the answers themselves, as plain data."""
        return {
            "dataset": self.loaded.graph.name,
            "method": self.method,
            "models": len(self.models),
            "nodes": self.loaded.graph.num_nodes,
            "trained_on_it": self.trained_on_it,
            "classes": [asdict(item) for item in self.classes],
            "notes": list(self.notes),
        }


def predict(
    model: TrainedModel | Path | str,
    what: Any = None,
    *,
    columns: Columns | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Prediction:
    """Classify the nodes of a graph with models that were trained before; nothing is trained.

    Args:
        model: A model, the file or the folder of one, or a run's folder, whose models are averaged.
        what: The graph, in any form that `source_of` takes; None for what the models were trained on.
        columns: Names of columns that differ from those in training.
        device: A torch device or "auto".
        progress: Told how far reading is.
    """
    models = (model,) if isinstance(model, TrainedModel) else load_models(Path(model))
    first = models[0]
    first.check_inductive()
    source = trained_on(first) if what is None else source_of(what, columns)
    loaded = source.load_known(Known(first.form, first.class_names), progress)
    trained_on_it = loaded.graph.checksum == first.about.get("graph")
    if loaded.made_of_edges and not trained_on_it:
        raise DataError(
            "The model was trained without features of its own, on some made from the edges, which mean nothing "
            f"in a graph that is not exactly the same. Train on this one: lcgnn train {source.name}"
        )
    notes = loaded.notes
    if what is None and not trained_on_it:
        notes = (*notes, f"{source.name} has changed since the model was trained; the model is used as it is.")
    if trained_on_it:
        loaded = replace(loaded, split=split_of(first, loaded))
    return Prediction(loaded, mean_distribution(models, loaded.graph, device), models, trained_on_it, notes)


def mean_distribution(models: Sequence[TrainedModel], graph: Graph, device: str = "auto") -> NDArray[np.float32]:
    """(N, C) the mean of what the models say of a graph."""
    total = np.zeros((graph.num_nodes, len(models[0].class_names)), dtype=np.float32)
    for model in models:
        total += model.label_distribution(graph, device)
    total /= len(models)
    return total


def check_output(path: Path, reads: Iterable[Path | str] = ()) -> None:
    """Refuse a file for the answers that cannot be one, before any work is done.

    Args:
        path: Of the file.
        reads: What the models and the graph are read from.
    """
    if path.stem.lower() in TABLE_NAMES:
        raise ConfigError(f"--out {path}: that is what a table of a graph is called. Choose another name.")
    PREDICTIONS.check(path, reads)


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
        raise OutputError(
            f"{run} does not exist.{_near(run)} Give the folder that 'lcgnn train' wrote, or a model file."
        )
    if (run / "config.json").is_file():
        raise OutputError(f"{run} has no model: the training did not end. Give its command again to continue.")
    raise OutputError(f"{run} holds no model. Give the folder that 'lcgnn train' wrote, or a model file.")


def _near(run: Path) -> str:
    """Runs that are called almost like one that is not there, in a sentence; nothing if there are none."""
    beside = {path.parent.name: path.parent for path in run.parent.glob("*/config.json")}
    near = difflib.get_close_matches(run.name, beside, n=2)
    return f" Did you mean {' or '.join(str(beside[name]) for name in near)}?" if near else ""


def trained_on(model: TrainedModel) -> Source:
    """What a model was trained on, if it is still where it was."""
    dataset = model.about.get("dataset")
    if dataset is None:
        raise ConfigError("The model does not say what it was trained on. Name a graph: lcgnn predict RUN GRAPH")
    return source_at(str(dataset), model.about.get("tables"))


def split_of(model: TrainedModel, loaded: Loaded) -> Split:
    """Which labels of the graph that it was trained on a model was trained on."""
    return split_asked(model).make(loaded.graph, loaded.split)


def split_asked(model: TrainedModel) -> SplitSpec:
    """Which labels were asked for when a model was trained."""
    return SplitSpec.from_json(model.about.get("split", SplitSpec().to_json()))
