"""FeatProp: the medoids of propagated features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, register
from lcgnn.assessment.suggestion.landscape import Landscape
from lcgnn.assessment.suggestion.pairs import Among, Pairs

# Of a larger cluster so many members, evenly taken, vote for its medoid.
_VOTERS = 1000
_ROUNDS = 20
# Times that medoids are looked for, as often as ours looks for clusters.
_ATTEMPTS = 5


@register("featprop", "Medoids of the propagated features (FeatProp).")
class FeatProp(Strategy):
    """K-medoids on the features after two steps of propagation, by Euclidean distance.

    After Wu, Xu, Singh, Yang and Dubrawski 2019, "Active learning for graph neural networks via node feature
    propagation": as many medoids as labels, chosen at once. Here medoids and members take turns (Park and Jun
    2009) from places far apart, the best of five attempts; nodes that are labelled already are medoids that stay.
    """

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        among = Among(landscape.once(self.name, _pairs), question.candidates)
        beside = among.nearest(question.labelled)[1]
        attempts = []
        for attempt in range(_ATTEMPTS):
            question.progress("looking for medoids", attempt, _ATTEMPTS)
            generator = np.random.default_rng((question.seed, attempt))
            medoids = _medoids(among, question.count, beside, generator)
            reached = np.minimum(among.nearest(among.nodes[medoids])[1], beside)
            attempts.append((float(np.sqrt(reached).sum()), attempt, medoids))
        question.progress("looking for medoids", _ATTEMPTS, _ATTEMPTS)
        return question.candidates[min(attempts)[2]]

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        return "In the middle of nodes with features like its own"


def _pairs(landscape: Landscape) -> Pairs:
    return Pairs(landscape.propagated)


def _medoids(
    among: Among, count: int, beside: NDArray[np.float32], generator: np.random.Generator
) -> NDArray[np.int64]:
    """(count,) candidates in the middle of their clusters, each the nearest of all to the others of its own."""
    medoids = among.far_apart(count, generator, beside)
    for _ in range(_ROUNDS):
        member, distance = among.nearest(among.nodes[medoids])
        member[distance > beside] = -1
        # Each is of its own cluster even where others are in the same place, so that no two ever become one.
        member[medoids] = np.arange(count)
        found = np.array([_medoid(among, member, number, old) for number, old in enumerate(medoids.tolist())])
        if np.array_equal(found, medoids):
            break
        medoids = found
    return medoids


def _medoid(among: Among, member: NDArray[np.int64], number: int, old: int) -> int:
    """The member of a cluster with the least distance to the others in all."""
    inside = np.flatnonzero(member == number)
    voters = among.nodes[inside[:: -(-inside.size // _VOTERS)]]
    total = np.zeros(inside.size)
    for start in range(0, inside.size, _VOTERS):
        squared = among.pairs.squared(among.nodes[inside[start : start + _VOTERS]], voters)
        total[start : start + _VOTERS] = np.sqrt(squared).sum(axis=1)
    # The old one wins where it is as good, so that the search ends.
    return old if total[inside == old] <= total.min() else int(inside[total.argmin()])
