"""How good a stage of a fit is, on every part of the split."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.evaluation import accuracy, accuracy_by_consistency, calibration_error, confusion
from lcgnn.graph import Graph, Split
from lcgnn.methods import Stage
from lcgnn.runs.records import CurvePoint, Fifth, StageRecord

# A record holds the confusion of no more classes than anybody can look at.
_MOST_CLASSES = 50
# A record holds so many epochs of a curve at most.
_MOST_EPOCHS = 100


def measured_stage(stage: Stage, graph: Graph, split: Split, *, with_curve: bool) -> StageRecord:
    """What a stage of a fit achieved on every part of the split, and on the test nodes in detail."""
    distribution, test = stage.label_distribution, split.test
    error = confidence = None
    confused: tuple[tuple[int, ...], ...] | None = None
    fifths: tuple[Fifth, ...] | None = None
    if test.size:
        error = round(calibration_error(distribution, graph.labels, test), 5)
        confidence = round(min(float(distribution[test].max(axis=1).mean()), 1.0), 5)
        fifths = tuple(accuracy_by_consistency(distribution, graph, test))
        if graph.num_classes <= _MOST_CLASSES:
            confused = tuple(tuple(row) for row in confusion(distribution, graph.labels, test).tolist())
    return StageRecord(
        name=stage.name,
        best_epoch=stage.best_epoch,
        epochs=len(stage.history),
        train_accuracy=_accuracy(distribution, graph, split.train),
        validation_accuracy=_accuracy(distribution, graph, split.validation),
        test_accuracy=_accuracy(distribution, graph, test),
        calibration_error=error,
        confusion=confused,
        fifths=fifths,
        curve=_curve(stage.history) if with_curve and len(stage.history) else None,
        note=stage.note or None,
        confidence=confidence,
    )


def _accuracy(distribution: NDArray[np.float32], graph: Graph, nodes: NDArray[np.int64]) -> float | None:
    share = accuracy(distribution, graph.labels, nodes)
    return None if math.isnan(share) else share


def _curve(history: NDArray[np.float64]) -> tuple[CurvePoint, ...]:
    """Epoch, loss, validation loss and validation accuracy at some epochs; None for what was not measured."""
    epochs = np.unique(np.linspace(1, len(history), min(len(history), _MOST_EPOCHS)).round().astype(int))
    rows = [
        [None if math.isnan(value) else round(value, 5) for value in history[epoch - 1].tolist()]
        for epoch in epochs
    ]
    return tuple(CurvePoint(int(epoch), *row) for epoch, row in zip(epochs, rows, strict=True))
