"""A fitted classifier on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lcgnn.assessment.trust import Assessment
from lcgnn.compute.tensor_files import read_tensors, write_tensors
from lcgnn.errors import LCGNNError, OutputError
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import Scaling
from lcgnn.methods import recorded
from lcgnn.runs.fields import Place
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.records.assessment import read_assessment

FORMAT = "lcgnn classifier 2"
_PARAMETER = "model."


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a classifier has learnt.

    Args:
        model: Classifies rows once they are features of a graph.
        encoding: Makes features of rows: by column for a data frame, by scale for a matrix of numbers.
        classes: (C,) in order.
        label_distributions: (N, C) of the rows that it was fitted to.
        answers: (N,) their classes by number, as given or as predicted.
        rows: A checksum of their features; None if no edges joined them.
        notes: What was made of them, a sentence each.
        num_columns: Of X.
        column_names: Of X, if it was a data frame.
        expected: How far to trust the predictions, where that was estimated.
        edges: A checksum of the edges that joined the rows; None if there were none, and in older files.
    """

    model: TrainedModel
    encoding: Encoding | Scaling
    classes: NDArray[Any]
    label_distributions: NDArray[np.float32]
    answers: NDArray[np.int64]
    rows: str | None
    notes: tuple[str, ...]
    num_columns: int
    column_names: tuple[str, ...] | None
    expected: Assessment | None = None
    edges: str | None = None


def save_fitted(path: Path, fitted: Fitted, parameters: Mapping[str, Any]) -> None:
    """Write what was fitted and the parameters of the classifier that it belongs to."""
    model = fitted.model
    tensors = {f"{_PARAMETER}{name}": tensor for name, tensor in model.tensors.items()}
    tensors["label_distributions"] = torch.tensor(fitted.label_distributions)
    tensors["answers"] = torch.tensor(fitted.answers)
    description = {
        "format": FORMAT,
        "parameters": dict(parameters),
        "method": model.name,
        "settings": model.method.plain_settings(),
        "num_features": model.num_features,
        "encoding": {"table" if isinstance(fitted.encoding, Encoding) else "numbers": fitted.encoding.to_json()},
        "classes": {"type": fitted.classes.dtype.str, "values": fitted.classes.tolist()},
        "temperature": model.temperature,
        "expected": fitted.expected and fitted.expected.to_json(),
        "rows": fitted.rows,
        "edges": fitted.edges,
        "notes": list(fitted.notes),
        "num_columns": fitted.num_columns,
        "column_names": fitted.column_names and list(fitted.column_names),
    }
    try:
        write_tensors(path, tensors, description)
    except TypeError as error:
        raise OutputError(f"{path}: a parameter of the classifier cannot be written as JSON ({error}).") from error


def load_fitted(path: Path) -> tuple[Fitted, dict[str, Any]]:
    """What `save_fitted` wrote; OutputError if the file is anything else."""
    tensors, content = read_tensors(path)
    if content.get("format") != FORMAT:
        raise OutputError(f"{path} is not a classifier of this version of lcgnn. Fit it again.")
    try:
        return _fitted(tensors, content), dict(content["parameters"])
    except (LCGNNError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise OutputError(f"{path} cannot be used: {error} Fit the classifier again.") from error


def _fitted(tensors: Mapping[str, torch.Tensor], content: Mapping[str, Any]) -> Fitted:
    classes = np.array(content["classes"]["values"], dtype=content["classes"]["type"])
    ((kind, encoding),) = content["encoding"].items()
    fitted = {
        name.removeprefix(_PARAMETER): value for name, value in tensors.items() if name.startswith(_PARAMETER)
    }
    model = TrainedModel(
        content["method"],
        recorded(content["method"], content["settings"]),
        tuple(str(name) for name in classes),
        content["num_features"],
        fitted,
        content["temperature"],
    )
    distributions, answers = tensors["label_distributions"].numpy(), tensors["answers"].numpy()
    _check_answers(classes, distributions, answers)
    expected = content["expected"]
    return Fitted(
        model,
        Encoding.from_json(encoding) if kind == "table" else Scaling.from_json(encoding),
        classes,
        distributions,
        answers,
        content["rows"],
        tuple(content["notes"]),
        content["num_columns"],
        content["column_names"] and tuple(content["column_names"]),
        None if expected is None else read_assessment(expected, Place("expected")),
        content.get("edges"),
    )


def _check_answers(classes: NDArray[Any], distributions: NDArray[Any], answers: NDArray[Any]) -> None:
    fits = classes.ndim == 1 and distributions.shape == (answers.size, classes.size) and answers.ndim == 1
    known = np.isin(answers, np.arange(classes.size)).all()
    if not fits or answers.dtype.kind != "i" or not known:
        raise ValueError("its answers are not for its classes.")
