"""Explanations of a model's answers on a graph: everything that ``lcgnn explain`` finds out about a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.changes import feature_slopes, trials_on, without_edges, without_features
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
from lcgnn.assessment.influence import Influence, influence_of_labels
from lcgnn.assessment.soft_neighbours import SoftNeighbours, heaviest, soft_weights
from lcgnn.errors import DataError
from lcgnn.features.names import FeatureNames
from lcgnn.graph import Graph, Split
from lcgnn.methods import Fit
from lcgnn.methods.fitted import FittedNetwork, fitted_networks
from lcgnn.runs.explained_words import in_words
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import mean_distribution

# Neighbours that are listed, and of everything else as many as asked for.
_MOST_NEIGHBOURS = 50
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Explainer:
    """What explains the answers of models on a graph; what all nodes have in common is computed once.

    Args:
        graph: The graph.
        split: Its training nodes are those whose label was given.
        models: That were trained on it; their answers are averaged.
        names: Of the features; None for numbers.
        fit: What a method that classifies no other graph made of this one; None for others.
        shown: How many of everything are listed.
        device: A torch device or "auto".
    """

    graph: Graph
    split: Split
    models: tuple[TrainedModel, ...]
    names: FeatureNames | None = None
    fit: Fit | None = None
    shown: int = _SHOWN
    device: str = "cpu"

    @cached_property
    def distribution(self) -> NDArray[np.float32]:
        """(N, C) the answers."""
        if self.fit is not None:
            return self.fit.label_distribution
        return mean_distribution(self.models, self.graph, self.device)

    @cached_property
    def networks(self) -> tuple[FittedNetwork, ...]:
        """Of all models; none where the method has no network."""
        if self.fit is not None and not self.models:
            return ()
        found = [fitted_networks(item.method, item.tensors, self.graph, self.device) for item in self.models]
        return tuple(network for of_one in found for network in of_one)

    @cached_property
    def _soft(self) -> tuple[tuple[NDArray[np.float64], bool], ...]:
        """Z of every network, and whether its classes are balanced."""
        return tuple(
            (_softmax(fitted.logits().detach().cpu().numpy()), fitted.method.balanced) for fitted in self.networks
        )

    @property
    def method(self) -> str:
        return self.models[0].name if self.models else "this method"

    def explain(self, node: int, *, changes: bool = True) -> Explanation:
        """Why a node has its label.

        Args:
            node: Its number.
            changes: Whether to try out what would change the answer, and which features matter, by predicting again.
        """
        if not 0 <= node < self.graph.num_nodes:
            raise DataError(
                f"{self.graph.name} has no node {node}; its nodes are 0 to {self.graph.num_nodes - 1}."
            )
        own = self.distribution[node]
        label = int(own.argmax())
        missing: list[str] = []
        soft = self._soft_neighbours(node, missing)
        influence = self._influence(node, label, missing)
        features = self._features(node, label, missing) if changes else ()
        neighbours = self._neighbours(node)
        trained_on = node in set(self.split.train.tolist())
        found = Explanation(
            node=node,
            id=self._id(node),
            label=self.graph.class_names[label],
            probability=float(own[label]),
            given=self.graph.class_names[self.graph.labels[node]] if trained_on else None,
            method=self.method,
            classes=self._shares(own),
            soft_neighbours=self._told_soft(soft),
            soft_classes=() if soft is None else self._shares(soft.by_class),
            labelled=self._told_influence(influence),
            neighbours=neighbours[:_MOST_NEIGHBOURS],
            more_neighbours=max(len(neighbours) - _MOST_NEIGHBOURS, 0),
            features=features,
            changes=self._changes(node, label, neighbours, features, missing) if changes else (),
            missing=tuple(missing),
        )
        return in_words(found)

    def _soft_neighbours(self, node: int, missing: list[str]) -> SoftNeighbours | None:
        if not self._soft:
            missing.append(
                f"There are no soft neighbours: {self.method} has no network that label consistency is around."
            )
            return None
        if not any(fitted.aggregates for fitted in self.networks):
            missing.append(
                "Label consistency is not part of this answer; the soft neighbours are those that it would weigh."
            )
        weights = np.mean([soft_weights(z, node, balanced=even) for z, even in self._soft], axis=0)
        return heaviest(weights, self.distribution, node, self.shown)

    def _influence(self, node: int, label: int, missing: list[str]) -> Influence | None:
        if not self.networks:
            missing.append(
                f"The influence of labels is not computed: {self.method} has no network to follow it through."
            )
            return None
        found = influence_of_labels(self.networks, self.graph, self.split.train, node, label)
        if found is None:
            missing.append("The influence of labels is not computed on a graph of this size.")
        elif not found.complete:
            missing.append(
                f"The influence of the {found.nodes.size} nearest of {self.split.train.size} labels is computed."
            )
        return found

    def _features(self, node: int, label: int, missing: list[str]) -> tuple[FeatureEffect, ...]:
        if not self.networks or self.graph.features is None:
            missing.append(
                f"Features do not enter: {self.method} reads only the edges."
                if not self.models or not self.models[0].method.inductive
                else "Which features matter is not computed."
            )
            return ()
        slopes = feature_slopes(self.networks, node, label)
        order = np.argsort(-np.abs(slopes), kind="stable")
        chosen = [int(item) for item in order[: min(trials_on(self.graph), 2 * self.shown)] if slopes[item]]
        before = float(self.distribution[node, label])
        row = self.graph.features[[node]]
        own = np.asarray(row.toarray() if hasattr(row, "toarray") else row).ravel()
        names = self.names.names if self.names else None
        effects = [
            FeatureEffect(
                names[item] if names else f"feature {item}",
                before - float(self._again(without_features(self.graph, [item]), node)[label]),
                float(own[item]),
            )
            for item in chosen
        ]
        return tuple(sorted(effects, key=lambda item: -abs(item.effect))[: self.shown])

    def _neighbours(self, node: int) -> tuple[Neighbour, ...]:
        """All of them, those with a given label first."""
        adjacency = self.graph.adjacency
        others = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        found = [self._neighbour(int(other)) for other in others if other != node]
        return tuple(sorted(found, key=lambda item: not item.given))

    def _neighbour(self, node: int) -> Neighbour:
        label, given = self._class_of(node)
        return Neighbour(
            node, self._id(node), self.graph.class_names[label], float(self.distribution[node, label]), given
        )

    def _changes(
        self,
        node: int,
        label: int,
        neighbours: Sequence[Neighbour],
        features: Sequence[FeatureEffect],
        missing: list[str],
    ) -> tuple[Change, ...]:
        """What was tried, those first that give another answer."""
        del features
        if self.fit is not None or not self.models[0].method.inductive:
            missing.append(f"What would change it is not tried: {self.method} has to be fitted again for that.")
            return ()
        tried = []
        for other in neighbours[: trials_on(self.graph)]:
            after = self._again(without_edges(self.graph, node, [other.node]), node)
            found = int(after.argmax())
            tried.append(
                Change(
                    "edge",
                    f"without the edge to {other.id}",
                    self.graph.class_names[found],
                    float(after[found]),
                    found != label,
                    (other.node,),
                )
            )
        return tuple(sorted(tried, key=lambda item: (not item.flips, item.probability))[: self.shown])

    def _again(self, graph: Graph, node: int) -> NDArray[np.float32]:
        return mean_distribution(self.models, graph, self.device)[node]

    def _told_soft(self, soft: SoftNeighbours | None) -> tuple[SoftNeighbour, ...]:
        if soft is None:
            return ()
        found = []
        for node, weight in zip(soft.nodes.tolist(), soft.weights.tolist(), strict=True):
            label, given = self._class_of(node)
            found.append(SoftNeighbour(node, self._id(node), weight, self.graph.class_names[label], given))
        return tuple(found)

    def _told_influence(self, influence: Influence | None) -> tuple[LabelInfluence, ...]:
        if influence is None:
            return ()
        order = np.argsort(-np.abs(influence.removed), kind="stable")[: self.shown]
        return tuple(
            LabelInfluence(
                int(influence.nodes[item]),
                self._id(int(influence.nodes[item])),
                float(influence.removed[item]),
                self.graph.class_names[self.graph.labels[influence.nodes[item]]],
            )
            for item in order
        )

    def _shares(self, shares: NDArray[np.floating]) -> tuple[ClassShare, ...]:
        order = np.argsort(-shares, kind="stable")
        return tuple(ClassShare(self.graph.class_names[item], float(shares[item])) for item in order)

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


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def explain_node(
    graph: Graph,
    split: Split,
    fitted: TrainedModel | Sequence[TrainedModel] | Fit,
    node: int,
    *,
    names: FeatureNames | None = None,
    shown: int = _SHOWN,
    changes: bool = True,
) -> Explanation:
    """Why a node of a graph has its label; `Explainer` is faster for several nodes of one graph.

    Args:
        graph: The graph that was trained on.
        split: Its training nodes are those whose label was given.
        fitted: The model, or several whose answers are averaged; of a `Fit` alone, without its method, only what the
            answers tell.
        node: Its number.
        names: Of the features; None for numbers.
        shown: How many of everything are listed.
        changes: Whether to try out what would change the answer, and which features matter, by predicting again.
    """
    fit = fitted if isinstance(fitted, Fit) else None
    models = () if isinstance(fitted, Fit) else (fitted,) if isinstance(fitted, TrainedModel) else tuple(fitted)
    return Explainer(graph, split, models, names, fit, shown).explain(node, changes=changes)
