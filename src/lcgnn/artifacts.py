"""A fit on disk: the model, its curves and its predictions. Nothing here is ever a pickle."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from safetensors.torch import save_file

from lcgnn.files import written_atomically
from lcgnn.graph import Graph, Split
from lcgnn.methods import Fit

PredictionFormat = Literal["csv", "parquet"]


def save_model(path: Path, fit: Fit, description: Mapping[str, Any]) -> None:
    """Write the fitted parameters as safetensors, with a description of what they belong to in the header."""
    tensors = {name: tensor.contiguous() for name, tensor in fit.tensors.items()}
    with written_atomically(path) as temporary:
        save_file(tensors, temporary, metadata={"lcgnn": json.dumps(description)})


def save_metrics(path: Path, fit: Fit) -> None:
    """Write one line an epoch: phase, epoch, training loss, validation loss and accuracy."""
    with written_atomically(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["phase", "epoch", "training_loss", "validation_loss", "validation_accuracy"])
        for stage in fit.stages:
            for epoch, measured in enumerate(stage.history.tolist(), start=1):
                values = ["" if np.isnan(value) else f"{value:.6g}" for value in measured]
                writer.writerow([stage.name, epoch, *values])


def save_predictions(path: Path, fit: Fit, graph: Graph, split: Split) -> None:
    """Write a line a node: name, predicted class, its probability, use in the split, all class probabilities.

    The format follows the file's ending, .csv or .parquet.
    """
    table = _predictions(fit, graph, split)
    with written_atomically(path) as temporary:
        if path.suffix == ".parquet":
            parquet.write_table(table, temporary)
        else:
            arrow_csv.write_csv(table, temporary)


def _predictions(fit: Fit, graph: Graph, split: Split) -> pa.Table:
    distribution = fit.label_distribution
    classes = np.array(graph.class_names)
    predicted = distribution.argmax(axis=1)
    part = np.full(graph.num_nodes, "other", dtype="<U10")
    for name in ("train", "validation", "test"):
        part[getattr(split, name)] = name
    nodes = np.arange(graph.num_nodes) if graph.node_names is None else graph.node_names
    columns = {
        "node": pa.array(nodes),
        "predicted": pa.array(classes[predicted]),
        "probability": pa.array(np.round(distribution.max(axis=1), 6)),
        "part": pa.array(part),
    }
    for position, name in enumerate(graph.class_names):
        columns[f"p({name})"] = pa.array(np.round(distribution[:, position], 6))
    return pa.table(columns)
