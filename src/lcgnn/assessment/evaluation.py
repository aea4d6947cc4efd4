"""How good a label distribution is, and whether one method is really better than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import ConfigError
from lcgnn.graph import Graph

# The largest class has so many times the nodes of the smallest.
_UNEQUAL = 2


def accuracy(
    label_distribution: NDArray[np.float32], labels: NDArray[np.int64], nodes: NDArray[np.int64]
) -> float:
    """The share of the nodes whose most probable class is their label; NaN for no nodes."""
    if not nodes.size:
        return float("nan")
    return float(np.mean(label_distribution[nodes].argmax(axis=1) == labels[nodes]))


def balanced_accuracy(hits: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    """The mean over classes of the share of their nodes that are classified correctly; NaN for no nodes.

    Args:
        hits: (C,) nodes of every class that are classified correctly.
        counts: (C,) nodes of every class; one without any does not count.
    """
    there = counts > 0
    return float(np.mean(hits[there] / counts[there])) if there.any() else float("nan")


def are_unequal(counts: NDArray[np.int64]) -> bool:
    """Whether the classes that have nodes differ so much in size that accuracy speaks mostly of the large ones."""
    there = counts[counts > 0]
    return bool(there.size > 1 and there.max() >= _UNEQUAL * there.min())


def confusion(
    label_distribution: NDArray[np.float32], labels: NDArray[np.int64], nodes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(C, C) how many of the nodes of class i (row) are taken for class j (column)."""
    num_classes = label_distribution.shape[1]
    cells = labels[nodes] * num_classes + label_distribution[nodes].argmax(axis=1)
    return np.bincount(cells, minlength=num_classes**2).reshape(num_classes, num_classes)


@dataclass(frozen=True)
class ClassCount:
    """How many nodes are given a class, and how many others are predicted to be of it."""

    name: str
    given: int
    predicted: int


def class_counts(
    label_distribution: NDArray[np.float32], graph: Graph, given: NDArray[np.int64]
) -> tuple[ClassCount, ...]:
    """Every class with the number of nodes that are given it and that are predicted to be of it."""
    answers = np.delete(label_distribution.argmax(axis=1), given)
    num_given, num_predicted = (
        np.bincount(labels, minlength=graph.num_classes) for labels in (graph.labels[given], answers)
    )
    return tuple(
        ClassCount(name, int(num_given[label]), int(num_predicted[label]))
        for label, name in enumerate(graph.class_names)
    )


def calibration_error(
    label_distribution: NDArray[np.float32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
    bins: int = 15,
) -> float:
    """Expected calibration error: how far confidence and accuracy lie apart, averaged over bins of confidence."""
    if not nodes.size:
        return float("nan")
    confidence = label_distribution[nodes].max(axis=1).astype(np.float64)
    correct = label_distribution[nodes].argmax(axis=1) == labels[nodes]
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(place, weights=correct, minlength=bins) - np.bincount(
        place, weights=confidence, minlength=bins
    )
    return float(np.abs(gaps).sum() / nodes.size)


@dataclass(frozen=True)
class Fifth:
    """Nodes whose label consistency lies between two bounds, and how many of them are classified correctly."""

    low: float
    high: float
    nodes: int
    correct: int

    @property
    def accuracy(self) -> float | None:
        """The share of the nodes that are classified correctly; None for no nodes."""
        return self.correct / self.nodes if self.nodes else None


def accuracy_by_consistency(
    label_distribution: NDArray[np.float32], graph: Graph, nodes: NDArray[np.int64]
) -> list[Fifth]:
    """Figure 1 of the paper: the nodes in fifths of label consistency, without the isolated ones."""
    bins = 5
    consistency = graph.label_consistency[nodes]
    nodes, consistency = nodes[~np.isnan(consistency)], consistency[~np.isnan(consistency)]
    correct = label_distribution[nodes].argmax(axis=1) == graph.labels[nodes]
    place = np.minimum((consistency * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    hits = np.bincount(place, weights=correct, minlength=bins)
    return [Fifth(i / bins, (i + 1) / bins, int(counts[i]), int(hits[i])) for i in range(bins)]


@dataclass(frozen=True)
class Summary:
    """Mean and spread of a quantity over seeds.

    Args:
        mean: Over the seeds.
        std: Sample standard deviation (n - 1); 0 for a single seed.
        count: How many seeds.
    """

    mean: float
    std: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        array = np.asarray(values, dtype=np.float64)
        if not array.size:
            raise ConfigError("There is nothing to summarise: no seed has a result.")
        std = float(array.std(ddof=1)) if array.size > 1 else 0.0
        return cls(float(array.mean()), std, int(array.size))


def bootstrap_interval(values: Sequence[float], resamples: int = 10_000) -> tuple[float, float]:
    """A 95 % interval of the mean by resampling the values (percentile bootstrap), the same at every call.

    A single value has no spread to resample: both ends are the value itself.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        raise ConfigError("There is nothing to resample: no seed has a result.")
    drawn = np.random.default_rng(0).integers(array.size, size=(resamples, array.size))
    low, high = np.percentile(array[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class PairedDifference:
    """How much better one method is than another on the same seeds, and how sure that is.

    Args:
        mean: Of the differences.
        low: Lower end of the 95 % confidence interval of the mean (Student's t).
        high: Upper end.
        p_value: Of the two-sided paired t-test; NaN for fewer than two seeds.
        wins: Seeds on which the first is strictly better.
        count: Seeds.
    """

    mean: float
    low: float
    high: float
    p_value: float
    wins: int
    count: int

    @classmethod
    def between(cls, better: Sequence[float], worse: Sequence[float]) -> PairedDifference:
        """Compare two lists of results, paired by position."""
        first, second = np.asarray(better, dtype=np.float64), np.asarray(worse, dtype=np.float64)
        if first.shape != second.shape or not first.size:
            raise ConfigError("A paired comparison needs the same seeds on both sides.")
        difference = first - second
        mean, wins, count = float(difference.mean()), int((difference > 0).sum()), int(difference.size)
        if count < 2:
            return cls(mean, float("nan"), float("nan"), float("nan"), wins, count)
        error = float(difference.std(ddof=1) / np.sqrt(count))
        if error == 0:
            return cls(mean, mean, mean, 1.0 if mean == 0 else 0.0, wins, count)
        # Imported here because it takes long, and most callers never compare.
        from scipy.stats import t as student

        reach = float(student.ppf(0.975, count - 1)) * error
        p_value = 2 * float(student.sf(abs(mean) / error, count - 1))
        return cls(mean, mean - reach, mean + reach, p_value, wins, count)
