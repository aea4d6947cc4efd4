"""What the model says of every node, and what there is to see in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import at_temperature
from lcgnn.assessment.direction import isolated
from lcgnn.assessment.doubt import doubtful_labels
from lcgnn.features.names import feature_names
from lcgnn.graph import Graph
from lcgnn.labelling.messages import DoubtMessage, LeastSure, Thought
from lcgnn.labelling.opening import Opened
from lcgnn.labelling.training import METHOD, Estimated, Fitted, Job, page_method
from lcgnn.runs.explaining.explainer import Explainer
from lcgnn.runs.model import TrainedModel

_MOST_REGIONS = 8
_MOST_DOUBTS = 20


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model that was trained on some labels says.

    Args:
        opened: The graph.
        fitted: The model.
        temperature: Of the probabilities, by the newest estimate.
    """

    opened: Opened
    fitted: Fitted
    temperature: float = 1.0

    @property
    def job(self) -> Job:
        """The labels that were learnt from."""
        return self.fitted.job

    @cached_property
    def distribution(self) -> NDArray[np.float32]:
        """(N, C) over the classes that had labels."""
        return at_temperature(self.fitted.fit.label_distribution, self.temperature)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(N,) the most probable of these classes."""
        return np.asarray(self.distribution.argmax(axis=1))

    @cached_property
    def sureness(self) -> NDArray[np.float32]:
        """(N,) its probability."""
        return np.asarray(self.distribution.max(axis=1))

    def in_classes(self, names: tuple[str, ...]) -> NDArray[np.int64]:
        """(N,) the answers as numbers of these classes; -1 for one that is no longer there."""
        place = {name: number for number, name in enumerate(names)}
        return np.array([place.get(name, -1) for name in self.job.class_names])[self.labels]

    def thinks(self, node: int) -> tuple[Thought, ...]:
        """How probable each class is for a node, the most probable first.

        All of them, because every one has a button: no more can be learnt than the state names each time as well.
        """
        own = self.distribution[node]
        order = np.argsort(-own, kind="stable")
        return tuple(Thought(self.job.class_names[label], round(float(own[label]), 4)) for label in order)

    @cached_property
    def least_sure(self) -> tuple[LeastSure, ...]:
        """Nodes in whose surroundings the answers are least sure, far from each other."""
        graph = self.opened.graph
        degree = np.diff(graph.adjacency.indptr)
        around = (graph.adjacency.astype(bool) @ self.sureness + self.sureness) / (degree + 1)
        around[self.job.nodes] = np.inf
        free = np.ones(graph.num_nodes, dtype=bool)
        found: list[LeastSure] = []
        for node in np.argsort(around, kind="stable"):
            if len(found) == _MOST_REGIONS or not np.isfinite(around[node]):
                break
            if free[node]:
                found.append(self._region(int(node), float(around[node]), int(degree[node])))
                near = _neighbours(graph, int(node))
                free[near] = free[node] = False
        return tuple(found)

    def _region(self, node: int, around: float, degree: int) -> LeastSure:
        first, second = (isolated(repr(thought.cls)) for thought in self.thinks(node)[:2])
        others = f"with its {degree:,} neighbour{'s' * (degree != 1)} " if degree else ""
        words = f"{others}{100 * around:.0f} % sure on average; here {first} or {second}"
        return LeastSure(node, self.opened.ids[node], words)

    @cached_property
    def model(self) -> TrainedModel:
        """The model as it can be kept and used again."""
        about = {"made_by": "lcgnn label", "labels": int(self.job.nodes.size)}
        graph, _ = self.job.labelled(self.opened.graph)
        return TrainedModel.of(
            METHOD,
            page_method(),
            graph,
            self.fitted.fit,
            temperature=self.temperature,
            form=self.opened.form,
            about=about,
        )

    @cached_property
    def explainer(self) -> Explainer:
        """What explains the answers."""
        names = feature_names(self.opened.loaded.encoding, self.opened.graph.num_features, self.opened.table)
        # Fitting again for every label would keep the page waiting.
        return Explainer(
            *self.job.labelled(self.opened.graph),
            (self.model,),
            names=names,
            retrain=False,
            made_of_edges=self.opened.loaded.made_of_edges,
        )


def _neighbours(graph: Graph, node: int) -> NDArray[np.int64]:
    start, end = graph.adjacency.indptr[node : node + 2]
    return np.asarray(graph.adjacency.indices[start:end], dtype=np.int64)


def doubts_of(opened: Opened, estimated: Estimated) -> tuple[DoubtMessage, ...]:
    """The labels that look wrong by the folds of an estimate."""
    graph, _ = estimated.job.labelled(opened.graph)
    found = doubtful_labels(graph.labels, estimated.nodes, estimated.held_out, graph=graph)[:_MOST_DOUBTS]
    return tuple(
        DoubtMessage(
            doubt.node,
            opened.ids[doubt.node],
            graph.class_names[doubt.given],
            graph.class_names[doubt.instead],
            doubt.reason,
        )
        for doubt in found
    )
