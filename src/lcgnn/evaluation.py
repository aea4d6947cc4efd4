"""How good a label distribution is, and whether one method is really better than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import ConfigError


def accuracy(
    label_distribution: NDArray[np.float32], labels: NDArray[np.int64], nodes: NDArray[np.int64]
) -> float:
    """The share of the nodes whose most probable class is their label; NaN for no nodes."""
    if not nodes.size:
        return float("nan")
    return float(np.mean(label_distribution[nodes].argmax(axis=1) == labels[nodes]))


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
