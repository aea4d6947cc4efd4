"""Ours: the middles of clusters, where what the model is unsure of weighs most and labels are centres already."""

from __future__ import annotations

import numpy as np

from lcgnn.assessment.suggestion.base import SURE, Nodes, Question, Strategy, register, sureness
from lcgnn.assessment.suggestion.clusters import Clusters, k_means
from lcgnn.assessment.suggestion.landscape import Landscape

# Times that clusters are looked for; the tightest count.
_ATTEMPTS = 5
# Of a larger graph so many nodes, or so many for each cluster, say where the clusters are.
_SAMPLE, _SAMPLE_OF_CLUSTER = 50_000, 20


@register("spread", "Middles of clusters that nothing labelled is near, where the model is unsure.")
class Spread(Strategy):
    """One node in the middle of each of as many clusters of nodes as labels are asked for, the largest first.

    Nodes lie where `Landscape.places` has them. Labelled nodes are centres that stay, so that new clusters form
    where there are none. Once there is a model, a node weighs as much as the model is unsure of it (its entropy),
    so that clusters form around what is not known yet, and a batch is spread over all of that.
    """

    asks_model = True

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        places, weights = landscape.places, _weights(landscape, question)
        beside = landscape.distance_from(question.labelled)
        found = _clusters(landscape, question, weights, beside)
        member = found.members(places, beside)
        size = np.bincount(member, weights=weights, minlength=question.count)[: question.count]
        free = np.zeros(landscape.num_nodes, dtype=bool)
        free[question.candidates] = True
        chosen: list[int] = []
        for cluster in np.argsort(-size, kind="stable"):
            inside = np.flatnonzero(free & (member == cluster))
            inside = inside if inside.size else np.flatnonzero(free)
            distance = ((places[inside] - found.centres[cluster]) ** 2).sum(axis=1)
            chosen.append(int(inside[distance.argmin()]))
            free[chosen[-1]] = False
        return np.array(chosen, dtype=np.int64)

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        if question.distribution is None or question.distribution[node].max() >= SURE:
            return ""
        return f"the model is {sureness(question, node)}"


def _weights(landscape: Landscape, question: Question) -> np.ndarray:
    """(N,) how much every node is worth knowing; a labelled or excluded one nothing."""
    weights = np.zeros(landscape.num_nodes)
    weights[question.candidates] = 1 if question.entropy is None else question.entropy
    return weights


def _clusters(landscape: Landscape, question: Question, weights: np.ndarray, beside: np.ndarray) -> Clusters:
    """The tightest of several attempts, on a sample where the graph is large."""
    size = max(_SAMPLE, _SAMPLE_OF_CLUSTER * question.count)
    rows = np.arange(landscape.num_nodes)
    if size < rows.size:
        rows = np.sort(np.random.default_rng(question.seed).choice(rows, size, replace=False))
    best: Clusters | None = None
    for attempt in range(_ATTEMPTS):
        question.progress("looking for clusters", attempt, _ATTEMPTS)
        generator = np.random.default_rng((question.seed, attempt))
        found = k_means(
            landscape.places[rows], question.count, generator, weights=weights[rows], beside=beside[rows]
        )
        best = found if best is None or found.scatter < best.scatter else best
    question.progress("looking for clusters", _ATTEMPTS, _ATTEMPTS)
    assert best is not None
    return best
