"""What the methods without a training loop share: features, logistic regression, a choice by validation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.special import softmax
from threadpoolctl import ThreadpoolController

from lcgnn.errors import DataError
from lcgnn.graph import Features, Graph, Split
from lcgnn.methods.base import Fit, Stage

Floats = NDArray[np.float64]


def node_features(graph: Graph) -> Features:
    """The graph's features; DataError if it has none."""
    if graph.features is None:
        raise DataError(
            f"{graph.name} has no node features, which this method needs. "
            "Use a method that needs none, or add features."
        )
    return graph.features


def unit_rows(features: Features) -> Features:
    """Every row at Euclidean length 1, in double precision; a row of zeros stays zero. Sparse stays sparse."""
    features = features.astype(np.float64)
    squares = features.power(2) if isinstance(features, csr_array) else features**2
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    if isinstance(features, csr_array):
        return csr_array(diags_array(scale) @ features)
    return features * scale[:, None]


def one_hot(labels: NDArray[np.int64], num_classes: int) -> Floats:
    """(N, C) with a 1 at every node's label."""
    return np.eye(num_classes)[labels]


def class_prior(graph: Graph, split: Split) -> Floats:
    """(C,) the share of every class among the training labels."""
    return np.bincount(graph.labels[split.train], minlength=graph.num_classes) / split.train.size


def validation_score(distribution: Floats, graph: Graph, split: Split) -> tuple[float, float]:
    """What candidates are compared by: validation accuracy, then likelihood.

    Without validation nodes all candidates are equal: ``max`` then gives the first, which is the default.
    """
    nodes = split.validation
    if not nodes.size:
        return 0.0, 0.0
    labels = graph.labels[nodes]
    likelihood = np.maximum(distribution[nodes, labels], np.finfo(np.float64).eps)
    accuracy = np.mean(distribution[nodes].argmax(axis=1) == labels)
    return float(accuracy), float(np.log(likelihood).mean())


def fit_of(name: str, distribution: Floats, tensors: dict[str, NDArray[Any]], started: float) -> Fit:
    """The result of a method with one stage and no epochs, ``started`` being ``time.perf_counter()`` before it."""
    stage = Stage(name, distribution.astype(np.float32))
    parameters = {key: torch.from_numpy(np.ascontiguousarray(value)) for key, value in tensors.items()}
    return Fit((stage,), parameters, time.perf_counter() - started)


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """Logits ``features @ weight + bias``; a class that no training node has gets -inf.

    Args:
        weight: (F, C).
        bias: (C,).
    """

    weight: Floats
    bias: Floats

    def logits(self, features: Features) -> Floats:
        return np.asarray(features @ self.weight + self.bias)

    def distribution(self, features: Features) -> Floats:
        return np.asarray(softmax(self.logits(features), axis=1))


def logistic_regression(
    features: Features, labels: NDArray[np.int64], num_classes: int, inverse_penalty: float
) -> LinearClassifier:
    """Multinomial logistic regression, with an L2 penalty, on nodes that may not show every class.

    Args:
        features: (L, F) of the training nodes.
        labels: (L,) theirs.
        num_classes: C.
        inverse_penalty: scikit-learn's C: the larger, the weaker the penalty.
    """
    weight = np.zeros((features.shape[1], num_classes))
    bias = np.full(num_classes, -np.inf)
    present = np.unique(labels)
    if present.size == 1:
        bias[present] = 0.0
        return LinearClassifier(weight, bias)
    # Imported here because it takes a second, which no other method should wait for.
    from sklearn.linear_model import LogisticRegression

    # On matrices this small more threads only wait for each other, for a minute where another process is busy.
    with _thread_pools().limit(limits=1, user_api="blas"):
        model = LogisticRegression(C=inverse_penalty, tol=1e-6, max_iter=10_000).fit(features, labels)
    if present.size == 2:
        # scikit-learn keeps one column for two classes: the log-odds of the second.
        signs = np.array([-0.5, 0.5])
        weight[:, present] = model.coef_.T * signs
        bias[present] = model.intercept_ * signs
    else:
        weight[:, present] = model.coef_.T
        bias[present] = model.intercept_
    return LinearClassifier(weight, bias)


@cache
def _thread_pools() -> ThreadpoolController:
    """The libraries with threads of their own; looking for them takes a while."""
    return ThreadpoolController()
