"""One run: load, split, fit, measure, write down. It continues where it was killed, and is done only once."""

from __future__ import annotations

import dataclasses
import math
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn import __version__
from lcgnn.artifacts import PredictionFormat, save_answers, save_metrics, save_model, save_predictions
from lcgnn.checkpoint import CheckpointFile
from lcgnn.datasets import load
from lcgnn.datasets.encoding import Encoding
from lcgnn.datasets.tables import TableGraph, Tables, load_tables
from lcgnn.distributed.crew import leading_crew
from lcgnn.distributed.parted import PartedGraph, holds_parts, load_parted
from lcgnn.errors import OutputError
from lcgnn.evaluation import accuracy, accuracy_by_consistency, calibration_error, confusion
from lcgnn.experiments.spec import RunSpec, fingerprint
from lcgnn.experiments.store import Store
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit, Method
from lcgnn.methods.base import Stage
from lcgnn.training import Progress

# Seconds between two checkpoints of a run.
CHECKPOINT_SECONDS = float(os.environ.get("LCGNN_CHECKPOINT_SECONDS", "15"))

# A record holds the confusion of no more classes than anybody can look at.
_MOST_CLASSES = 50

ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True)
class Run:
    """A run with everything that its specification names: graph, split and method."""

    spec: RunSpec

    @cached_property
    def data(self) -> tuple[Graph, Split]:
        graph, own = source(self.spec)
        return graph, self.spec.split.make(graph, own)

    @cached_property
    def method(self) -> Method:
        return self.spec.create_method()

    @cached_property
    def identity(self) -> str:
        """A hash of everything that determines the result."""
        graph, split = self.data
        return fingerprint(
            {
                "method": self.spec.method,
                "settings": dataclasses.asdict(self.method),
                "graph": graph.checksum,
                "split": split.checksum,
                "seed": self.spec.seed,
            }
        )

    def fit(self, checkpoint: CheckpointFile, device: str, progress: ProgressCallback | None) -> Fit:
        """Fit from the beginning, or from the checkpoint if there is one."""
        graph, split = self.data
        context = Context(device, checkpoint, progress)
        if isinstance(graph, PartedGraph):
            return leading_crew().fit(self.spec.method, self.method, split, self.spec.seed, context)
        return self.method.fit(graph, split, self.spec.seed, context)

    def measured(self, fit: Fit) -> dict[str, Any]:
        """The run's record: what was run, how good every stage is, and with what it was run."""
        graph, split = self.data
        return {
            "run": self.identity,
            **self.spec.configuration(),
            "settings": dataclasses.asdict(self.method),
            "seed": self.spec.seed,
            "graph": graph.checksum,
            **({"class_counts": _class_counts(fit, graph, split)} if self.spec.tables else {}),
            "seconds": round(fit.seconds, 3),
            "classes": list(graph.class_names),
            "stages": [_stage(stage, graph, split, with_curve=self.spec.seed == 0) for stage in fit.stages],
            "environment": _environment(),
        }

    def description(self) -> dict[str, Any]:
        """What a saved model has to say of itself."""
        graph, _ = self.data
        described = {
            **self.spec.configuration(),
            "seed": self.spec.seed,
            "settings": dataclasses.asdict(self.method),
            "classes": graph.class_names,
            "num_features": graph.num_features,
        }
        if self.spec.tables is not None:
            described["encoding"] = read_tables(self.spec.tables).encoding.to_json()
        return described


def read_graph(dataset: str, tables: Tables | None) -> tuple[Graph, Split, tuple[str, ...]]:
    """A benchmark or a graph in a folder, the split that it comes with, and what there is to say of it."""
    if tables is None:
        return *_loaded(dataset), ()
    made = read_tables(tables)
    return made.graph, made.split, made.notes


def source(spec: RunSpec) -> tuple[Graph, Split]:
    """The graph that a run is about, and the split that it comes with."""
    graph, split, _ = read_graph(spec.dataset, spec.tables)
    return graph, split


@cache
def _loaded(dataset: str) -> tuple[Graph, Split]:
    """A dataset is read once a process; a graph cannot be changed."""
    return load(dataset)


@lru_cache(maxsize=1)
def read_tables(tables: Tables) -> TableGraph:
    """A folder of tables, or of a graph in parts, read once a process."""
    if holds_parts(Path(tables.folder)):
        return TableGraph(*load_parted(Path(tables.folder)), Encoding(), ())
    return load_tables(tables)


def execute(
    spec: RunSpec,
    folder: Path,
    *,
    device: str = "auto",
    prediction_format: PredictionFormat = "csv",
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Carry out a run in a folder of its own and return its record; one that has its record is not repeated.

    The folder gets ``result.json``, ``metrics.csv``, ``model.safetensors`` and ``predictions.csv`` (or
    ``.parquet``). The result is written last: if it is there, so is the rest.
    """
    run = Run(spec)
    finished = _finished(folder, run.identity)
    if finished:
        return finished
    checkpoint = CheckpointFile(folder / "checkpoint.safetensors", run.identity, every=CHECKPOINT_SECONDS)
    fit = run.fit(checkpoint, device, progress)
    record = run.measured(fit)
    graph, split = run.data
    save_model(folder / "model.safetensors", fit, run.description())
    save_metrics(folder / "metrics.csv", fit)
    save = save_predictions if spec.tables is None else save_answers
    save(folder / f"predictions.{prediction_format}", fit, graph, split)
    write_json(folder / "result.json", record)
    checkpoint.delete()
    return record


def keep_record(
    spec: RunSpec, store: Store, *, device: str = "auto", progress: ProgressCallback | None = None
) -> dict[str, Any]:
    """Carry out a run for its record alone, unless the store has it."""
    run = Run(spec)
    found = store.find(run.identity)
    if found:
        return found
    checkpoint = CheckpointFile(store.checkpoint(run.identity), run.identity, every=CHECKPOINT_SECONDS)
    record = run.measured(run.fit(checkpoint, device, progress))
    store.add(record)
    checkpoint.delete()
    return record


def _finished(folder: Path, identity: str) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = read_json(folder / "result.json")
    except OutputError:
        return None
    return record if record.get("run") == identity else None


def _stage(stage: Stage, graph: Graph, split: Split, *, with_curve: bool) -> dict[str, Any]:
    """What a stage of a fit achieved on every part of the split, and on the test nodes in detail."""
    distribution = stage.label_distribution
    measured: dict[str, Any] = {
        "name": stage.name,
        "best_epoch": stage.best_epoch,
        "epochs": len(stage.history),
        **_accuracies(distribution, graph, split),
    }
    if split.test.size:
        bins = accuracy_by_consistency(distribution, graph, split.test)
        measured["calibration_error"] = round(calibration_error(distribution, graph.labels, split.test), 5)
        if graph.num_classes <= _MOST_CLASSES:
            measured["confusion"] = confusion(distribution, graph.labels, split.test).tolist()
        measured["fifths"] = [dataclasses.asdict(item) for item in bins]
    if with_curve and len(stage.history):
        measured["curve"] = _curve(stage.history)
    return measured


def _curve(history: NDArray[np.float64]) -> list[list[float | None]]:
    """Epoch, loss, validation loss and validation accuracy at up to 100 epochs; None for what was not measured."""
    epochs = np.unique(np.linspace(1, len(history), min(len(history), 100)).round().astype(int))
    return [
        [int(epoch), *(None if math.isnan(value) else round(value, 5) for value in history[epoch - 1].tolist())]
        for epoch in epochs
    ]


def _class_counts(fit: Fit, graph: Graph, split: Split) -> list[dict[str, Any]]:
    """Every class with the number of nodes that were given it and that were predicted to be of it."""
    given = np.bincount(graph.labels[split.train], minlength=graph.num_classes)
    answers = np.delete(fit.label_distribution.argmax(axis=1), split.train)
    predicted = np.bincount(answers, minlength=graph.num_classes)
    return [
        {"name": name, "given": int(given[label]), "predicted": int(predicted[label])}
        for label, name in enumerate(graph.class_names)
    ]


def _accuracies(distribution: Any, graph: Graph, split: Split) -> dict[str, float | None]:
    measured = {
        f"{part}_accuracy": accuracy(distribution, graph.labels, getattr(split, part))
        for part in ("train", "validation", "test")
    }
    return {name: None if math.isnan(value) else value for name, value in measured.items()}


@cache
def _commit() -> str:
    """The commit that the package is run from; empty where it is not run from its own repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--show-prefix", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    prefix, commit = done.stdout.splitlines()
    return commit[:12] if prefix == "src/lcgnn/experiments/" else ""


def _environment() -> dict[str, str]:
    return {
        "lcgnn": __version__,
        "torch": version("torch"),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "commit": _commit(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
