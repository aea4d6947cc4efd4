"""How far to trust predictions: their expected accuracy, and probabilities that mean what they say.

Everything goes by held-out labels: given labels that were predicted by models which had not seen them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.evaluation import calibration_error
from lcgnn.errors import ConfigError

# Fewer held-out labels than this do not tell a temperature from chance.
_ENOUGH_TO_CALIBRATE = 20
# Fewer held-out labels of a class than this say next to nothing of it.
_ENOUGH_OF_A_CLASS = 10
# How much more the share of held-out labels that are right varies than it would if they were independent. They are
# not: labels that are close to each other are held out in turn and predicted from each other, right or wrong
# together. Labels that predict each other in pairs vary twice as much, and about so much was measured on generated
# graphs (benchmarks/results/trust.md).
_DEPENDENCE = 2.0
# Held-out labels a bin of the calibration error, and bins at most.
_LABELS_PER_BIN, _MOST_BINS = 20, 15
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
        """Expected calibration error over as many bins of confidence as so many labels can fill."""
        bins = min(max(self.labels.size // _LABELS_PER_BIN, 1), _MOST_BINS)
        return calibration_error(self.distribution, self.labels, np.arange(self.labels.size), bins)

    def without(self, fold: int) -> HeldOut:
        """All of it but one fold."""
        return self._of(self.fold != fold)

    def only(self, fold: int) -> HeldOut:
        """One fold of it."""
        return self._of(self.fold == fold)

    def _of(self, chosen: NDArray[np.bool_]) -> HeldOut:
        return HeldOut(self.labels[chosen], self.distribution[chosen], self.fold[chosen])


@dataclass(frozen=True)
class Expected:
    """The share of predicted labels that should be right, with its 95 % interval.

    Args:
        accuracy: The share of held-out labels that were predicted right.
        low: Lower end of the interval: Wilson's, for half as many labels, because they depend on each other.
        high: Upper end.
        labels: How many were held out.
    """

    accuracy: float
    low: float
    high: float
    labels: int

    @classmethod
    def of(cls, right: NDArray[np.bool_]) -> Expected:
        """From the held-out labels, each predicted right or not."""
        count, hits = int(right.size), int(right.sum())
        return cls(hits / count, *wilson_interval(hits / _DEPENDENCE, count / _DEPENDENCE), count)


def wilson_interval(hits: float, count: float, deviations: float = 1.959964) -> tuple[float, float]:
    """The interval of a share, seen as ``hits`` of ``count`` independent ones; 95 % by default (Wilson 1927).

    Unlike the normal approximation it stays within 0 and 1 and has a width when all or none were hits.
    """
    if not 0 <= hits <= count or not count:
        raise ConfigError(f"{hits} of {count} is not a share.")
    share, squared = hits / count, deviations**2
    middle = (share + squared / (2 * count)) / (1 + squared / count)
    reach = math.sqrt(share * (1 - share) / count + squared / (4 * count**2)) * deviations / (1 + squared / count)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


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

    bounds = (math.log(_COLDEST), math.log(_HOTTEST))
    found = minimize_scalar(cost, bounds=bounds, method="bounded")
    return math.exp(float(found.x)) if found.fun < cost(0.0) else 1.0


@dataclass(frozen=True)
class Calibration:
    """What temperature makes the probabilities fit the held-out labels, and how well they fit.

    Args:
        temperature: 1 where there are too few labels to find one.
        error_before: Expected calibration error without it.
        error_after: With it. Each fold is measured at the temperature of the others, so that no label judges
            itself.
    """

    temperature: float
    error_before: float
    error_after: float

    @classmethod
    def of(cls, held_out: HeldOut) -> Calibration:
        before = held_out.calibration_error()
        folds = np.unique(held_out.fold).tolist()
        if held_out.labels.size < _ENOUGH_TO_CALIBRATE or len(folds) < 2:
            return cls(1.0, before, before)
        parts = []
        for fold in folds:
            part, temperature = held_out.only(fold), fit_temperature(held_out.without(fold))
            parts.append(dataclasses.replace(part, distribution=at_temperature(part.distribution, temperature)))
        return cls(fit_temperature(held_out), before, _joined(parts).calibration_error())


def _joined(parts: Sequence[HeldOut]) -> HeldOut:
    names = [item.name for item in dataclasses.fields(HeldOut)]
    return HeldOut(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class Assessment:
    """How far the predictions on a graph can be trusted, by cross-validation over its given labels.

    Args:
        folds: Models that were trained for it.
        of_folds: Parts that the given labels were divided into; more than ``folds`` if some were enough.
        given: Labels that were divided.
        overall: All classes together.
        by_class: For every class the share of its nodes that should get its label; None for too few labels.
        untested: Classes of which no label was held out.
        calibration: Of the probabilities.
    """

    folds: int
    of_folds: int
    given: int
    overall: Expected
    by_class: tuple[Expected | None, ...]
    untested: int
    calibration: Calibration

    @classmethod
    def of(cls, held_out: HeldOut, *, given: int, of_folds: int) -> Assessment:
        num_classes = held_out.distribution.shape[1]
        return cls(
            folds=int(np.unique(held_out.fold).size),
            of_folds=of_folds,
            given=given,
            overall=Expected.of(held_out.right),
            by_class=tuple(_of_class(held_out, label) for label in range(num_classes)),
            untested=num_classes - int(np.unique(held_out.labels).size),
            calibration=Calibration.of(held_out),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, with the same in words."""
        content = dataclasses.asdict(self)
        return {**content, "by_class": list(content["by_class"]), "words": list(self.sentences())}

    def sentences(self) -> tuple[str, ...]:
        """What to expect, in plain words."""
        said = (self._accuracy_in_words(), self._calibration_in_words())
        if not self.untested:
            return said
        which = "1 class" if self.untested == 1 else f"{self.untested:,} classes"
        return (*said, f"Of {which} no label could be held out; how far to trust those predictions is not known.")

    def _accuracy_in_words(self) -> str:
        expected = self.overall
        which = (
            f"{expected.labels:,}" if expected.labels == self.given else f"{expected.labels:,} of {self.given:,}"
        )
        folds = (
            f"{self.of_folds}-fold" if self.folds == self.of_folds else f"{self.folds} of {self.of_folds} folds of"
        )
        return (
            f"Of 100 predicted labels about {100 * expected.accuracy:.0f} should be right (between "
            f"{100 * expected.low:.0f} and {100 * expected.high:.0f}; estimated from {which} given labels by "
            f"{folds} cross-validation, assuming that they are a fair sample of all nodes)."
        )

    def _calibration_in_words(self) -> str:
        calibration = self.calibration
        before, after = calibration.error_before, calibration.error_after
        if self.overall.labels < _ENOUGH_TO_CALIBRATE:
            return (
                f"Probabilities are as the model gives them: {self.overall.labels} held-out labels are too few to "
                "calibrate by."
            )
        return (
            f"Probabilities are calibrated on these labels (temperature {calibration.temperature:.2f}): they "
            f"were off by {_points(before)} on average, now by {_points(after)}."
        )


def _of_class(held_out: HeldOut, label: int) -> Expected | None:
    right = held_out.right[held_out.labels == label]
    return Expected.of(right) if right.size >= _ENOUGH_OF_A_CLASS else None


def _points(share: float) -> str:
    points = round(100 * share)
    return (
        "less than a percentage point" if not points else f"about {points} percentage point{'s' * (points != 1)}"
    )
