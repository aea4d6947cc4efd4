"""Ours: the middles of clusters, where what the model is unsure of weighs most and labels are centres already."""

from __future__ import annotations

import numpy as np

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, register, sureness
from lcgnn.assessment.suggestion.clusters import Clusters, k_means
from lcgnn.assessment.suggestion.landscape import Landscape

# Times that clusters are looked for; the tightest count.
_ATTEMPTS = 5


@register("spread", "Middles of clusters that nothing labelled is near, where the model is unsure.")
class Spread(Strategy):
    """One node in the middle of each of as many clusters of nodes as labels are asked for, the largest first.

    Nodes lie where `Landscape.places` has them. Labelled nodes are centres that stay, so that new clusters form
    where there are none. Once there is a model, a node weighs as much as the model is unsure of it (its entropy),
    so that clusters form around what is not known yet, and a batch is spread over all of that.
    """

    asks_model = True

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        found = self._clusters(landscape, question)
        free = np.zeros(landscape.num_nodes, dtype=bool)
        free[question.candidates] = True
        chosen: list[int] = []
        for cluster in np.argsort(-found.weight, kind="stable"):
            inside = np.flatnonzero(free & (found.member == cluster))
            inside = inside if inside.size else np.flatnonzero(free)
            distance = ((landscape.places[inside] - found.centres[cluster]) ** 2).sum(axis=1)
            chosen.append(int(inside[distance.argmin()]))
            free[chosen[-1]] = False
        return np.array(chosen, dtype=np.int64)

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        return "" if question.entropy is None else f"the model is {sureness(question, node)}"

    def _clusters(self, landscape: Landscape, question: Question) -> Clusters:
        weights = np.ones(landscape.num_nodes)
        if question.entropy is not None:
            weights[question.candidates] = question.entropy
        attempts = (
            k_means(
                landscape.places,
                question.count,
                np.random.default_rng((question.seed, attempt)),
                weights=weights,
                fixed=landscape.places[question.labelled],
            )
            for attempt in range(_ATTEMPTS)
        )
        return min(attempts, key=lambda clusters: clusters.scatter)
