"""One run: load, split, fit, measure, write down. It continues where it was killed, and is done only once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lcgnn.artifacts import PredictionFormat, save_metrics, save_model, save_predictions
from lcgnn.checkpoint import CheckpointFile
from lcgnn.datasets import load
from lcgnn.errors import OutputError
from lcgnn.evaluation import accuracy
from lcgnn.experiments.spec import RunSpec, fingerprint
from lcgnn.files import read_json, write_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit, create
from lcgnn.training import Progress

CHECKPOINT_SECONDS = 15.0


def execute(
    spec: RunSpec,
    folder: Path,
    *,
    device: str = "auto",
    prediction_format: PredictionFormat = "csv",
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Carry out a run in its folder and return its result; a run that has its result is not repeated.

    The folder gets ``result.json``, ``metrics.csv``, ``model.safetensors`` and ``predictions.csv`` (or
    ``.parquet``). The result is written last: if it is there, so is the rest.
    """
    graph, public = load(spec.dataset)
    split = spec.split.make(graph, public)
    method = create(spec.method, spec.dataset, **spec.settings)
    settings = dataclasses.asdict(method)
    identity = fingerprint(
        {
            "method": spec.method,
            "settings": settings,
            "graph": graph.checksum,
            "split": split.checksum,
            "seed": spec.seed,
        }
    )
    finished = find_result(folder, identity)
    if finished:
        return finished
    checkpoint = CheckpointFile(folder / "checkpoint.safetensors", identity, every=CHECKPOINT_SECONDS)
    fit = method.fit(graph, split, spec.seed, Context(device, checkpoint, progress))
    result = {
        "run": identity,
        "seed": spec.seed,
        "seconds": round(fit.seconds, 3),
        "settings": settings,
        "stages": [
            {
                "name": stage.name,
                "best_epoch": stage.best_epoch,
                "epochs": len(stage.history),
                **_accuracies(stage.label_distribution, graph, split),
            }
            for stage in fit.stages
        ],
    }
    _write(folder, spec, fit, graph, split, result, prediction_format)
    checkpoint.delete()
    return result


def find_result(folder: Path, identity: str | None = None) -> dict[str, Any] | None:
    """The result in a run's folder, or None if there is none or it belongs to another run or is damaged."""
    try:
        result: dict[str, Any] = read_json(folder / "result.json")
    except OutputError:
        return None
    return result if identity is None or result.get("run") == identity else None


def _accuracies(distribution: Any, graph: Graph, split: Split) -> dict[str, float | None]:
    measured = {
        f"{part}_accuracy": accuracy(distribution, graph.labels, getattr(split, part))
        for part in ("train", "validation", "test")
    }
    return {name: None if math.isnan(value) else value for name, value in measured.items()}


def _write(
    folder: Path,
    spec: RunSpec,
    fit: Fit,
    graph: Graph,
    split: Split,
    result: dict[str, Any],
    prediction_format: PredictionFormat,
) -> None:
    description = {
        **spec.configuration(),
        "seed": spec.seed,
        "settings": result["settings"],
        "classes": graph.class_names,
        "num_features": graph.num_features,
    }
    save_model(folder / "model.safetensors", fit, description)
    save_metrics(folder / "metrics.csv", fit)
    save_predictions(folder / f"predictions.{prediction_format}", fit, graph, split)
    write_json(folder / "result.json", result)
