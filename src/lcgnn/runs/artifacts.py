"""A fit on disk: its curves and its predictions."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from lcgnn.features.cells import FORMULAS
from lcgnn.files import for_arrow, written_atomically
from lcgnn.graph import Graph, Split
from lcgnn.mapping import blocks, let_go
from lcgnn.methods import Fit
from lcgnn.outputs import OutputKind, beginning
from lcgnn.sources.parts.part import USES, split_uses

PredictionFormat = Literal["csv", "parquet"]
Distribution: TypeAlias = NDArray[np.float32]

# The columns that predictions begin with.
_FIRST_COLUMNS = ("id", "label", "probability", "origin")

# With more classes, predictions have the most probable one only.
_MOST_CLASS_COLUMNS = 50
# Nodes whose lines are in memory at a time.
_ROWS = 2**16


def _are_predictions(path: Path) -> bool:
    """Whether a file has the columns of predictions, and is none of a run's own."""
    if (path.parent / "result.json").is_file():
        return False
    if path.suffix.lower() == ".parquet":
        return tuple(parquet.read_schema(for_arrow(path)).names[: len(_FIRST_COLUMNS)]) == _FIRST_COLUMNS
    return beginning(path).startswith(",".join(f'"{name}"' for name in _FIRST_COLUMNS).encode())


PREDICTIONS = OutputKind("predictions", (".csv", ".parquet"), _are_predictions)


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
    """Write a line a node, of a benchmark or of any other graph.

    The columns are ``id``, the node's name or number; ``label``, the given one where it was trained on, else the
    predicted one; ``probability`` of that label; ``origin``, "given" or "predicted"; where the split has
    validation or test nodes, ``part``, "train", "validation", "test" or "other"; and for each class its
    probability, unless there are very many. The format follows the file's ending, .csv or .parquet; in CSV, a
    cell that a spreadsheet would take as a formula gets an apostrophe in front.

    Args:
        path: Of the file.
        distribution: (N, C) what is predicted.
        graph: Whose nodes they are.
        split: Its training nodes are those whose label is given.
    """
    uses = split_uses(split, graph.num_nodes)
    tables = (_predictions(distribution[rows], graph, split, uses, rows) for rows in _blocks(distribution))
    with written_atomically(path) as temporary:
        if path.suffix == ".parquet":
            _write_blocks(parquet.ParquetWriter, temporary, tables)
        else:
            _write_blocks(arrow_csv.CSVWriter, temporary, map(_defused_table, tables))


def _blocks(distribution: Distribution) -> Iterator[slice]:
    """The rows that are written at a time; no others of a distribution on disk are in memory."""
    for rows in blocks(len(distribution), _ROWS):
        yield rows
        let_go(distribution)


def _write_blocks(open_writer: Callable[..., Any], path: Path, tables: Iterator[pa.Table]) -> None:
    """Write tables of the same columns one after the other; what is written is never whole in memory."""
    first = next(tables)
    with open_writer(for_arrow(path), first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def has_class_columns(graph: Graph) -> bool:
    """Whether predictions of the graph are written with the probability of every class."""
    return graph.num_classes <= _MOST_CLASS_COLUMNS


def _predictions(
    distribution: Distribution, graph: Graph, split: Split, uses: NDArray[np.int8], rows: slice
) -> pa.Table:
    """The table of some nodes, given their distribution (n, C) and what every node of the graph is used for."""
    own, answers = uses[rows], distribution.argmax(axis=1)
    given = own == USES.index("train")
    answers[given] = graph.labels[rows][given]
    nodes = np.arange(rows.start, rows.stop) if graph.node_names is None else graph.node_names[rows]
    columns = {
        "id": pa.array(nodes.astype(object) if nodes.dtype.kind == "U" else nodes),
        "label": pa.DictionaryArray.from_arrays(pa.array(answers), pa.array(graph.class_names)).cast(pa.string()),
        "probability": pa.array(_rounded(distribution[np.arange(answers.size), answers])),
        "origin": pa.array(np.where(given, "given", "predicted").astype(object)),
    }
    if split.validation.size or split.test.size:
        columns["part"] = pa.array(np.array(USES, dtype=object)[own])
    if has_class_columns(graph):
        for label, name in enumerate(graph.class_names):
            columns[f"p({name})"] = pa.array(_rounded(distribution[:, label]))
    return pa.table(columns)


def _rounded(values: Any) -> Any:
    # In double precision, so that the six digits are all that is written.
    return np.round(values.astype(np.float64), 6)


def _defused_table(table: pa.Table) -> pa.Table:
    """The table with every cell defused."""
    columns = []
    for column in table.columns:
        if pa.types.is_string(column.type):
            risky = pc.match_substring_regex(column, f"^[{re.escape(FORMULAS)}]")
            column = pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
        columns.append(column)
    return pa.table(columns, names=table.column_names)
