"""Iterative classification (Lu and Getoor 2003): classify a node by its features and its neighbours' classes.

Two logistic regressions: one sees the features alone, the other also what the neighbours' classes add up to. The
first gives every node a class; then, sweep after sweep, each node in turn is classified again by the second, and
its neighbours see the new class at once. The result is the mean of 10 trials, which differ in the random order in
which the nodes take their turns; that order is all that the seed decides.

10 sweeps in random order follow Sen et al. (2008). Penalty and aggregator are chosen on the validation nodes,
unless they are given: first the penalty of the classifier on features, then both for the second one. What departs
from the original: training nodes have neighbours of unknown class, where Lu and Getoor learn from a fully labelled
graph; they count with the class that the first classifier gives them. Rows of features are scaled to length 1. Lu
and Getoor's mode of the neighbours' classes is left out, proportions are added. A training node keeps its label.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack
from scipy.special import softmax

from lcgnn.compute.kernels.sweeps import sweep
from lcgnn.errors import ConfigError
from lcgnn.graph import Features, Graph, Split
from lcgnn.methods.base import Context, Fit, Method, register, setting
from lcgnn.methods.classical import (
    Floats,
    LinearClassifier,
    fit_of,
    logistic_regression,
    node_features,
    one_hot,
    unit_rows,
    validation_score,
)
from lcgnn.training.loop import Progress

Labels = NDArray[np.int64]
Aggregator = Literal["proportion", "count", "exists"]
AGGREGATORS: tuple[Aggregator, ...] = get_args(Aggregator)

# The first is what a split without validation nodes gets.
INVERSE_PENALTY = (1.0, 0.01, 0.1, 10.0, 100.0)


@register("ica", "Iterative classification: logistic regression on features and on the neighbours' classes.")
@dataclass(frozen=True)
class IterativeClassification(Method):
    """Bootstrap by features, then sweeps over the nodes in random order."""

    sweeps: int = setting(10, "How often every node is classified again.")
    trials: int = setting(10, "Random orders of the nodes to average over.")
    inverse_penalty: float | None = setting(
        None,
        "scikit-learn's C of both classifiers, larger for a weaker penalty; null: chosen on the validation nodes "
        "from 0.01 to 100.",
        above=0,
    )
    aggregator: Aggregator | None = setting(
        None,
        "What a node sees of its neighbours' classes: 'proportion', 'count', or which of them 'exists'; null: "
        "chosen on the validation nodes.",
    )

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        started = time.perf_counter()
        split.check(graph)
        if self.aggregator not in (None, *AGGREGATORS):
            raise ConfigError(f"aggregator is {self.aggregator!r}; it can be {', '.join(AGGREGATORS)}.")
        if self.sweeps < 1 or self.trials < 1:
            raise ConfigError(f"ica needs a sweep and a trial at least, not {self.sweeps} and {self.trials}.")
        task = Task.of(graph, split)
        first = self._first(task)
        bootstrapped = task.clamped(first.distribution(task.features).argmax(axis=1))
        second, distribution = self._second(task, bootstrapped, seed, context or Context())
        tensors = {
            "first.weight": first.weight,
            "first.bias": first.bias,
            "second.weight": second.classifier.weight,
            "second.bias": second.classifier.bias,
        }
        return fit_of("iterative classification", distribution, tensors, started)

    def _first(self, task: Task) -> LinearClassifier:
        """The classifier on features that is best on validation."""
        classifiers = [
            logistic_regression(task.features[task.train], task.train_labels, task.num_classes, penalty)
            for penalty in self._penalties
        ]
        return max(classifiers, key=lambda classifier: task.score(classifier.distribution(task.features)))

    def _second(
        self, task: Task, bootstrapped: Labels, seed: int, context: Context
    ) -> tuple[RelationalClassifier, Floats]:
        """The classifier on features and neighbours whose trials end best on validation, and what they end in."""
        aggregators = AGGREGATORS if self.aggregator is None else (self.aggregator,)
        choices = list(product(aggregators, self._penalties))
        candidates: list[tuple[RelationalClassifier, Floats]] = []
        scores: list[tuple[float, float]] = []
        for aggregator, penalty in choices:
            classifier = RelationalClassifier.trained(task, bootstrapped, penalty, aggregator)
            candidates.append((classifier, self._mean_of_trials(task, classifier, bootstrapped, seed)))
            scores.append(task.score(candidates[-1][1]))
            if context.progress:
                accuracy = max(scores)[0] if task.split.validation.size else None
                context.progress(Progress("grid", len(scores), len(choices), float("nan"), accuracy))
        return candidates[scores.index(max(scores))]

    def _mean_of_trials(
        self, task: Task, classifier: RelationalClassifier, bootstrapped: Labels, seed: int
    ) -> Floats:
        """(N, C) averaged over the trials; every classifier meets the same random orders."""
        trials = [
            classifier.settle(task, bootstrapped, self.sweeps, np.random.default_rng([seed, trial]))
            for trial in range(self.trials)
        ]
        mean: Floats = np.mean(trials, axis=0)
        return mean

    @property
    def _penalties(self) -> tuple[float, ...]:
        return INVERSE_PENALTY if self.inverse_penalty is None else (self.inverse_penalty,)


@dataclass(frozen=True, eq=False)
class Task:
    """A graph and a split as the classifiers need them.

    Args:
        graph: The graph.
        split: The split.
        features: (N, F) in rows of length 1.
        adjacency: (N, N) without self-loops: a node is not its own evidence.
    """

    graph: Graph
    split: Split
    features: Features
    adjacency: csr_array

    @classmethod
    def of(cls, graph: Graph, split: Split) -> Task:
        adjacency = csr_array(graph.adjacency - diags_array(graph.adjacency.diagonal()))
        adjacency.eliminate_zeros()
        return cls(graph, split, unit_rows(node_features(graph)), adjacency)

    @property
    def num_classes(self) -> int:
        return self.graph.num_classes

    @property
    def train(self) -> Labels:
        return self.split.train

    @property
    def train_labels(self) -> Labels:
        return self.graph.labels[self.train]

    def score(self, distribution: Floats) -> tuple[float, float]:
        return validation_score(distribution, self.graph, self.split)

    def clamped(self, labels: Labels) -> Labels:
        """The labels with those of the training nodes as they are known."""
        labels = labels.copy()
        labels[self.train] = self.train_labels
        return labels


@dataclass(frozen=True, eq=False)
class RelationalClassifier:
    """A linear classifier on a node's features and on what its neighbours' classes add up to.

    Args:
        classifier: On (N, F + C) inputs.
        aggregator: How the last C columns are made.
        feature_logits: (N, C) what features and bias contribute, which never changes.
    """

    classifier: LinearClassifier
    aggregator: Aggregator
    feature_logits: Floats

    @classmethod
    def trained(
        cls, task: Task, labels: Labels, inverse_penalty: float, aggregator: Aggregator
    ) -> RelationalClassifier:
        """Fitted to the training nodes, whose neighbours have the given labels."""
        inputs = relational_inputs(task, labels, aggregator)[task.train]
        classifier = logistic_regression(inputs, task.train_labels, task.num_classes, inverse_penalty)
        num_features = task.features.shape[1]
        of_features = LinearClassifier(classifier.weight[:num_features], classifier.bias)
        return cls(classifier, aggregator, of_features.logits(task.features))

    def settle(self, task: Task, labels: Labels, sweeps: int, generator: np.random.Generator) -> Floats:
        """The distribution (N, C) after sweeps over all but the training nodes, starting from the given labels."""
        labels = labels.copy()
        free = np.setdiff1d(np.arange(labels.size), task.train)
        neighbour_weight = np.ascontiguousarray(self.classifier.weight[-task.num_classes :])  # (C, C)
        adjacency = task.adjacency
        for _ in range(sweeps):
            sweep(
                adjacency.indptr,
                adjacency.indices,
                adjacency.data,
                self.feature_logits,
                neighbour_weight,
                AGGREGATORS.index(self.aggregator),
                generator.permutation(free),
                labels,
            )
        evidence = neighbour_evidence(adjacency, labels, task.num_classes, self.aggregator)
        distribution: Floats = softmax(self.feature_logits + evidence @ neighbour_weight, axis=1)
        distribution[task.train] = one_hot(task.train_labels, task.num_classes)
        return distribution


def neighbour_evidence(adjacency: csr_array, labels: Labels, num_classes: int, aggregator: Aggregator) -> Floats:
    """(N, C) how many neighbours of each class a node has, their share or their presence; edge weights count."""
    counts: Floats = adjacency @ one_hot(labels, num_classes)
    if aggregator == "count":
        return counts
    if aggregator == "exists":
        return np.asarray(counts > 0, dtype=np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    return counts / np.where(totals > 0, totals, 1.0)


def relational_inputs(task: Task, labels: Labels, aggregator: Aggregator) -> Features:
    """(N, F + C) features, then the neighbours' evidence."""
    evidence = neighbour_evidence(task.adjacency, labels, task.num_classes, aggregator)
    if isinstance(task.features, csr_array):
        return csr_array(hstack([task.features, csr_array(evidence)]))
    return np.hstack([task.features, evidence])
