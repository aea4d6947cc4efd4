"""What can be taken from the page: labels, predictions, the model and a report."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from lcgnn.errors import DataError
from lcgnn.features.cells import defused
from lcgnn.labelling.answers import Answers
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.view import View
from lcgnn.runs.artifacts import save_predictions


@dataclass(frozen=True)
class Export:
    """A file for the user.

    Args:
        file_name: What to call it.
        media_type: What it is.
        content: What is in it.
    """

    file_name: str
    media_type: str
    content: bytes


def exported(loop: Loop, view: View, name: str) -> Export:
    """The export of that name; DataError if there is none, ConfigError if it is too early for it."""
    if name == "labels.csv":
        return Export(name, "text/csv", labels_table(loop).encode())
    if name not in ("predictions.csv", "model", "report.html"):
        raise DataError(f"There is no export {name[:40]!r}.")
    answers = view.trained()
    if name == "predictions.csv":
        return Export(name, "text/csv", _predictions(loop, answers))
    if name == "model":
        return Export("model.safetensors", "application/octet-stream", _model(answers))
    from lcgnn.labelling.report import report_page

    return Export(name, "text/html", report_page(view).encode())


def labels_table(loop: Loop) -> str:
    """Id and label of every labelled node, as a table of its own; formulas are defused as in predictions."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", "label"])
    with loop.lock:
        labels = loop.labels
    for node in labels.nodes:
        writer.writerow([defused(loop.opened.ids[node]), defused(labels.class_names[labels.labels[node]])])
    return file.getvalue()


def _predictions(loop: Loop, answers: Answers) -> bytes:
    """As ``lcgnn train`` writes them, with the labels that are given by now."""
    graph, split = answers.job.labelled(loop.opened.graph)
    with tempfile.TemporaryDirectory(prefix="lcgnn-label.") as folder:
        path = Path(folder) / "predictions.csv"
        save_predictions(path, answers.distribution, graph, replace(split, name="labelled on the page"))
        return path.read_bytes()


def _model(answers: Answers) -> bytes:
    with tempfile.TemporaryDirectory(prefix="lcgnn-label.") as folder:
        path = Path(folder) / "model.safetensors"
        answers.model.save(path)
        return path.read_bytes()
