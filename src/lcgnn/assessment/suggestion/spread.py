"""Ours: middles of clusters of propagated features, later also what the model is unsure of."""

from __future__ import annotations

import numpy as np

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, register
from lcgnn.assessment.suggestion.clusters import k_means, nearest
from lcgnn.assessment.suggestion.landscape import Landscape


@register("spread", "Middles of clusters that nothing labelled is near, the largest first.")
class Spread(Strategy):
    """Clusters of propagated features with the labelled nodes as fixed centres; the node in the middle of each."""

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        places = landscape.smoothed
        generator = np.random.default_rng(question.seed)
        centres, member = k_means(places, question.count, generator, places[question.labelled])
        sizes = np.bincount(member, minlength=centres.shape[0])[: question.count]
        chosen: list[int] = []
        free = np.zeros(landscape.num_nodes, dtype=bool)
        free[question.candidates] = True
        for cluster in np.argsort(-sizes, kind="stable"):
            inside = np.flatnonzero(free & (member == cluster))
            inside = inside if inside.size else np.flatnonzero(free)
            node = int(inside[nearest(places[inside], centres[cluster : cluster + 1])[1].argmin()])
            free[node] = False
            chosen.append(node)
        return np.array(chosen, dtype=np.int64)

    def reason(self, landscape: Landscape, question: Question, node: int, stands_for: int) -> str:
        return f"Stands for about {stands_for:,} nodes that nothing labelled is near."
