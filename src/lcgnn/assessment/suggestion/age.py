"""AGE: what the model is unsure of, what is typical and what is central, weighted by how far labelling is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, first_by, register, sureness
from lcgnn.assessment.suggestion.clusters import k_means, nearest
from lcgnn.assessment.suggestion.landscape import Landscape

# By how much the weight of centrality falls with every label that is given.
_FADING = 0.98
# Clusters where no model says how many classes there are.
_CLUSTERS = 10


@register("age", "Unsure, typical and central nodes; centrality counts less with every label (AGE).")
class AGE(Strategy):
    """The weighted sum of three ranks (Cai, Zheng and Chang 2017, "Active learning for graph embedding").

    Every candidate gets its percentile by entropy, by density (near the middle of its cluster in the space of the
    model's answer, here its label distribution, with a cluster for each class) and by PageRank. The weight of
    PageRank is drawn from Beta(1, n), with n growing from 0 to 1 as labels come in; the other two share the rest.
    Without a model density is that of the propagated features, and there is no entropy.
    """

    asks_model = True

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        generator = np.random.default_rng((question.seed, question.labelled.size))
        central = generator.beta(1, 1.005 - _FADING**question.labelled.size)
        density = _density(landscape, question, generator)
        centrality = _percentile(landscape.pagerank[question.candidates])
        if question.entropy is None:
            return first_by(central * centrality + (1 - central) * density, question)
        share = (1 - central) / 2
        return first_by(central * centrality + share * density + share * _percentile(question.entropy), question)

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:
        above = float((landscape.pagerank < landscape.pagerank[node]).mean())
        central = f"more central than {above:.0%} of the nodes"
        if question.entropy is None:
            return f"Typical of its cluster and {central}"
        return f"The model is {sureness(question, node)}, and it is {central}"


def _density(landscape: Landscape, question: Question, generator: np.random.Generator) -> NDArray[np.float64]:
    answers = question.distribution
    places = landscape.places if answers is None else answers
    count = _CLUSTERS if answers is None else answers.shape[1]
    centres = k_means(places, min(count, landscape.num_nodes), generator).centres
    return _percentile(1 / (1 + np.sqrt(nearest(places[question.candidates], centres)[1])))


def _percentile(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(K,) the share of values that are smaller."""
    ordered = np.sort(values)
    return np.asarray(np.searchsorted(ordered, values, side="left") / max(values.size, 1))
