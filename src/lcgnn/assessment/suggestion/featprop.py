"""FeatProp: the medoids of propagated features."""

from __future__ import annotations

import numpy as np

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, register
from lcgnn.assessment.suggestion.clusters import far_apart, nearest
from lcgnn.assessment.suggestion.landscape import Landscape

# Of a larger cluster so many members, evenly taken, vote for its medoid.
_VOTERS = 1000
_ROUNDS = 20


@register("featprop", "Medoids of the propagated features (FeatProp).")
class FeatProp(Strategy):
    """K-medoids on the features after two steps of propagation, by Euclidean distance.

    After Wu, Xu, Singh, Yang and Dubrawski 2019, "Active learning for graph neural networks via node feature
    propagation": as many medoids as labels, chosen at once. Here medoids and members take turns (Park and Jun
    2009) from places far apart; nodes that are labelled already are medoids that stay.
    """

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        places = landscape.propagated
        generator = np.random.default_rng(question.seed)
        own = places[question.candidates]
        beside = nearest(own, places[question.labelled])[1]
        medoids = far_apart(own, question.count, generator, beside=beside)
        for _ in range(_ROUNDS):
            member, distance = nearest(own, own[medoids])
            member[distance > beside] = -1
            found = np.array([_medoid(own, member, number, old) for number, old in enumerate(medoids.tolist())])
            if np.array_equal(found, medoids):
                break
            medoids = found
        return question.candidates[medoids]

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        return "In the middle of nodes with features like its own"


def _medoid(places: np.ndarray, member: np.ndarray, number: int, old: int) -> int:
    """The member of a cluster with the least distance to the others in all; the old one where there is none."""
    inside = np.flatnonzero(member == number)
    if not inside.size:
        return old
    voters = places[inside[:: -(-inside.size // _VOTERS)]]
    total = np.zeros(inside.size)
    for start in range(0, inside.size, _VOTERS):
        block = places[inside[start : start + _VOTERS]]
        squared = (block**2).sum(axis=1)[:, None] + (voters**2).sum(axis=1) - 2 * block @ voters.T
        total[start : start + _VOTERS] = np.sqrt(np.maximum(squared, 0)).sum(axis=1)
    # The old one wins where it is as good, so that the search ends.
    best = int(inside[total.argmin()])
    kept = np.flatnonzero(inside == old)
    return old if kept.size and total[kept[0]] <= total.min() else best
