"""Why nodes of a graph have their labels: what all of them have in common is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import at_temperature
from lcgnn.assessment.doubt import name_of_node
from lcgnn.assessment.explanation import (
    Change,
    ClassShare,
    Explanation,
    FeatureEffect,
    LabelInfluence,
    Neighbour,
    SoftNeighbour,
)
from lcgnn.assessment.influence import Influence, LabelInfluences
from lcgnn.assessment.soft_neighbours import SoftNeighbours, heaviest, soft_weights
from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.names import FeatureNames, feature_names
from lcgnn.graph import Graph, Split
from lcgnn.methods import Fit, Method
from lcgnn.methods.fitted import FittedNetwork, fitted_networks
from lcgnn.methods.self_training import SelfTraining
from lcgnn.runs.explaining.labels import changed_labels, influence_by_fits
from lcgnn.runs.explaining.trials import Trials
from lcgnn.runs.explaining.words import in_words
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import mean_distribution

SHOWN = 10
"""How many of everything are listed where nothing else is said."""

_MOST_NEIGHBOURS = 50
# Log-odds that a label takes along below which it is rounding and not the label that speaks.
_TELLING = 1e-3


@dataclass(frozen=True, eq=False)
class Explainer:
    """What explains the answers of models on the graph that they were trained on.

    Args:
        graph: The graph.
        split: Its training nodes are those whose label was given.
        models: Their answers are averaged; none for what only a fit is known of.
        fit: What a method made of the graph that classifies no other; None for others.
        names: Of the features; None for numbers.
        shown: How many of everything are listed.
        retrain: Whether what a label does is tried by fitting the method again.
        device: A torch device or "auto".
        made_of_edges: Whether the features were made from the edges, so that none means anything by itself.
    """

    graph: Graph
    split: Split
    models: tuple[TrainedModel, ...]
    fit: Fit | None = None
    names: FeatureNames | None = None
    shown: int = SHOWN
    retrain: bool = False
    device: str = "auto"
    made_of_edges: bool = False

    @cached_property
    def distribution(self) -> NDArray[np.float32]:
        """(N, C) the answers."""
        if self.fit is None:
            return self._predicted(self.graph)
        return at_temperature(self.fit.label_distribution, self._temperature)

    @property
    def _temperature(self) -> float:
        return self.models[0].temperature if self.models else 1.0

    @property
    def method(self) -> Method | None:
        """Of the models."""
        return self.models[0].method if self.models else None

    @property
    def called(self) -> str:
        """The method's name."""
        return self.models[0].name if self.models else "the method"

    @cached_property
    def networks(self) -> tuple[FittedNetwork, ...]:
        """Of all models; none where the method has no network."""
        found = [fitted_networks(item.method, item.tensors, self.graph, self.device) for item in self.models]
        return tuple(network for of_one in found for network in of_one)

    def explain(self, node: int, *, tried: bool = True) -> Explanation:
        """Why a node has its label.

        Args:
            node: Its number.
            tried: Whether to find out by predicting again which features matter and what would change the answer.
        """
        if not 0 <= node < self.graph.num_nodes:
            raise DataError(f"{self.graph.name} has no node {node}; they are 0 to {self.graph.num_nodes - 1}.")
        answer, missing = self.distribution[node], list[str]()
        label = int(answer.argmax())
        soft = self._soft_neighbours(node, missing)
        labelled = self._labelled(node, label, missing)
        neighbours = self._neighbours(node)
        features, changes = self._tried(node, neighbours, labelled, missing) if tried else ((), ())
        names = self.graph.class_names
        return in_words(
            Explanation(
                node=node,
                id=self._id(node),
                label=names[label],
                probability=float(answer[label]),
                given=names[self.graph.labels[node]] if node in self._given else None,
                method=self.called,
                classes=self._shares(answer),
                soft_neighbours=() if soft is None else self._told(soft),
                soft_classes=() if soft is None else self._shares(soft.by_class),
                labelled=labelled,
                neighbours=neighbours[:_MOST_NEIGHBOURS],
                more_neighbours=max(len(neighbours) - _MOST_NEIGHBOURS, 0),
                features=features,
                changes=changes,
                missing=tuple(missing),
            )
        )

    def _soft_neighbours(self, node: int, missing: list[str]) -> SoftNeighbours | None:
        """The mean of what label consistency weighs in every network."""
        if not self.networks:
            missing.append(f"There are no soft neighbours: label consistency cannot be around {self.called}.")
            return None
        if not any(fitted.aggregates for fitted in self.networks):
            missing.append(
                "Label consistency is not part of this answer: the soft neighbours are those that it would weigh."
            )
        weights = [soft_weights(z, node, balanced=balanced) for z, balanced in self._base_answers]
        return heaviest(np.mean(weights, axis=0), self.distribution, node, self.shown)

    @cached_property
    def _base_answers(self) -> tuple[tuple[NDArray[np.float64], bool], ...]:
        """Z of every network, before the aggregation, and whether classes count the same in it."""
        return tuple(
            (_softmax(fitted.logits().detach().cpu().numpy()), fitted.method.balanced) for fitted in self.networks
        )

    def _labelled(self, node: int, label: int, missing: list[str]) -> tuple[LabelInfluence, ...]:
        """Given labels by their influence, the strongest first."""
        found = self._influence(node, label)
        if found is None:
            why = "on a graph of this size" if self.networks else f"for {self.called}"
            missing.append(f"The influence of single labels cannot be told {why}.")
            return ()
        if isinstance(self.method, SelfTraining):
            missing.append(
                "The influence of given labels leaves out those that the method gave itself and learnt from too."
            )
        if not found.complete:
            missing.append(f"Of {self.split.train.size:,} labels the {found.nodes.size} nearest are weighed.")
        order = np.argsort(-np.abs(found.removed), kind="stable")[: self.shown]
        order = order[np.abs(found.removed[order]) >= _TELLING]
        if not order.size:
            missing.append(
                "No given label has an influence of its own: without any single one the answer is as sure."
            )
        names, labels = self.graph.class_names, self.graph.labels
        return tuple(
            LabelInfluence(other, self._id(other), float(found.removed[place]), names[labels[other]])
            for place, other in zip(order.tolist(), found.nodes[order].tolist(), strict=True)
        )

    def _influence(self, node: int, label: int) -> Influence | None:
        if self.networks:
            return self._influences.on(node, label)
        if self.method is not None and self.method.deterministic and not self.method.inductive:
            return influence_by_fits(self.method, self.graph, self.split, node, label, self._temperature)
        return None

    @cached_property
    def _influences(self) -> LabelInfluences:
        return LabelInfluences(self.networks, self.graph, self.split.train, self._temperature)

    def _neighbours(self, node: int) -> tuple[Neighbour, ...]:
        """All of them, those with a given label first."""
        adjacency = self.graph.adjacency
        others = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]].tolist()
        found = []
        for other in others:
            if other != node:
                label, given = self._class_of(other)
                probability = float(self.distribution[other, label])
                found.append(Neighbour(other, self._id(other), self.graph.class_names[label], probability, given))
        return tuple(sorted(found, key=lambda item: not item.given))

    def _tried(
        self,
        node: int,
        neighbours: Sequence[Neighbour],
        labelled: tuple[LabelInfluence, ...],
        missing: list[str],
    ) -> tuple[tuple[FeatureEffect, ...], tuple[Change, ...]]:
        """Which features matter and what would change the answer, by predicting or fitting again."""
        trials = self._trials(node, missing)
        changes: tuple[Change, ...] = ()
        effects: tuple[FeatureEffect, ...] = ()
        if trials is not None:
            changes = trials.edges(neighbours)
            reads_features = self.method is not None and self.method.inductive and self.graph.num_features
            if reads_features and self.made_of_edges:
                missing.append("Its features were made from the edges: none of them means anything by itself.")
            elif reads_features:
                found = trials.features(self.networks)
                effects, changes = tuple(effect for effect, _ in found), changes + trials.of_features(found)
        if self.retrain and self.models:
            # One model is fitted again: of several with another answer it says nothing.
            own = replace(self, models=self.models[:1]).distribution
            if own[node].argmax() == self.distribution[node].argmax():
                first = self.models[0]
                changes += changed_labels(first, self.graph, self.split, node, own[node], labelled, self.device)
        return effects, tuple(sorted(changes, key=lambda item: not item.flips))

    def _trials(self, node: int, missing: list[str]) -> Trials | None:
        """What predicts again; None, and why, for a method that cannot."""
        names = self.names or feature_names(Encoding(), self.graph.num_features)
        trials = partial(Trials, self.graph, node, self.distribution[node], names=names, shown=self.shown)
        if self.method is not None and self.method.inductive:
            return trials(predict=self._predicted)
        if self.method is not None and self.method.deterministic:
            missing.append(f"Features do not enter: {self.called} reads only edges and labels.")
            return trials(predict=self._fitted)
        missing.append(f"What would change it is not tried: {self.called} says nothing of a changed graph.")
        return None

    def _predicted(self, graph: Graph) -> NDArray[np.float32]:
        return mean_distribution(self.models, graph, self.device)

    def _fitted(self, graph: Graph) -> NDArray[np.float32]:
        assert self.method is not None
        return at_temperature(self.method.fit(graph, self.split).label_distribution, self._temperature)

    def _told(self, soft: SoftNeighbours) -> tuple[SoftNeighbour, ...]:
        found = []
        for node, weight in zip(soft.nodes.tolist(), soft.weights.tolist(), strict=True):
            label, given = self._class_of(node)
            found.append(SoftNeighbour(node, self._id(node), weight, self.graph.class_names[label], given))
        return tuple(found)

    def _shares(self, shares: NDArray[np.floating[Any]]) -> tuple[ClassShare, ...]:
        order = np.argsort(-shares, kind="stable").tolist()
        return tuple(ClassShare(self.graph.class_names[label], float(shares[label])) for label in order)

    def _class_of(self, node: int) -> tuple[int, bool]:
        """A node's class, and whether it was given."""
        if node in self._given:
            return int(self.graph.labels[node]), True
        return int(self.distribution[node].argmax()), False

    @cached_property
    def _given(self) -> frozenset[int]:
        return frozenset(self.split.train.tolist())

    def _id(self, node: int) -> str:
        return name_of_node(self.graph, node)


def explain_node(
    graph: Graph,
    split: Split,
    fitted: TrainedModel | Sequence[TrainedModel] | Fit,
    node: int,
    *,
    names: FeatureNames | None = None,
    shown: int = SHOWN,
    tried: bool = True,
) -> Explanation:
    """Why a node of a graph has its label; for several nodes of one graph an `Explainer` is faster.

    Args:
        graph: The graph that was trained on.
        split: Its training nodes are those whose label was given.
        fitted: The model, or several whose answers are averaged; of a `Fit` alone, without its method, it is only
            told what the answers tell.
        node: Its number.
        names: Of the features; None for numbers.
        shown: How many of everything are listed.
        tried: Whether to find out by predicting again which features matter and what would change the answer.
    """
    fit = fitted if isinstance(fitted, Fit) else None
    models = () if isinstance(fitted, Fit) else (fitted,) if isinstance(fitted, TrainedModel) else tuple(fitted)
    return Explainer(graph, split, models, fit, names, shown).explain(node, tried=tried)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
