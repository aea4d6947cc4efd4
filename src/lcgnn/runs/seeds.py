"""What several seeds of a run predict together: the mean of their models, which is the run's answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from lcgnn.assessment.evaluation import ClassCount, class_counts
from lcgnn.files import for_arrow
from lcgnn.methods import is_registered
from lcgnn.runs.artifacts import Distribution, has_class_columns, save_predictions
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import mean_distribution
from lcgnn.runs.run import MODEL_FILE
from lcgnn.runs.session import Session


@dataclass(frozen=True)
class Together:
    """The answer of several seeds.

    Args:
        path: The file with it.
        classes: How many nodes are given each class, and how many others are predicted to be of it.
    """

    path: Path
    classes: tuple[ClassCount, ...]


def write_together(session: Session) -> Together | None:
    """Write the mean of what the seeds of a session predict, once all of them are done.

    Returns:
        None for a single seed, whose answer it would be, and where predictions that no model can repeat were
        written without the probabilities of all classes.
    """
    if len(session.runs) == 1:
        return None
    distribution = _mean(session)
    if distribution is None:
        return None
    run = session.runs[0]
    save_predictions(session.mean_prediction, distribution, run.graph, run.split)
    return Together(session.mean_prediction, class_counts(distribution, run.graph, run.split.train))


def _mean(session: Session) -> Distribution | None:
    """By the models, as ``lcgnn predict`` takes it, or where they cannot be used so, by what was written."""
    run = session.runs[0]
    in_one_piece = session.manner.parts == 1 and session.source.parts is None
    if run.method.inductive and is_registered(run.spec.method) and in_one_piece:
        models = [TrainedModel.load(path.with_name(MODEL_FILE)) for path in session.predictions]
        return mean_distribution(models, run.graph, session.manner.device)
    if not has_class_columns(run.graph):
        return None
    written = [_read(path, run.graph.num_classes) for path in session.predictions]
    return np.asarray(np.mean(written, axis=0), dtype=np.float32)


def _read(path: Path, num_classes: int) -> Distribution:
    """(N, C) the probabilities in a file of predictions; they are its last columns."""
    read = parquet.read_table if path.suffix == ".parquet" else arrow_csv.read_csv
    table = read(for_arrow(path))
    columns = [column.to_numpy() for column in table.columns[-num_classes:]]
    return np.stack(columns, axis=1).astype(np.float32)
