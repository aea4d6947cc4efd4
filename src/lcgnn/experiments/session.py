"""A method on a dataset over several seeds: what ``lcgnn train`` does."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from lcgnn import __version__
from lcgnn.artifacts import PredictionFormat
from lcgnn.datasets.tables import Tables
from lcgnn.device import resolve_device
from lcgnn.errors import ConfigError, OutputError
from lcgnn.evaluation import PairedDifference, Summary
from lcgnn.experiments.board import Board
from lcgnn.experiments.library import paper_results
from lcgnn.experiments.run import ProgressCallback, execute, read_tables, source
from lcgnn.experiments.runner import available_cores, run_jobs
from lcgnn.experiments.spec import Reported, RunSpec, SplitSpec, fingerprint
from lcgnn.files import read_json, read_toml, remove_leftovers, write_json
from lcgnn.methods import entry
from lcgnn.methods.base import settings_of


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
    """

    configuration: Mapping[str, Any]
    specs: tuple[RunSpec, ...]
    folder: Path
    device: str
    workers: int
    prediction_format: PredictionFormat
    notes: tuple[str, ...] = ()

    @property
    def tables(self) -> Tables | None:
        """Where the graph comes from, if it is not a benchmark."""
        return self.specs[0].tables

    @property
    def can_predict(self) -> bool:
        """Whether the models can be used on other tables with the same columns."""
        columns = read_tables(self.tables).encoding.columns if self.tables else ()
        return bool(columns) and self.specs[0].create_method().inductive

    def run(self, board: Board) -> Iterator[tuple[int, dict[str, Any]]]:
        """Carry out the runs and yield (position, result) as they finish; what is done already comes at once."""
        carry_out = partial(_carry_out, self.folder, self.device, self.prediction_format)
        yield from run_jobs(carry_out, self.specs, board, workers=self.workers)


def plan(
    dataset: str,
    method: str,
    *,
    seeds: int = 1,
    split: SplitSpec | None = None,
    settings: Mapping[str, Any] | None = None,
    tables: Tables | None = None,
    folder: Path | None = None,
    device: str = "auto",
    workers: int | None = None,
    prediction_format: PredictionFormat = "csv",
) -> Session:
    """Check everything that can be checked before the work starts, and prepare the folder.

    Args:
        dataset: A benchmark's name, or what to call the graph in the tables.
        method: A method's name.
        seeds: Runs from the seeds 0, 1, ..., seeds - 1.
        split: Which labels may be used; the public split by default.
        settings: Of the method, where they differ from its defaults.
        tables: Where the graph comes from, if it is not a benchmark.
        folder: Where to write; by default ``runs/`` and a name made of all of the above but the seeds.
        device: A torch device or "auto".
        workers: Processes; by default as many as there are cores, or seeds.
        prediction_format: csv or parquet.
    """
    if seeds < 1:
        raise ConfigError(f"At least one seed is needed, not {seeds}.")
    if workers is not None and workers < 1:
        raise ConfigError(f"At least one worker is needed, not {workers}.")
    if prediction_format not in ("csv", "parquet"):
        raise ConfigError(f"Predictions can be written as csv or parquet, not {prediction_format!r}.")
    dataset = dataset if tables else dataset.lower()
    spec = RunSpec(dataset, method, 0, dict(settings or {}), split or SplitSpec(), tables)
    spec.create_method()
    resolve_device(device)
    graph, own = source(spec)
    made = spec.split.make(graph, own)
    if not made.validation.size:
        spec = _without_validation(spec)
    configuration = {
        "lcgnn": __version__,
        "dataset": dataset,
        "graph": graph.checksum,
        "method": method,
        "settings": dataclasses.asdict(spec.create_method()),
        "split": {**dataclasses.asdict(spec.split), "name": made.name, "checksum": made.checksum},
    }
    folder = folder or _default_folder(configuration)
    _prepare(folder, configuration)
    return Session(
        configuration=configuration,
        specs=tuple(dataclasses.replace(spec, seed=seed) for seed in range(seeds)),
        folder=folder,
        device=device,
        workers=min(workers or available_cores(), seeds),
        prediction_format=prediction_format,
        notes=read_tables(tables).notes if tables else (),
    )


def _without_validation(spec: RunSpec) -> RunSpec:
    """The run with the last epoch kept, where no label is there to choose one by."""
    if "selection" not in settings_of(entry(spec.method).method):
        return spec
    if spec.settings.get("selection", "last") != "last":
        raise ConfigError(
            f"Selection by validation {spec.settings['selection']} needs validation labels, and there are none. "
            "Use --selection last, or mark some labels as validation in a split column."
        )
    return dataclasses.replace(spec, settings={**spec.settings, "selection": "last"})


def plan_demo(folder: Path) -> list[Session]:
    """The sessions of ``demo.toml``, each in a folder of its own."""
    content = read_toml(resources.files("lcgnn.experiments").joinpath("demo.toml"))
    return [
        plan(
            item["dataset"],
            item["method"],
            seeds=item["seeds"],
            split=SplitSpec(labels_per_class=item.get("labels_per_class")),
            folder=folder / f"{item['dataset']}-{item['method']}-{item.get('labels_per_class', 20)}",
        )
        for item in content["sessions"]
    ]


def _carry_out(
    folder: Path, device: str, prediction_format: PredictionFormat, spec: RunSpec, progress: ProgressCallback
) -> dict[str, Any]:
    return execute(
        spec,
        folder / f"seed-{spec.seed}",
        device=device,
        prediction_format=prediction_format,
        progress=progress,
    )


def summarize(session: Session, results: list[dict[str, Any]]) -> dict[str, Any]:
    """All results of a session as one plain object, every stage beside what the paper reports for it."""
    results = sorted(results, key=lambda result: result["seed"])
    names = [stage["name"] for stage in results[0]["stages"]]
    stages = [_stage_summary(session, position, results) for position in range(len(names))]
    summary: dict[str, Any] = {
        "dataset": session.configuration["dataset"],
        "method": session.configuration["method"],
        "split": session.configuration["split"],
        "settings": session.configuration["settings"],
        "seeds": [result["seed"] for result in results],
        "test_accuracy": stages[-1]["test_accuracy"],
        "validation_accuracy": stages[-1]["validation_accuracy"],
        "mean": stages[-1]["mean"],
        "std": stages[-1]["std"],
        "seconds": [result["seconds"] for result in results],
        "stages": stages,
        "folder": str(session.folder),
        "lcgnn": session.configuration["lcgnn"],
    }
    if session.tables is not None:
        summary |= _answers(session, results)
    if len(stages) > 1 and stages[0]["mean"] is not None:
        difference = PairedDifference.between(stages[-1]["test_accuracy"], stages[0]["test_accuracy"])
        summary["difference"] = _without_nan(dataclasses.asdict(difference))
    return summary


def _answers(session: Session, results: list[dict[str, Any]]) -> dict[str, Any]:
    """What a summary says of a graph of the user's own: where the predictions are, and how many of each class."""
    paths = [
        session.folder / f"seed-{spec.seed}" / f"predictions.{session.prediction_format}" for spec in session.specs
    ]
    return {
        "predictions": [str(path) for path in paths],
        "classes": results[0]["class_counts"],
        "notes": list(session.notes),
    }


def save_summary(session: Session, summary: Mapping[str, Any]) -> Path:
    """Write the summary into the session's folder."""
    path = session.folder / "summary.json"
    write_json(path, summary)
    return path


def _stage_summary(session: Session, position: int, results: list[dict[str, Any]]) -> dict[str, Any]:
    stages = [result["stages"][position] for result in results]
    test = [stage["test_accuracy"] for stage in stages]
    # Without test labels there is nothing to be measured.
    over_seeds = None if None in test else Summary.of(test)
    method = session.configuration["method"]
    is_last = position == len(results[0]["stages"]) - 1
    reported = _reported(session, method if is_last else entry(method).family)
    return {
        "name": stages[0]["name"],
        "method": method if is_last else entry(method).family,
        "test_accuracy": test,
        "validation_accuracy": [stage["validation_accuracy"] for stage in stages],
        "mean": over_seeds and over_seeds.mean,
        "std": over_seeds and over_seeds.std,
        "paper": None if reported is None else dataclasses.asdict(reported),
    }


def _reported(session: Session, method: str) -> Reported | None:
    """What the paper reports for this, if the session does what the paper did."""
    split = session.configuration["split"]
    if split["kind"] != "public" or session.tables is not None:
        return None
    return paper_results().get((method, session.configuration["dataset"], split["labels_per_class"]))


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


def _without_nan(content: dict[str, Any]) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in content.items()}
