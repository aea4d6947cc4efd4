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
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn import __version__
from lcgnn.assessment.evaluation import (
    accuracy,
    accuracy_by_consistency,
    calibration_error,
    class_counts,
    confusion,
)
from lcgnn.assessment.trust import at_temperature
from lcgnn.errors import OutputError
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit, Method
from lcgnn.methods.base import Stage
from lcgnn.runs.artifacts import PredictionFormat, save_answers, save_metrics, save_predictions
from lcgnn.runs.crew import leading_crew
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.shared_tables import read_tables
from lcgnn.runs.spec import RunSpec, fingerprint
from lcgnn.sources.benchmarks import load
from lcgnn.sources.parts.parted import PartedGraph
from lcgnn.sources.tables.reading import Tables
from lcgnn.training.checkpoint import CheckpointFile
from lcgnn.training.loop import Progress

# Seconds between two checkpoints of a run.
CHECKPOINT_SECONDS = float(os.environ.get("LCGNN_CHECKPOINT_SECONDS", "15"))

# The model of a run, in the run's folder.
MODEL_FILE = "model.safetensors"

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
        return graph, self.divided(graph, own)

    def divided(self, graph: Graph, own: Split) -> Split:
        """Which labels the run uses for what, given the split that the graph comes with."""
        return self.spec.split.make(graph, own)

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

    @cached_property
    def first_phase(self) -> str | None:
        """A hash of everything that determines the first of several phases; None if no other run may have it."""
        settings = self.method.first_phase_settings()
        graph, split = self.data
        data = {"graph": graph.checksum, "split": split.checksum, "seed": self.spec.seed}
        return None if settings is None else fingerprint({**settings, **data})

    def fit(self, context: Context) -> Fit:
        """Fit from the beginning, or from where the context's files say that it was."""
        graph, split = self.data
        if isinstance(graph, PartedGraph):
            return leading_crew().fit(self.spec.method, self.method, split, self.spec.seed, context)
        return self.method.fit(graph, split, self.spec.seed, context)

    def checkpoint(self, path: Path) -> CheckpointFile:
        """Where the run keeps its state until it is done."""
        return CheckpointFile(path, self.identity, every=CHECKPOINT_SECONDS)

    def measured(self, fit: Fit) -> dict[str, Any]:
        """The run's record: what was run, how good every stage is, and with what it was run."""
        graph, split = self.data
        return {
            "run": self.identity,
            **self.spec.configuration(),
            "settings": dataclasses.asdict(self.method),
            "seed": self.spec.seed,
            "graph": graph.checksum,
            **(
                {"class_counts": class_counts(fit.label_distribution, graph, split.train)}
                if self.spec.tables
                else {}
            ),
            "seconds": round(fit.seconds, 3),
            "classes": list(graph.class_names),
            "stages": [_stage(stage, graph, split, with_curve=self.spec.seed == 0) for stage in fit.stages],
            "environment": _environment(),
        }

    def model(self, fit: Fit, temperature: float) -> TrainedModel:
        """What the fit learnt, with all that it takes to use it again."""
        graph, _ = self.data
        about = {**self.spec.configuration(), "seed": self.spec.seed, "graph": graph.checksum}
        form = None
        if self.spec.tables is not None:
            form = read_tables(self.spec.tables).form
        return TrainedModel.of(
            self.spec.method, self.method, graph, fit, temperature=temperature, form=form, about=about
        )


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


def execute(
    spec: RunSpec,
    folder: Path,
    *,
    device: str = "auto",
    prediction_format: PredictionFormat = "csv",
    temperature: float = 1.0,
    parts: int = 1,
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Carry out a run in a folder of its own and return its record; one that has its record is not repeated.

    The folder gets ``result.json``, ``metrics.csv``, ``model.safetensors`` and ``predictions.csv`` (or
    ``.parquet``), with the probabilities at the temperature. The result is written last: if it is there, so is the
    rest.
    """
    run = Run(spec)
    finished = finished_record(folder / "result.json", run.identity)
    if finished and finished.get("temperature", 1.0) == temperature:
        return finished
    checkpoint = run.checkpoint(folder / "checkpoint.safetensors")
    fit = run.fit(Context(device, checkpoint, progress=progress, parts=parts))
    record = {**run.measured(fit), "temperature": temperature}
    graph, split = run.data
    run.model(fit, temperature).save(folder / MODEL_FILE)
    save_metrics(folder / "metrics.csv", fit)
    predictions = folder / f"predictions.{prediction_format}"
    answer = at_temperature(fit.label_distribution, temperature)
    if spec.tables is None:
        save_predictions(predictions, answer, graph, split)
    else:
        save_answers(predictions, answer, graph, split.train)
    write_json(folder / "result.json", record)
    checkpoint.delete()
    return record


def finished_record(path: Path, identity: str) -> dict[str, Any] | None:
    """What a run left behind when it was done, unless it was another one."""
    try:
        record: dict[str, Any] = read_json(path)
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
    return commit[:12] if prefix == "src/lcgnn/runs/" else ""


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
