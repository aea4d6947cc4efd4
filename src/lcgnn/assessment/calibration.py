"""Probabilities that mean what they say: the temperature that held-out labels ask for, and how far off they are.

Held-out labels are given labels that were predicted by models which had not seen them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import ConfigError

# Fewer held-out labels than this do not tell a temperature from chance.
ENOUGH_TO_CALIBRATE = 10
# How much more the share of held-out labels that are right may vary than if they were independent. They are not:
# labels that are close to each other are held out in turn and predicted from each other, right or wrong together.
# Labels that predict each other in pairs vary twice as much. Where something is decided, or said to be the most,
# all of them are taken to be in pairs.
DEPENDENCE = 2.0
# So many labels lie so close that each is in a pair. Of fewer, fewer are: the squared error of the estimate, as a
# multiple of that of independent labels, was 1.5 with less than 40 labels (47 draws of generated and public
# graphs), 1.2 with less than 80 (23) and 1.9 with more (36).
_ALL_IN_PAIRS = 80
# Held-out labels a bin of the calibration error, and bins at most.
_LABELS_PER_BIN, _MOST_BINS = 20, 15
# How often a bound holds.
_SURE = 0.95
# The bounds of a temperature.
_COLDEST, _HOTTEST = 0.05, 20.0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Given labels beside what models that had not seen them predicted.

    Args:
        labels: (L,) their classes.
        distribution: (L, C) the predicted label distributions.
        fold: (L,) the number of the model that made each prediction.
    """

    labels: NDArray[np.int64]
    distribution: NDArray[np.float32]
    fold: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not self.labels.size:
            raise ConfigError("There is no held-out label to go by.")

    @property
    def right(self) -> NDArray[np.bool_]:
        """(L,) whether the most probable class is the label."""
        return np.asarray(self.distribution.argmax(axis=1) == self.labels)

    def log_loss(self, temperature: float = 1.0) -> float:
        """Mean of -ln(probability of the label) at a temperature."""
        logarithms = _log_at_temperature(self.distribution, temperature)
        return float(-logarithms[np.arange(self.labels.size), self.labels].mean())

    def calibration_error(self) -> float:
        """How far confidence and accuracy should lie apart on other nodes, averaged over bins of confidence.

        The gap that is seen in a bin is not the one that other nodes have: the share of so few labels that are
        right is off by chance, and a temperature follows it. So each bin counts with the mean of the absolute
        gap, the gap being normal around what is seen, with the variance of such a share. With ever more labels
        this is the usual expected calibration error.
        """
        confidence = self.distribution.max(axis=1).astype(np.float64)
        bins = min(max(self.labels.size // _LABELS_PER_BIN, 1), _MOST_BINS)
        place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
        counts, hits, sums = (
            np.bincount(place, weights=weights, minlength=bins) for weights in (None, self.right, confidence)
        )
        filled = counts > 0
        counts, hits, sums = counts[filled], hits[filled], sums[filled]
        mean_gaps = _mean_absolute((hits - sums) / counts, _deviation(hits, counts))
        return float(counts @ mean_gaps / self.labels.size)

    def largest_calibration_error(self) -> float:
        """What the calibration error on other nodes stays below, in 95 of 100 cases.

        Of few labels the share that is right is mostly off as a whole: an easy or a hard sample shifts all bins
        the same way. So it is the 95 % bound of a single bin, and never less than the mean over the bins.
        """
        count, hits = self.labels.size, float(self.right.sum())
        gap = abs(hits / count - float(self.distribution.max(axis=1).mean(dtype=np.float64)))
        return max(self.calibration_error(), _bound_of_absolute(gap, float(_deviation(hits, count))))

    def without(self, fold: int) -> HeldOut:
        """All of it but one fold."""
        return self._of(self.fold != fold)

    def only(self, fold: int) -> HeldOut:
        """One fold of it."""
        return self._of(self.fold == fold)

    def _of(self, chosen: NDArray[np.bool_]) -> HeldOut:
        return HeldOut(self.labels[chosen], self.distribution[chosen], self.fold[chosen])


def at_temperature(distribution: NDArray[np.float32], temperature: float) -> NDArray[np.float32]:
    r"""Label distributions with confidence taken away (T > 1) or added (T < 1); the most probable class stays.

    .. math:: p_c \propto \hat Z_c^{1/T}
    """
    if temperature == 1:
        return distribution
    return np.exp(_log_at_temperature(distribution, temperature)).astype(np.float32)


def _log_at_temperature(distribution: NDArray[np.float32], temperature: float) -> NDArray[np.float64]:
    if not 0 < temperature < math.inf:
        raise ConfigError(f"A temperature of {temperature} is not possible; it must be positive and finite.")
    floor = np.finfo(np.float32).tiny
    scaled = np.log(np.maximum(distribution, floor).astype(np.float64)) / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    return np.asarray(scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True)))


def _deviation(hits: Any, counts: Any) -> Any:
    """The standard deviation of shares of labels that depend on each other."""
    # One hit and one miss more, so that a bin where all are right is not taken as certain.
    share = (hits + 1) / (counts + 2)
    return np.sqrt(DEPENDENCE * share * (1 - share) / counts)


def _mean_absolute(mean: NDArray[np.float64], deviation: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the absolute value of normal numbers."""
    from scipy.special import erf

    ratio = mean / deviation
    spread = deviation * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2)
    return np.asarray(spread + mean * erf(ratio / math.sqrt(2)))


def _bound_of_absolute(mean: float, deviation: float) -> float:
    """What the absolute value of a normal number stays below in 95 of 100 cases."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def beyond(bound: float) -> float:
        return float(ndtr((bound - mean) / deviation) - ndtr((-bound - mean) / deviation)) - _SURE

    return float(brentq(beyond, 0.0, mean + 4 * deviation))


def dependence(labels: int) -> float:
    """How much more the share of so many held-out labels that are right varies than if they were independent."""
    return 1 + (DEPENDENCE - 1) * min(labels / _ALL_IN_PAIRS, 1.0)


def fit_temperature(held_out: HeldOut) -> float:
    """The temperature of least log loss on held-out labels, drawn to 1 as much as one label could draw it away.

    The draw (a standard normal prior on ln T) keeps a handful of labels that were all predicted right from making
    every probability 1. It costs nothing at T = 1, so the log loss is never higher than there.
    """
    # Imported here because it takes long, and most callers never calibrate.
    from scipy.optimize import minimize_scalar

    count = held_out.labels.size

    def cost(log_temperature: float) -> float:
        return count * held_out.log_loss(math.exp(log_temperature)) + log_temperature**2 / 2

    found = minimize_scalar(cost, bounds=(math.log(_COLDEST), math.log(_HOTTEST)), method="bounded")
    return math.exp(float(found.x)) if found.fun < cost(0.0) else 1.0


@dataclass(frozen=True)
class Calibration:
    """What temperature makes the probabilities fit the held-out labels, and how well they fit.

    Args:
        temperature: 1 where there are too few labels to find one, or where none helps.
        error_before: Expected calibration error on other nodes without it.
        error_after: With it. Each fold is measured at the temperature of the others, so that no label judges
            a temperature that was fitted to it.
        at_most: What the error with it stays below, in 95 of 100 cases.
    """

    temperature: float
    error_before: float
    error_after: float
    at_most: float

    @classmethod
    def of(cls, held_out: HeldOut) -> Calibration:
        """From held-out labels; a temperature must lower the log loss of labels that it has not seen."""
        before, at_most = held_out.calibration_error(), held_out.largest_calibration_error()
        folds = np.unique(held_out.fold).tolist()
        if held_out.labels.size < ENOUGH_TO_CALIBRATE or len(folds) < 2:
            return cls(1.0, before, before, at_most)
        parts = []
        for fold in folds:
            part, temperature = held_out.only(fold), fit_temperature(held_out.without(fold))
            parts.append(dataclasses.replace(part, distribution=at_temperature(part.distribution, temperature)))
        calibrated = _joined(parts)
        if calibrated.log_loss() >= held_out.log_loss():
            return cls(1.0, before, before, at_most)
        found = fit_temperature(held_out)
        return cls(found, before, calibrated.calibration_error(), calibrated.largest_calibration_error())


def _joined(parts: Sequence[HeldOut]) -> HeldOut:
    names = [item.name for item in dataclasses.fields(HeldOut)]
    return HeldOut(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
