"""What methods share that spread labels over the edges and read no features: a fit, class mass normalisation."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lcgnn.graph import Graph, Split
from lcgnn.methods.base import Context, Fit, Method, setting
from lcgnn.methods.classical import Floats, class_prior, fit_of, validation_score


@dataclass(frozen=True)
class EdgesAlone(Method):
    """A method that reads no features and no seed, with Zhu et al.'s (2003) class mass normalisation.

    Unless it is given, the validation nodes decide on the normalisation; without any it is done, because from few
    labels the plain solution often gives nearly every node the class of one well connected label.
    """

    deterministic: ClassVar[bool] = True
    title: ClassVar[str]

    class_mass: bool | None = setting(
        None,
        "Scale every class to its share of the training labels (class mass normalisation); null: if it is better "
        "on the validation nodes, or if there are none.",
    )

    @abstractmethod
    def spread(self, graph: Graph, split: Split) -> tuple[Floats, NDArray[np.int64]]:
        """The label distribution (N, C) of every node, and the nodes of which it was found out."""

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:  # noqa: ARG002
        started = time.perf_counter()
        split.check(graph)
        plain, found = self.spread(graph, split)
        distributions = [plain, class_mass_normalized(plain, found, class_prior(graph, split))]
        class_mass = self.class_mass
        if class_mass is None and not split.validation.size:
            class_mass = True
        if class_mass is not None:
            distributions = [distributions[class_mass]]
        best = max(distributions, key=lambda distribution: validation_score(distribution, graph, split))
        return fit_of(self.title, best, {}, started)


def class_mass_normalized(distribution: Floats, nodes: NDArray[np.int64], prior: Floats) -> Floats:
    """Scale the classes so that together the nodes hold as much of each as the prior says."""
    if not nodes.size:
        return distribution
    mass = distribution[nodes].mean(axis=0)
    scaled = distribution[nodes] * np.divide(prior, mass, out=np.zeros_like(mass), where=mass > 0)
    result = distribution.copy()
    result[nodes] = scaled / scaled.sum(axis=1, keepdims=True)
    return result
