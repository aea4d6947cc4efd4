"""A fit on disk: its curves and its predictions."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from lcgnn.files import written_atomically
from lcgnn.graph import Graph, Split
from lcgnn.methods import Fit

PredictionFormat = Literal["csv", "parquet"]
Distribution: TypeAlias = NDArray[np.float32]

# With more classes, predictions have the most probable one only.
_MOST_CLASS_COLUMNS = 50


def save_metrics(path: Path, fit: Fit) -> None:
    """Write one line an epoch: phase, epoch, training loss, validation loss and accuracy."""
    with written_atomically(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["phase", "epoch", "training_loss", "validation_loss", "validation_accuracy"])
        for stage in fit.stages:
            for epoch, measured in enumerate(stage.history.tolist(), start=1):
                values = ["" if np.isnan(value) else f"{value:.6g}" for value in measured]
                writer.writerow([stage.name, epoch, *values])


def save_predictions(path: Path, distribution: Distribution, graph: Graph, split: Split) -> None:
    """Write a line a node: name, predicted class, its probability, use in the split, all class probabilities.

    The format follows the file's ending, .csv or .parquet.
    """
    _write_table(path, _predictions(distribution, graph, split))


def save_answers(path: Path, distribution: Distribution, graph: Graph, given: NDArray[np.int64]) -> None:
    """Write a line a node of the user's own graph: id, label, its probability, whether it was given or predicted.

    The label of a node in ``given`` stays as it is. A further column for each class has its
    probability, unless there are very many. The format follows the file's ending, .csv or .parquet; in CSV, a cell
    that a spreadsheet would take as a formula gets an apostrophe in front.
    """
    table = _answers(distribution, graph, given)
    _write_table(path, table if path.suffix == ".parquet" else _defused(table))


def _write_table(path: Path, table: pa.Table) -> None:
    with written_atomically(path) as temporary:
        if path.suffix == ".parquet":
            parquet.write_table(table, temporary)
        else:
            arrow_csv.write_csv(table, temporary)


def _answers(distribution: Distribution, graph: Graph, given: NDArray[np.int64]) -> pa.Table:
    answers = distribution.argmax(axis=1)
    answers[given] = graph.labels[given]
    origin = np.full(graph.num_nodes, "predicted", dtype="<U9")
    origin[given] = "given"
    nodes = np.arange(graph.num_nodes) if graph.node_names is None else graph.node_names
    names = ["id", "label", "probability", "origin"]
    columns = [
        pa.array(nodes.astype(object) if nodes.dtype.kind == "U" else nodes),
        pa.DictionaryArray.from_arrays(pa.array(answers), pa.array(graph.class_names)).cast(pa.string()),
        pa.array(_rounded(distribution[np.arange(graph.num_nodes), answers])),
        pa.array(origin.astype(object)),
    ]
    if graph.num_classes <= _MOST_CLASS_COLUMNS:
        names += [f"p({name})" for name in graph.class_names]
        columns += [pa.array(_rounded(distribution[:, label])) for label in range(graph.num_classes)]
    return pa.table(columns, names=names)


def _rounded(values: Any) -> Any:
    # In double precision, so that the six digits are all that is written.
    return np.round(values.astype(np.float64), 6)


def _defused(table: pa.Table) -> pa.Table:
    """The table with an apostrophe before every cell that a spreadsheet would take as a formula."""
    columns = []
    for column in table.columns:
        if pa.types.is_string(column.type):
            risky = pc.match_substring_regex(column, r"^[=+\-@\t\r]")
            column = pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def _predictions(distribution: Distribution, graph: Graph, split: Split) -> pa.Table:
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
