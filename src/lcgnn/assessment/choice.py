"""Choosing among several answers by the same held-out labels: which, how sure that is, and what to expect of it.

Everywhere here ``right`` is an (L, K) array: whether each of L held-out labels was predicted right by each of K
answers, which stand in the order of the prior, the one to be tried first at its head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import DEPENDENCE, HeldOut
from lcgnn.assessment.trust import Assessment, Expected, wilson_interval
from lcgnn.errors import ConfigError

Right = NDArray[np.bool_]

# What a place in the prior's order is worth, in held-out labels that were predicted right.
PLACE = 0.2
# Standard deviations beyond which a difference is no chance (95 %), and beyond which nothing further is tried with
# an answer that is behind (99 %, because it is looked at several times).
CLEAR, CLEARLY_BEHIND = 1.959964, 2.575829
# Resamples of the labels, all drawn from one seed: the same labels give the same estimate.
_RESAMPLES = 1000


def chosen(hits: NDArray[Any]) -> NDArray[np.int64]:
    """Which of K answers to take, by how many labels (..., K) each predicted right.

    The one with most hits, after a fifth of a hit is taken off for every place in the prior's order: with few
    labels, where answers are often a label or two apart, the prior decides, and with many it is not felt.

    In a simulation (eight answers, whose accuracies differ by 6 points from graph to graph; 15 labels, right or
    wrong in pairs) this was 4.4 points behind the best where the prior's order held and 5.2 where it meant
    nothing; without the prior it was 4.5 and 5.2. To take the first one unless another is clearly better (95 %)
    was 5.2 and 7.6 behind, because so few labels hardly ever tell. Where the order was the reverse of the true
    one, a fifth of a hit cost 0.1 points, two fifths 1.1.
    """
    hits = np.asarray(hits, dtype=np.float64)
    return np.asarray((hits - PLACE * np.arange(hits.shape[-1])).argmax(axis=-1))


@dataclass(frozen=True)
class Difference:
    """How much more often one answer is right than another on the same labels, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def between(cls, first: Right, second: Right, deviations: float = CLEAR) -> Difference:
        """The first minus the second, both (L,); labels count half, because they depend on each other.

        The interval is Agresti and Min's (2005): half a label is added to each of the four cases, so that it has
        a width even where the two are right on the same labels.
        """
        if first.shape != second.shape or not first.size:
            raise ConfigError("A paired comparison needs the same held-out labels on both sides.")
        wins, losses = float((first & ~second).sum()), float((second & ~first).sum())
        count = first.size / DEPENDENCE + 2
        more, fewer = wins / DEPENDENCE + 0.5, losses / DEPENDENCE + 0.5
        middle = (more - fewer) / count
        reach = deviations * math.sqrt(more + fewer - (more - fewer) ** 2 / count) / count
        mean = (wins - losses) / first.size
        # The added labels draw the middle to 0; what was seen lies within all the same.
        return cls(mean, min(middle - reach, mean), max(middle + reach, mean))

    @property
    def is_clear(self) -> bool:
        """Whether one of the two is better beyond chance."""
        return self.low > 0 or self.high < 0


def is_clearly_behind(answer: Right, best: Right) -> bool:
    """Whether an answer is so far behind on the labels seen so far that more of them are not worth the time."""
    return Difference.between(answer, best, CLEARLY_BEHIND).high < 0


def optimism(right: Right) -> float:
    """By how much the share of right labels of the chosen answer is too high because it was chosen by them.

    Bootstrap bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis 2018): the labels are drawn
    with replacement, the answer is chosen by those that were drawn and scored by those that were not; nothing is
    trained again. The mean over the draws falls behind the winner's own score by the optimism.

    That holds for independent labels. Where they are right or wrong in pairs, the other of a pair is often among
    the drawn ones, and only half of the optimism is seen (simulation: 0.14 true, 0.07 seen from 30 labels; 0.07
    and 0.04 from 100). As the truth lies between, what is seen counts sqrt(2) times.
    """
    count, answers = right.shape
    if answers == 1:
        return 0.0
    right = right.astype(np.float64)
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=_RESAMPLES)
    left = (drawn == 0).astype(np.float64)
    usable = left.sum(axis=1) > 0
    if not usable.any():
        return 0.0
    takes = chosen(drawn[usable] @ right)
    scores = (left[usable] @ right)[np.arange(takes.size), takes] / left[usable].sum(axis=1)
    own = float(right[:, chosen(right.sum(axis=0))].mean())
    return min(max(math.sqrt(DEPENDENCE) * (own - float(scores.mean())), 0.0), own)


def expected_of_chosen(right: Right) -> Expected:
    """What to expect of the answer that is chosen: its own share of right labels, less the optimism of it."""
    own = Expected.of(right[:, int(chosen(right.sum(axis=0)))])
    return less_optimistic(own, optimism(right))


def less_optimistic(own: Expected, less: float) -> Expected:
    """The same, so much lower; the interval is Wilson's at that share, and never narrower than its own."""
    share = max(own.accuracy - less, 0.0)
    low, high = wilson_interval(share * own.labels / DEPENDENCE, own.labels / DEPENDENCE)
    missing = max((own.high - own.low) - (high - low), 0.0) / 2
    return Expected(share, max(low - missing, 0.0), min(high + missing, 1.0), own.labels)


def assessment_of_chosen(held_out: HeldOut, right: Right, *, given: int, of_folds: int) -> Assessment:
    """How far to trust the answer that is chosen; all of it allows for the choice.

    Which class's labels decided is not known, so that the share of every class is lowered by as much as the whole.

    Args:
        held_out: What the chosen answer predicted.
        right: What all answers did on the same labels.
        given: Labels that were divided.
        of_folds: Parts that they were divided into.
    """
    plain = Assessment.of(held_out, given=given, of_folds=of_folds)
    if right.shape[1] == 1:
        return plain
    overall = expected_of_chosen(right)
    less = plain.overall.accuracy - overall.accuracy
    majority = replace(plain.majority, low=plain.majority.low - less, high=plain.majority.high - less)
    return replace(
        plain,
        overall=overall,
        by_class=tuple(known and less_optimistic(known, less) for known in plain.by_class),
        majority=majority,
        balanced=None if plain.balanced is None else max(plain.balanced - less, 0.0),
        chosen_among=right.shape[1],
    )
