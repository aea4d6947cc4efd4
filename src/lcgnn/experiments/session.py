"""A method on a dataset over several seeds: what ``lcgnn train`` does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from lcgnn import __version__
from lcgnn.artifacts import PredictionFormat
from lcgnn.datasets import load
from lcgnn.device import resolve_device
from lcgnn.errors import ConfigError, OutputError
from lcgnn.evaluation import PairedDifference, Summary
from lcgnn.experiments.board import Board
from lcgnn.experiments.run import ProgressCallback, execute
from lcgnn.experiments.runner import available_cores, run_jobs
from lcgnn.experiments.spec import Reported, RunSpec, SplitSpec, fingerprint, paper_results
from lcgnn.files import read_json, read_toml, write_json
from lcgnn.methods import create, entry


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
    """

    configuration: Mapping[str, Any]
    specs: tuple[RunSpec, ...]
    folder: Path
    device: str
    workers: int
    prediction_format: PredictionFormat

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
    folder: Path | None = None,
    device: str = "auto",
    workers: int | None = None,
    prediction_format: PredictionFormat = "csv",
) -> Session:
    """Check everything that can be checked before the work starts, and prepare the folder.

    Args:
        dataset: A benchmark's name.
        method: A method's name.
        seeds: Runs from the seeds 0, 1, ..., seeds - 1.
        split: Which labels may be used; the public split by default.
        settings: Of the method, where they differ from its defaults.
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
    split = split or SplitSpec()
    dataset = dataset.lower()
    resolved = dataclasses.asdict(create(method, dataset, **(settings or {})))
    resolve_device(device)
    graph, public = load(dataset)
    made = split.make(graph, public)
    specs = [RunSpec(dataset, method, seed, dict(settings or {}), split) for seed in range(seeds)]
    configuration = {
        "lcgnn": __version__,
        "dataset": dataset,
        "graph": graph.checksum,
        "method": method,
        "settings": resolved,
        "split": {**dataclasses.asdict(split), "name": made.name, "checksum": made.checksum},
    }
    folder = folder or _default_folder(configuration)
    _prepare(folder, configuration)
    return Session(
        configuration=configuration,
        specs=tuple(specs),
        folder=folder,
        device=device,
        workers=min(workers or available_cores(), seeds),
        prediction_format=prediction_format,
    )


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
    if len(stages) > 1:
        difference = PairedDifference.between(stages[-1]["test_accuracy"], stages[0]["test_accuracy"])
        summary["difference"] = _without_nan(dataclasses.asdict(difference))
    return summary


def save_summary(session: Session, summary: Mapping[str, Any]) -> Path:
    """Write the summary into the session's folder."""
    path = session.folder / "summary.json"
    write_json(path, summary)
    return path


def _stage_summary(session: Session, position: int, results: list[dict[str, Any]]) -> dict[str, Any]:
    stages = [result["stages"][position] for result in results]
    test = [stage["test_accuracy"] for stage in stages]
    over_seeds = Summary.of(test)
    method = session.configuration["method"]
    is_last = position == len(results[0]["stages"]) - 1
    reported = _reported(session, method if is_last else entry(method).family)
    return {
        "name": stages[0]["name"],
        "method": method if is_last else entry(method).family,
        "test_accuracy": test,
        "validation_accuracy": [stage["validation_accuracy"] for stage in stages],
        "mean": over_seeds.mean,
        "std": over_seeds.std,
        "paper": None if reported is None else dataclasses.asdict(reported),
    }


def _reported(session: Session, method: str) -> Reported | None:
    """What the paper reports for this, if the session does what the paper did."""
    split = session.configuration["split"]
    if split["kind"] != "public":
        return None
    return paper_results().get((method, session.configuration["dataset"], split["labels_per_class"]))


def _default_folder(configuration: Mapping[str, Any]) -> Path:
    identity = fingerprint({key: value for key, value in configuration.items() if key != "lcgnn"})
    return Path("runs") / f"{configuration['dataset']}-{configuration['method']}-{identity[:8]}"


def _prepare(folder: Path, configuration: Mapping[str, Any]) -> None:
    """Make the folder ours, or refuse one that belongs to something else."""
    path = folder / "config.json"
    if path.exists():
        existing = read_json(path)
        if {**existing, "lcgnn": None} != {**configuration, "lcgnn": None}:
            raise OutputError(f"{folder} holds the results of another configuration. Choose another --out folder.")
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already and is not a run folder. Choose another --out folder.")
    write_json(path, configuration)


def _without_nan(content: dict[str, Any]) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in content.items()}
