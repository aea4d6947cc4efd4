"""How far to trust predictions: how many should be right, whether that says anything, and how sure they are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import DEPENDENCE, Calibration, HeldOut, dependence
from lcgnn.assessment.evaluation import ClassCount, are_unequal, balanced_accuracy
from lcgnn.assessment.trust_words import calibration_in_words, right_in_words
from lcgnn.errors import ConfigError

# Fewer held-out labels of a class than this say next to nothing of it.
_ENOUGH_OF_A_CLASS = 10
# Standard deviations of a normal number to either side that hold 95 %.
_DEVIATIONS = 1.959964


@dataclass(frozen=True)
class Expected:
    """The share of predicted labels that should be right, with its 95 % interval.

    Args:
        accuracy: The share of held-out labels that were predicted right.
        low: Lower end of the interval: Wilson's, for fewer labels than there are, because they depend on each
            other; for half as many where they are many.
        high: Upper end; of an assessment higher than Wilson's, by what a few more labels may bring.
        labels: How many were held out.
    """

    accuracy: float
    low: float
    high: float
    labels: int

    @classmethod
    def of(cls, right: NDArray[np.bool_], among: int | None = None) -> Expected:
        """From held-out labels, each predicted right or not, among so many in all; None: these are all."""
        return cls.at(float(right.mean()), int(right.size), right.size if among is None else among)

    @classmethod
    def at(cls, accuracy: float, labels: int, among: int) -> Expected:
        """Of a share of some held-out labels, which depend on each other as much as so many do."""
        independent = labels / dependence(among)
        return cls(accuracy, *wilson_interval(accuracy * independent, independent), labels)

    def lowered(self, less: float, among: int) -> Expected:
        """The same, so much lower; the interval is Wilson's at that share, and never narrower than its own."""
        lower = Expected.at(max(self.accuracy - less, 0.0), self.labels, among)
        missing = max((self.high - self.low) - (lower.high - lower.low), 0.0) / 2
        return Expected(lower.accuracy, max(lower.low - missing, 0.0), min(lower.high + missing, 1.0), self.labels)

    def with_all_labels(self, share: float) -> Expected:
        """The same of a model that learnt from all labels, where those that were asked had such a share of them.

        Errors fall with the number of labels, hardly faster than its root: the upper end is as if they did, and
        the lower one as if they did not.
        """
        return replace(self, high=1 - (1 - self.high) * math.sqrt(share))


def wilson_interval(hits: float, count: float, deviations: float = _DEVIATIONS) -> tuple[float, float]:
    """The interval of a share, seen as ``hits`` of ``count`` independent ones; 95 % by default (Wilson 1927).

    Unlike the normal approximation it stays within 0 and 1 and has a width when all or none were hits.
    """
    if not 0 <= hits <= count or not count:
        raise ConfigError(f"{hits} of {count} is not a share.")
    share, squared = hits / count, deviations**2
    middle = (share + squared / (2 * count)) / (1 + squared / count)
    reach = math.sqrt(share * (1 - share) / count + squared / (4 * count**2)) * deviations / (1 + squared / count)
    # Where none or all are hits the end is exact, and no rounding may leave it out.
    low = max(middle - reach, 0.0) if hits else 0.0
    return low, min(middle + reach, 1.0) if hits < count else 1.0


@dataclass(frozen=True)
class Majority:
    """What always answering the most frequent class would give, and how much better the method is.

    Args:
        label: The class that most held-out labels have.
        accuracy: Its share of them.
        low: Lower end of the 95 % interval of the method's accuracy minus that, on the same labels.
        high: Upper end.
    """

    label: int
    accuracy: float
    low: float
    high: float

    @classmethod
    def of(cls, held_out: HeldOut) -> Majority:
        """From the held-out labels; they count half, because they depend on each other."""
        label = int(np.bincount(held_out.labels).argmax())
        guessed = held_out.labels == label
        difference = held_out.right.astype(np.float64) - guessed
        reach = _DEVIATIONS * math.sqrt(DEPENDENCE * float(difference.var()) / difference.size)
        middle = float(difference.mean())
        return cls(label, float(guessed.mean()), middle - reach, middle + reach)

    def less_optimistic(self, less: float) -> Majority:
        """The same where the method's accuracy is so much lower."""
        return replace(self, low=self.low - less, high=self.high - less)

    def among(self, tested: int, labels: int) -> Majority:
        """The same among so many labels, where all but those that can be tested are wrong."""
        share = tested / labels
        return Majority(self.label, share * self.accuracy, share * self.low, share * self.high)

    @property
    def is_beaten(self) -> bool:
        """Whether the method is clearly better."""
        return self.low > 0


@dataclass(frozen=True)
class Assessment:
    """How far the predictions on a graph can be trusted, by cross-validation over its given labels.

    Args:
        folds: Models that were trained for it.
        of_folds: Parts that the given labels were divided into; more than ``folds`` if some were enough.
        given: Labels that were divided.
        overall: All classes together.
        by_class: For every class the share of its nodes that should get its label; None for too few labels.
        untested: Numbers of the classes of which no label was held out.
        calibration: Of the probabilities.
        majority: What always answering the most frequent class would give.
        balanced: The share of held-out labels that were predicted right, every class counting the same, where the
            classes are unequal; None where they are not, and in older files.
        chosen_among: So many answers were tried on these labels; what is expected allows for that.
        alone: Given labels that are their class's only ones and count as wrong, because no model without them
            could know the class. They stand for the nodes of classes that no label is of.
    """

    folds: int
    of_folds: int
    given: int
    overall: Expected
    by_class: tuple[Expected | None, ...]
    untested: tuple[int, ...]
    calibration: Calibration
    majority: Majority
    balanced: float | None = None
    chosen_among: int = 1
    alone: int = 0

    @classmethod
    def of(
        cls,
        held_out: HeldOut,
        *,
        given: int,
        of_folds: int,
        alone: int = 0,
        optimism: float = 0.0,
        chosen_among: int = 1,
    ) -> Assessment:
        """From the held-out labels of all folds.

        Args:
            held_out: What was predicted for them.
            given: How many labels there are in all.
            of_folds: Into how many parts they were divided.
            alone: Of these, those that count as wrong because they are their class's only ones.
            optimism: By how much the share of held-out labels that are right is too high, because the method was
                chosen by them. Which class's labels decided is not known, so that the share of every class is
                lowered by as much as the whole.
            chosen_among: So many answers were tried on these labels.
        """
        num_classes = held_out.distribution.shape[1]
        tested, held = Expected.of(held_out.right), held_out.labels.size
        overall = tested.lowered(tested.accuracy * alone / given, held).lowered(
            optimism * (1 - alone / given), held
        )
        classes = (_of_class(held_out, label) for label in range(num_classes))
        balanced = _balanced(held_out)
        return cls(
            folds=int(np.unique(held_out.fold).size),
            of_folds=of_folds,
            given=given,
            overall=overall.with_all_labels(1 - 1 / of_folds),
            by_class=tuple(known and known.lowered(optimism, held) for known in classes),
            untested=tuple(np.setdiff1d(np.arange(num_classes), held_out.labels).tolist()),
            calibration=Calibration.of(held_out),
            majority=Majority.of(held_out).less_optimistic(optimism).among(given - alone, given),
            balanced=None if balanced is None else max(balanced - optimism, 0.0),
            chosen_among=chosen_among,
            alone=alone,
        )

    @property
    def of_tested(self) -> float:
        """The share of right labels among those that can be held out."""
        return self.overall.accuracy / (1 - self.alone / self.given)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        content = dataclasses.asdict(self)
        for name, usual in (("chosen_among", 1), ("alone", 0)):
            if content[name] == usual:
                del content[name]
        return {**content, **{name: list(content[name]) for name in ("by_class", "untested")}}

    def to_json_in_words(self, classes: Sequence[ClassCount] = ()) -> dict[str, Any]:
        """Plain data for people, with the same in sentences, which follow from the rest."""
        return {**self.to_json(), "words": list(self.sentences(classes))}

    def sentences(self, classes: Sequence[ClassCount] = ()) -> tuple[str, ...]:
        """What to expect, in plain words.

        Args:
            classes: What the classes are called and how many nodes are predicted to be of each, if that is known.
        """
        return (*self.how_many_are_right(classes), calibration_in_words(self))

    def how_many_are_right(self, classes: Sequence[ClassCount] = ()) -> tuple[str, ...]:
        """As `sentences`, but for how far probabilities can be trusted."""
        return right_in_words(self, classes)


def _balanced(held_out: HeldOut) -> float | None:
    counts = np.bincount(held_out.labels)
    hits = np.bincount(held_out.labels[held_out.right], minlength=counts.size)
    return balanced_accuracy(hits, counts) if are_unequal(counts) else None


def _of_class(held_out: HeldOut, label: int) -> Expected | None:
    right = held_out.right[held_out.labels == label]
    return Expected.of(right, held_out.labels.size) if right.size >= _ENOUGH_OF_A_CLASS else None
