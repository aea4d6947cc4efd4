"""A method on a dataset over several seeds: what ``lcgnn train`` does."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lcgnn import __version__
from lcgnn.compute.device import resolve_device
from lcgnn.errors import ConfigError, OutputError
from lcgnn.files import read_json, remove_leftovers, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Method, entry
from lcgnn.methods.base import settings_of
from lcgnn.methods.placements import check_placement
from lcgnn.runs.artifacts import PredictionFormat
from lcgnn.runs.board import Board
from lcgnn.runs.cross_validation import CrossValidation, plan_cross_validation
from lcgnn.runs.run import ProgressCallback, execute, source
from lcgnn.runs.runner import available_cores, run_jobs
from lcgnn.runs.shared_tables import forget_tables, read_tables, sharing_tables
from lcgnn.runs.spec import RunSpec, SplitSpec, fingerprint
from lcgnn.sources.tables.reading import Tables

# Labels of every class from which on a tenth is held out for validation.
_MANY_LABELS = 100


@dataclass(frozen=True)
class Session:
    """The same run from several seeds, in a folder of its own.

    Args:
        configuration: What is common to all runs, as plain data.
        specs: One run a seed.
        folder: Where everything is written.
        device: What to compute on.
        workers: How many processes.
        prediction_format: Of the predictions.
        notes: What there is to say of the graph's tables.
        cross_validation: What tells how far to trust the predictions; None where nothing is estimated.
        parts: Above 1, hold only one of so many parts of the graph in memory at a time.
    """

    configuration: Mapping[str, Any]
    specs: tuple[RunSpec, ...]
    folder: Path
    device: str
    workers: int
    prediction_format: PredictionFormat
    notes: tuple[str, ...] = ()
    cross_validation: CrossValidation | None = None
    parts: int = 1

    @property
    def tables(self) -> Tables | None:
        """Where the graph comes from, if it is not a benchmark."""
        return self.specs[0].tables

    @property
    def can_predict(self) -> bool:
        """Whether the models can be used on other tables with the same columns."""
        columns = read_tables(self.tables).encoding.columns if self.tables else ()
        return bool(columns) and self.specs[0].create_method().inductive

    def run(self, board: Board, temperature: float = 1.0) -> Iterator[tuple[int, dict[str, Any]]]:
        """Carry out the runs and yield (position, result) as they finish; what is done already comes at once.

        Args:
            board: Where the runs say how far they are.
            temperature: Of the probabilities that are written.
        """
        carry_out = partial(_carry_out, self.folder, self.device, self.prediction_format, temperature, self.parts)
        yield from run_jobs(sharing_tables(self.tables, carry_out), self.specs, board, workers=self.workers)


def plan(
    dataset: str,
    method: str,
    *,
    seeds: int = 1,
    split: SplitSpec | None = None,
    validation: float | None = None,
    settings: Mapping[str, Any] | None = None,
    tables: Tables | None = None,
    folder: Path | None = None,
    device: str = "auto",
    workers: int | None = None,
    prediction_format: PredictionFormat = "csv",
    folds: int | None = 0,
    parts: int = 1,
) -> Session:
    """Check everything that can be checked before the work starts, and prepare the folder.

    Args:
        dataset: A benchmark's name, or what to call the graph in the tables.
        method: A method's name.
        seeds: Runs from the seeds 0, 1, ..., seeds - 1.
        split: Which labels may be used; the public split by default.
        validation: Share of the training labels to hold out for validation; None for a tenth if there are many.
        settings: Of the method, where they differ from its defaults.
        tables: Where the graph comes from, if it is not a benchmark.
        folder: Where to write; by default ``runs/`` and a name made of all of the above but the seeds.
        device: A torch device or "auto".
        workers: Processes; by default as many as there are cores, or seeds.
        prediction_format: csv or parquet.
        folds: Of the cross-validation that estimates accuracy; 0 for none, None for as many as make sense.
        parts: Above 1, hold only one of so many parts of the graph in memory at a time.
    """
    if seeds < 1:
        raise ConfigError(f"At least one seed is needed, not {seeds}.")
    if workers is not None and workers < 1:
        raise ConfigError(f"At least one worker is needed, not {workers}.")
    if prediction_format not in ("csv", "parquet"):
        raise ConfigError(f"Predictions can be written as csv or parquet, not {prediction_format!r}.")
    dataset = dataset if tables else dataset.lower()
    spec = RunSpec(dataset, method, 0, dict(settings or {}), split or SplitSpec(), tables)
    _check_parts(parts, spec.create_method(), folds)
    resolve_device(device)
    forget_tables()
    graph, own = source(spec)
    if validation is None:
        validation = spec.split.validation or _sensible_validation(spec, graph, spec.split.make(graph, own))
    spec = dataclasses.replace(spec, split=dataclasses.replace(spec.split, validation=validation))
    made = spec.split.make(graph, own)
    if not made.validation.size:
        spec = _without_validation(spec)
    configuration = {
        "lcgnn": __version__,
        "dataset": dataset,
        "graph": graph.checksum,
        "method": method,
        "settings": dataclasses.asdict(spec.create_method()),
        "split": {**spec.split.to_json(), "name": made.name, "checksum": made.checksum},
    }
    folder = folder or _default_folder(configuration)
    processes = workers or available_cores()
    cross_validation, reasons = plan_cross_validation(
        spec, folds if parts == 1 else 0, folder / "folds", device, processes
    )
    _prepare(folder, configuration)
    notes = [*(read_tables(tables).notes if tables else ()), *_told(made, validation), *reasons]
    return Session(
        configuration=configuration,
        specs=tuple(dataclasses.replace(spec, seed=seed) for seed in range(seeds)),
        folder=folder,
        device=device,
        workers=min(processes, seeds),
        prediction_format=prediction_format,
        notes=tuple(notes),
        cross_validation=cross_validation,
        parts=parts,
    )


def _check_parts(parts: int, method: Method, folds: int | None) -> None:
    if parts == 1:
        return
    if parts < 1:
        raise ConfigError(f"A graph can be cut into 1 part or more, not {parts}.")
    check_placement(method, "in turn")
    if folds:
        raise ConfigError("Accuracy cannot be estimated by folds on a graph in parts. Leave out --folds.")


def _sensible_validation(spec: RunSpec, graph: Graph, split: Split) -> float:
    """A tenth of a user's own labels if every class has so many that none will be missed, otherwise none."""
    chooses = "selection" in settings_of(entry(spec.method).method) and spec.settings.get("selection") != "last"
    if spec.tables is None or not chooses or split.validation.size:
        return 0.0
    fewest = np.bincount(graph.labels[split.train], minlength=graph.num_classes).min()
    return 0.1 if fewest >= _MANY_LABELS else 0.0


def _told(split: Split, validation: float) -> list[str]:
    """That labels are held out, if they are."""
    if not validation:
        return []
    return [
        f"{split.validation.size:,} of {split.train.size + split.validation.size:,} training labels are held out "
        "to choose the epoch; --validation 0 trains on all of them."
    ]


def _without_validation(spec: RunSpec) -> RunSpec:
    """The run with the last epoch kept, where no label is there to choose one by."""
    if "selection" not in settings_of(entry(spec.method).method):
        return spec
    if spec.settings.get("selection", "last") != "last":
        raise ConfigError(
            f"Selection by validation {spec.settings['selection']} needs validation labels, and there are none. "
            "Use --selection last, hold some out with --validation 0.2, or mark some in a split column."
        )
    return dataclasses.replace(spec, settings={**spec.settings, "selection": "last"})


def _carry_out(
    folder: Path,
    device: str,
    prediction_format: PredictionFormat,
    temperature: float,
    parts: int,
    spec: RunSpec,
    progress: ProgressCallback,
) -> dict[str, Any]:
    return execute(
        spec,
        folder / f"seed-{spec.seed}",
        device=device,
        prediction_format=prediction_format,
        temperature=temperature,
        parts=parts,
        progress=progress,
    )


def _default_folder(configuration: Mapping[str, Any]) -> Path:
    identity = fingerprint({key: value for key, value in configuration.items() if key != "lcgnn"})
    name = re.sub(r"[^\w.-]+", "-", configuration["dataset"])
    return Path("runs") / f"{name}-{configuration['method']}-{identity[:8]}"


def _prepare(folder: Path, configuration: Mapping[str, Any]) -> None:
    """Make the folder ours, or refuse one that belongs to something else."""
    path = folder / "config.json"
    if path.exists():
        existing = read_json(path)
        if {**existing, "lcgnn": None} != {**configuration, "lcgnn": None}:
            raise OutputError(f"{folder} holds the results of another configuration. Choose another --out folder.")
        return
    remove_leftovers(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already and is not a run folder. Choose another --out folder.")
    write_json(path, configuration)
