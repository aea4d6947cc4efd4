r"""Manifold regularisation (Belkin, Niyogi and Sindhwani 2006): least squares that is smooth over the graph.

Laplacian regularised least squares (LapRLS) with a linear kernel fits a weight W (F, C) to one-hot labels:

.. math:: (X_l^\top X_l + \gamma_A\, l\, I + \gamma_I\, \tfrac{l}{n^2}\, X^\top L X)\, W = X_l^\top Y_l

with the Laplacian :math:`L = D - A`. All matrices are F x F or smaller. With the ratio
:math:`r = \gamma_I / (n^2 \gamma_A)` this is ridge regression with the kernel
:math:`k(x, z) = x^\top (I + r X^\top L X)^{-1} z` (Sindhwani, Niyogi and Belkin 2005), so that one factorisation
for each r serves every :math:`\gamma_A` through an l x l system, l being the number of training nodes.

Both weights are chosen on the validation nodes from a grid, unless they are given. What departs from the
original: the graph is the given one instead of nearest neighbours among the features; rows of X are scaled to
length 1 (better on the validation nodes of Cora and Citeseer, and it makes the grid independent of the features'
scale); and since least squares gives scores, not probabilities, a softmax follows, whose temperature is the one
of highest likelihood on the validation nodes. The softmax does not change which class is the largest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array
from scipy.special import softmax
from torch import Tensor

from lcgnn.graph import Features, Graph, Split
from lcgnn.methods.base import Context, Fit, Method, register, setting
from lcgnn.methods.classical import Floats, fit_of, node_features, one_hot, unit_rows, validation_score
from lcgnn.training.loop import Progress

# The first of each is what a split without validation nodes gets.
AMBIENT = (1e-3, 1e-6, 1e-5, 1e-4, 1e-2, 1e-1)
RATIO = (1.0, 1e-3, 1e-2, 1e-1, 10.0, 100.0)
TEMPERATURE = (0.1, 1.0, 0.3, 0.03, 0.01, 0.003, 0.001)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One solution: weight (F, C), temperature of the softmax, label distribution (N, C), score on validation."""

    weight: Floats
    temperature: float
    distribution: Floats
    score: tuple[float, float]


@register("manireg", "Manifold regularisation: linear least squares on the features, smooth over the edges.")
@dataclass(frozen=True)
class ManifoldRegularization(Method):
    """LapRLS with a linear kernel, one class against the rest; reads no seed."""

    deterministic: ClassVar[bool] = True

    ambient: float | None = setting(
        None,
        "Weight of the ridge penalty (gamma_A); null: chosen on the validation nodes from 1e-6 to 0.1.",
        at_least=1e-9,
    )
    ratio: float | None = setting(
        None,
        "Weight of smoothness over the edges relative to the ridge penalty, gamma_I / (n^2 gamma_A); null: chosen "
        "on the validation nodes from 0.001 to 100.",
        above=0,
    )

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:  # noqa: ARG002
        started = time.perf_counter()
        split.check(graph)
        best: Candidate | None = None
        ratios = RATIO if self.ratio is None else (self.ratio,)
        ambients = AMBIENT if self.ambient is None else (self.ambient,)
        features = unit_rows(node_features(graph))
        for step, candidate in enumerate(_candidates(graph, split, features, ratios, ambients)):
            if best is None or candidate.score > best.score:
                best = candidate
            if context and context.progress:
                accuracy = best.score[0] if split.validation.size else None
                total = len(ratios) * len(ambients)
                context.progress(Progress("grid", step + 1, total, float("nan"), accuracy))
        assert best is not None
        tensors = {"weight": best.weight, "temperature": np.array(best.temperature)}
        return fit_of("manifold regularisation", best.distribution, tensors, started)

    @property
    def inductive(self) -> bool:
        return True

    def apply(self, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto") -> NDArray[np.float32]:  # noqa: ARG002
        scores = unit_rows(node_features(graph)) @ fitted["weight"].numpy()
        distribution: Floats = softmax(scores / fitted["temperature"].item(), axis=1)
        return distribution.astype(np.float32)


def _candidates(
    graph: Graph, split: Split, features: Features, ratios: tuple[float, ...], ambients: tuple[float, ...]
) -> Iterator[Candidate]:
    train = split.train
    targets = one_hot(graph.labels[train], graph.num_classes)  # (L, C)
    roughness = smoothness_penalty(graph.adjacency, features)  # (F, F)
    for ratio in ratios:
        directions = warped_directions(features[train], roughness, ratio)  # (F, L)
        kernel = np.asarray(features @ directions)  # (N, L)
        for ambient in ambients:
            system = kernel[train] + ambient * train.size * np.eye(train.size)
            coefficients = np.linalg.solve(system, targets)  # (L, C)
            yield _calibrated(directions @ coefficients, kernel @ coefficients, graph, split)


def smoothness_penalty(adjacency: csr_array, features: Features) -> Floats:
    """X'LX (F, F): the sum over edges of the squared difference that a linear function shows between its ends."""
    adjacency = adjacency.astype(np.float64)
    laplacian = csr_array(diags_array(np.asarray(adjacency.sum(axis=1)).ravel()) - adjacency)
    product = features.T @ (laplacian @ features)
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())


def warped_directions(train_features: Features, roughness: Floats, ratio: float) -> Floats:
    """(I + r X'LX)^-1 X_l' (F, L): a product with it is the graph-aware kernel with every training node."""
    dense = train_features if isinstance(train_features, np.ndarray) else train_features.toarray()
    system = ratio * roughness
    system[np.diag_indices_from(system)] += 1.0
    return np.asarray(cho_solve(cho_factor(system, overwrite_a=True, check_finite=False), dense.T))


def _calibrated(weight: Floats, scores: Floats, graph: Graph, split: Split) -> Candidate:
    """A weight with its scores (N, C) as a distribution, at the temperature of highest validation likelihood."""
    distributions = [softmax(scores / temperature, axis=1) for temperature in TEMPERATURE]
    rated = [validation_score(distribution, graph, split) for distribution in distributions]
    best = max(range(len(rated)), key=lambda position: rated[position][1])
    return Candidate(weight, TEMPERATURE[best], distributions[best], rated[best])
