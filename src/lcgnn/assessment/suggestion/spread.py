"""Ours: the middles of the largest clusters that no label is in, where what the model is unsure of counts more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion.base import SURE, Nodes, Question, Strategy, register, sureness
from lcgnn.assessment.suggestion.clusters import Clusters, k_means
from lcgnn.assessment.suggestion.landscape import Landscape

# Times that clusters are looked for, the tightest of which count; fewer where they are many, so that somebody who
# labels one by one does not wait.
_ATTEMPTS, _CLUSTERS_IN_ALL = 5, 400
# Of a larger graph so many nodes, or so many for each cluster, say where the clusters are.
_SAMPLE, _SAMPLE_OF_CLUSTER = 50_000, 20
# Up to so many labels each has room for a cluster of its own; more of them are centres as they are.
_MOST_WITH_CLUSTERS = 256


@register("spread", "Middles of the largest clusters without a label, those that the model is unsure of first.")
class Spread(Strategy):
    """The node in the middle of each of the largest clusters that no label is in, the largest first.

    Nodes lie where `Landscape.places` has them, and there are as many clusters as labels and suggestions together:
    those that hold a label are served, and of the others there are enough. Once there is a model, a node counts as
    much as the model is unsure of it (its entropy) when the sizes of clusters are compared.

    Chosen on Cora and Citeseer (draws 100 to 103, LC-GCN, 2 and 5 labels a class's worth) among: distances by
    length or by angle, in 16, 32 or 64 directions or all; labelled nodes as centres that do not move; middles or
    well-connected nodes near them; nodes weighted by entropy in the clusters as well.
    """

    asks_model = True

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        many = question.labelled.size > _MOST_WITH_CLUSTERS
        count = question.count + (0 if many else question.labelled.size)
        beside = landscape.distance_from(question.labelled[: question.labelled.size if many else 0])
        found = _clusters(landscape, question, count, beside)
        member = found.members(landscape.places, beside)
        size = np.bincount(member, weights=_worth(landscape, question), minlength=count)[:count]
        held = member[question.labelled]
        size[held[held < count]] = -1
        return _middles(landscape, question, found, member, np.argsort(-size, kind="stable")[: question.count])

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        if question.distribution is None or question.distribution[node].max() >= SURE:
            return ""
        return f"the model is {sureness(question, node)}"


def _worth(landscape: Landscape, question: Question) -> NDArray[np.float64]:
    """(N,) how much every node is worth knowing; a labelled or excluded one nothing."""
    worth = np.zeros(landscape.num_nodes)
    worth[question.candidates] = 1 if question.entropy is None else question.entropy
    return worth


def _clusters(landscape: Landscape, question: Question, count: int, beside: NDArray[np.float32]) -> Clusters:
    """The tightest of several attempts, on a sample where the graph is large."""
    size, rows = max(_SAMPLE, _SAMPLE_OF_CLUSTER * count), np.arange(landscape.num_nodes)
    if size < rows.size:
        rows = np.sort(np.random.default_rng(question.seed).choice(rows, size, replace=False))
    places, beside = landscape.places[rows], beside[rows]
    number = max(1, min(_ATTEMPTS, _CLUSTERS_IN_ALL // count))
    attempts = []
    for attempt in range(number):
        question.progress("looking for clusters", attempt, number)
        generator = np.random.default_rng((question.seed, attempt))
        attempts.append(k_means(places, count, generator, beside=beside))
    question.progress("looking for clusters", number, number)
    return min(attempts, key=lambda clusters: clusters.scatter)


def _middles(
    landscape: Landscape,
    question: Question,
    found: Clusters,
    member: NDArray[np.int64],
    clusters: NDArray[np.int64],
) -> Nodes:
    """The candidate nearest to the centre of each cluster; of one without any, the nearest that is left."""
    free = np.zeros(landscape.num_nodes, dtype=bool)
    free[question.candidates] = True
    chosen: list[int] = []
    for cluster in clusters.tolist():
        inside = np.flatnonzero(free & (member == cluster))
        inside = inside if inside.size else np.flatnonzero(free)
        distance = ((landscape.places[inside] - found.centres[cluster]) ** 2).sum(axis=1)
        chosen.append(int(inside[distance.argmin()]))
        free[chosen[-1]] = False
    return np.array(chosen, dtype=np.int64)
