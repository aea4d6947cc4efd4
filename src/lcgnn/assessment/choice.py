"""Choosing among several answers by the same held-out labels: which, how sure that is, and what to expect of it.

Everywhere here ``right`` is an (L, K) array: whether each of L held-out labels was predicted right by each of K
answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import DEPENDENCE
from lcgnn.errors import ConfigError

Right = NDArray[np.bool_]

# How good any answer is on a graph is hardly known beforehand, only how much better one is than another.
_LEVEL, _LEVEL_SPREAD = 0.6, 0.5
# As if so many further labels had been seen, right by chance, half of it the same chance for all answers: without
# them, answers that were right on the same few labels would be taken as the same for good.
_FURTHER = 2
# Standard deviations beyond which a difference is no chance (95 %), and beyond which nothing further is tried with
# an answer that is behind (99 %, because it is looked at several times).
CLEAR, CLEARLY_BEHIND = 1.959964, 2.575829
# Resamples of the labels, all drawn from one seed: the same labels give the same estimate.
_RESAMPLES = 1000


@dataclass(frozen=True)
class Experience:
    """What other graphs tell of an answer, before any label of this one is held out.

    Args:
        advantage: By how much its share of right labels is above the mean of all answers on the same graph.
        spread: The standard deviation of that from graph to graph.
    """

    advantage: float
    spread: float


def chosen(right: Right, experience: Sequence[Experience]) -> int:
    """Which of K answers to take: the one that is expected to be right most often.

    Experience with other graphs says how far the answers should be apart, give or take; the held-out labels say
    how far apart they are on this one, give or take. What is expected is the usual mean of the two, each weighed
    by how sure it is (of normal numbers): with few labels experience decides, with many it is not felt.
    """
    return int(_chosen(np.ones((1, right.shape[0])), right, experience)[0])


def _chosen(drawn: NDArray[np.float64], right: Right, experience: Sequence[Experience]) -> NDArray[np.int64]:
    """The same for R samples of the labels, in which each occurs (R, L) times."""
    hits = right.astype(np.float64)
    count, answers = hits.shape
    shares = drawn @ hits / count
    together = drawn @ (hits[:, :, None] * hits[:, None, :]).reshape(count, -1) / count
    spread = together.reshape(-1, answers, answers) - shares[:, :, None] * shares[:, None, :]
    by_chance = (np.eye(answers) + 1) / 8
    seen = DEPENDENCE * (count * spread + _FURTHER * by_chance) / (count + _FURTHER) / count
    before = _LEVEL + np.array([item.advantage for item in experience])
    known = np.diag([item.spread**2 for item in experience]) + _LEVEL_SPREAD**2
    news = np.linalg.solve(known + seen, (shares - before)[:, :, None])
    return np.asarray((before + (known @ news)[:, :, 0]).argmax(axis=1))


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


def is_clearly_behind(answer: Right, best: Right) -> bool:
    """Whether an answer is so far behind on the labels seen so far that more of them are not worth the time."""
    return Difference.between(answer, best, CLEARLY_BEHIND).high < 0


def optimism(right: Right, experience: Sequence[Experience]) -> float:
    """By how much the share of right labels of the chosen answer is too high because it was chosen by them.

    Bootstrap bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis 2018): the labels are drawn
    with replacement, the answer is chosen by those that were drawn and scored by those that were not; nothing is
    trained again. The mean over the draws falls behind the winner's own score by the optimism.

    That holds for independent labels. Where they are right or wrong in pairs, the other of a pair is often among
    the drawn ones, and less of the optimism is seen; the interval, which allows for pairs, is wide enough for the
    rest (a simulation of equally good answers in the tests).
    """
    count, answers = right.shape
    if answers == 1:
        return 0.0
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=_RESAMPLES)
    drawn = drawn[(drawn == 0).any(axis=1)]
    if not drawn.size:
        return 0.0
    takes = _chosen(drawn.astype(np.float64), right, experience)
    left = (drawn == 0).astype(np.float64)
    scores = (left @ right.astype(np.float64))[np.arange(takes.size), takes] / left.sum(axis=1)
    own = float(right[:, chosen(right, experience)].mean())
    return min(max(own - float(scores.mean()), 0.0), own)
