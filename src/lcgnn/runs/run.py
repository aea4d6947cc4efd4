"""One run: split, fit, measure, write down. It continues where it was killed, and is done only once."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from lcgnn.assessment.calibration import at_temperature
from lcgnn.assessment.evaluation import class_counts
from lcgnn.errors import LCGNNError, OutputError
from lcgnn.files import read_json, sha256_of, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit, Method
from lcgnn.runs.artifacts import PredictionFormat, save_metrics, save_predictions
from lcgnn.runs.environment import environment
from lcgnn.runs.measuring import measured_stage
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.records import Record
from lcgnn.runs.spec import RunSpec, fingerprint
from lcgnn.sources.loaded import Loaded
from lcgnn.training.checkpoint import CheckpointFile
from lcgnn.training.loop import Progress

# The model of a run, its record and its curves, in the run's folder.
MODEL_FILE = "model.safetensors"
RESULT_FILE = "result.json"
METRICS_FILE = "metrics.csv"

ProgressCallback: TypeAlias = Callable[[Progress], None]


def checkpoint_seconds() -> float:
    """Seconds between two checkpoints of a run."""
    return float(os.environ.get("LCGNN_CHECKPOINT_SECONDS", "15"))


@dataclass(frozen=True, eq=False)
class Run:
    """A run with the graph that it is about.

    Args:
        spec: What is run.
        loaded: What its source gave.
    """

    spec: RunSpec
    loaded: Loaded

    @property
    def graph(self) -> Graph:
        return self.loaded.graph

    @cached_property
    def split(self) -> Split:
        """Which labels the run uses for what."""
        return self.spec.split.make(self.graph, self.loaded.split)

    @cached_property
    def method(self) -> Method:
        return self.spec.create_method()

    @cached_property
    def identity(self) -> str:
        """A hash of everything that determines the result."""
        settings = self.method.plain_settings()
        return fingerprint({"method": self.spec.method, "settings": settings, **self._data})

    @cached_property
    def first_phase(self) -> str | None:
        """A hash of everything that determines the first of several phases; None if no other run may have it."""
        settings = self.method.first_phase_settings()
        return None if settings is None else fingerprint({**settings, **self._data})

    @property
    def _data(self) -> dict[str, str | int]:
        # The split itself, where it is made anyway: a suggested one takes a simulation.
        split = self.split.checksum if self.spec.split.strategy is None else fingerprint(self.spec.split.to_json())
        own = self.method.own_parts(self.graph.num_features, self.graph.num_classes)
        return {"graph": self.graph.checksum, "split": split, "seed": self.spec.seed, **own}

    def fit(self, context: Context) -> Fit:
        """Fit from the beginning, or from where the context's files say that it was."""
        return self.method.fit(self.graph, self.split, self.spec.seed, context)

    def checkpoint(self, path: Path) -> CheckpointFile:
        """Where the run keeps its state until it is done."""
        return CheckpointFile(path, self.identity, every=checkpoint_seconds())

    def measured(self, fit: Fit) -> Record:
        """The run's record: what was run, how good every stage is, and with what it was run."""
        first_seed = self.spec.seed == 0
        return Record(
            run=self.identity,
            dataset=self.spec.source.name,
            method=self.spec.method,
            settings=self.method.plain_settings(),
            split=self.spec.split,
            seed=self.spec.seed,
            graph=self.graph.checksum,
            seconds=round(fit.seconds, 3),
            stages=tuple(
                measured_stage(stage, self.graph, self.split, with_curve=first_seed) for stage in fit.stages
            ),
            environment=environment(),
            classes=self.graph.class_names,
            source=self.spec.source.place(),
        )

    def model(self, fit: Fit, temperature: float) -> TrainedModel:
        """What the fit learnt, with all that it takes to use it again."""
        about = {**self.spec.configuration(), "seed": self.spec.seed, "graph": self.graph.checksum}
        return TrainedModel.of(
            self.spec.method,
            self.method,
            self.graph,
            fit,
            temperature=temperature,
            form=self.loaded.form,
            about=about,
        )


FitRun: TypeAlias = Callable[[Run, Context], Fit]
"""How a run is fitted: by this process alone, or by several together."""


@dataclass(frozen=True)
class Manner:
    """How a run is carried out; nothing in here but the temperature changes what is written.

    Args:
        device: A torch device or "auto".
        prediction_format: Of the predictions.
        temperature: Of the probabilities that are written.
        parts: Above 1, hold only one of so many parts of the graph in memory at a time.
        fit: How it is fitted.
    """

    device: str = "auto"
    prediction_format: PredictionFormat = "csv"
    temperature: float = 1.0
    parts: int = 1
    fit: FitRun = Run.fit

    @property
    def predictions_file(self) -> str:
        """The name of the file with the predictions."""
        return f"predictions.{self.prediction_format}"


def execute(
    run: Run, folder: Path, manner: Manner | None = None, progress: ProgressCallback | None = None
) -> Record:
    """Carry out a run in a folder of its own and return its record; one that has its record is not repeated.

    The folder gets ``result.json``, ``metrics.csv``, ``model.safetensors`` and ``predictions.csv`` (or
    ``.parquet``), with the probabilities at the temperature. The result is written last, with the checksums of
    the rest; what is missing or altered is made again, by the model if that is enough.
    """
    manner = manner or Manner()
    finished = finished_record(folder / RESULT_FILE, run.identity)
    if finished and (finished.temperature or 1.0) == manner.temperature:
        whole = _made_whole(finished, run, folder, manner)
        if whole is not None:
            return whole
    checkpoint = run.checkpoint(folder / "checkpoint.safetensors")
    fit = manner.fit(run, Context(manner.device, checkpoint, progress=progress, parts=manner.parts))
    answer = at_temperature(fit.label_distribution, manner.temperature)
    counts = class_counts(fit.label_distribution, run.graph, run.split.train)
    record = dataclasses.replace(run.measured(fit), temperature=manner.temperature, class_counts=counts)
    run.model(fit, manner.temperature).save(folder / MODEL_FILE)
    save_metrics(folder / METRICS_FILE, fit)
    save_predictions(folder / manner.predictions_file, answer, run.graph, run.split)
    record = _recorded(record, folder, (MODEL_FILE, METRICS_FILE, manner.predictions_file))
    checkpoint.delete()
    return record


def _recorded(record: Record, folder: Path, names: Iterable[str]) -> Record:
    """Write the record with the checksums of these files, and return it."""
    artifacts = {name: checksum for name in names if (checksum := sha256_of(folder / name)) is not None}
    record = dataclasses.replace(record, artifacts=artifacts)
    write_json(folder / RESULT_FILE, record.to_json())
    return record


def _made_whole(record: Record, run: Run, folder: Path, manner: Manner) -> Record | None:
    """The record of a finished run once its files are there as it has them; None if that takes a fit."""
    kept = {name for name in (MODEL_FILE, METRICS_FILE, manner.predictions_file) if _is_kept(record, folder, name)}
    if not {MODEL_FILE, METRICS_FILE} <= kept:
        return None
    record = _with_form_of(run, record, folder)
    if manner.predictions_file in kept:
        return record
    if manner.parts > 1 or manner.fit is not Run.fit or not run.method.inductive:
        return None
    try:
        answer = TrainedModel.load(folder / MODEL_FILE).label_distribution(run.graph, manner.device)
    except LCGNNError:
        return None
    save_predictions(folder / manner.predictions_file, answer, run.graph, run.split)
    others = {name for name in record.artifacts or () if _is_kept(record, folder, name)}
    return _recorded(record, folder, sorted({*kept, *others, manner.predictions_file}))


def _with_form_of(run: Run, record: Record, folder: Path) -> Record:
    """The record once the model reads tables as the run's graph was read.

    Columns may have got other names or units since, which leaves the features, and so the model, as they were.
    """
    try:
        model = TrainedModel.load(folder / MODEL_FILE)
    except LCGNNError:
        # A method that is registered nowhere cannot be loaded, and needs no other form.
        return record
    if (model.form and model.form.to_json()) == (run.loaded.form and run.loaded.form.to_json()):
        return record
    kept = sorted({MODEL_FILE, *(name for name in record.artifacts or () if _is_kept(record, folder, name))})
    dataclasses.replace(model, form=run.loaded.form).save(folder / MODEL_FILE)
    return _recorded(record, folder, kept)


def _is_kept(record: Record, folder: Path, name: str) -> bool:
    """Whether a file is as the record has it; of a record without checksums, whether it is there."""
    found = sha256_of(folder / name)
    return found is not None and (record.artifacts is None or record.artifacts.get(name) == found)


def finished_record(path: Path, identity: str) -> Record | None:
    """What a run left behind when it was done, unless it was another one."""
    try:
        record = Record.from_json(read_json(path), str(path))
    except OutputError:
        return None
    return record if record.run == identity else None
