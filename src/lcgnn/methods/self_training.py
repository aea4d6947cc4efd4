"""Self-training: what a mean of models is surest of counts as labelled for one model more.

Labels that a model gives itself are an old idea (Lee 2013, "Pseudo-label"), and were tried with graph networks by
Li, Han and Wu 2018 and in several rounds by Sun, Lin and Zhu 2020 (M3S). Here the teachers are label consistency,
several models of it, because one model's mistakes are not the next one's. As many nodes are believed of every
class: in proportion to what is predicted, large classes outgrow small ones. The student begins from nothing. More
rounds, and students that are several models or are averaged with their teachers, were hardly better;
docs/methods.md has the figures, and by what they were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.placement.base import Kind
from lcgnn.errors import ConfigError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods.base import OWN_GRAPH, Context, Fit, Method, create, entry, register, setting, settings_of
from lcgnn.methods.blend import Blend
from lcgnn.methods.several import context_of
from lcgnn.training.loop import Selection

SELF_TRAINING = "self-training"


@register(SELF_TRAINING, "Label consistency, whose surest answers count as labels for one more model.")
@dataclass(frozen=True)
class SelfTraining(Method):
    """Teachers are fitted to the labels, a student to these and to what the teachers are surest of."""

    teachers: str = setting(
        "lc-appnp", "The methods whose mean names further labels, separated by commas; as on a graph of one's own."
    )
    models: int = setting(3, "Models of each teacher, from different seeds.", at_least=1, at_most=100)
    share: float = setting(
        0.2,
        "How many nodes of every class are believed, the surest first: so many times what each had if all were of "
        "one size.",
        above=0,
        at_most=1,
    )
    student: str = setting("lc-appnp", "The method that is fitted to the labels and to what is believed.")
    base_epochs: int | None = setting(None, "Epochs of their first phases; null: as on a graph of one's own.")
    epochs: int | None = setting(None, "Epochs with label consistency; null: as on a graph of one's own.")
    selection: Selection | None = setting(
        None,
        "Which epoch they keep: by validation accuracy or loss, or the last; null: as on a graph of one's own.",
    )

    def __post_init__(self) -> None:
        if SELF_TRAINING in self._all_names:
            raise ConfigError("self-training: a teacher or student cannot be self-training itself.")
        if len(set(self._names)) < max(len(self._names), 1):
            raise ConfigError(f"self-training: teachers is {self.teachers!r}; name one or more, each once.")
        for key in ("base_epochs", "epochs"):
            if getattr(self, key) is not None and not any(key in _settings_of(name) for name in self._all_names):
                raise ConfigError(f"self-training: neither its teachers nor its student have {key}.")
        _ = self.teacher, self.learner

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.teachers.split(",") if name.strip())

    @property
    def _all_names(self) -> tuple[str, ...]:
        return (*self._names, self.student)

    @cached_property
    def teacher(self) -> Method:
        """Whose answer is believed."""
        made = {name: self._made(name, self.models) for name in self._names}
        return Blend.of(made) if len(made) > 1 else made[self._names[0]]

    @cached_property
    def learner(self) -> Method:
        """Whose answer it is in the end."""
        return self._made(self.student, 1)

    def _made(self, name: str, models: int) -> Method:
        known = _settings_of(name)
        asked = {
            "models": models,
            "base_epochs": self.base_epochs,
            "epochs": self.epochs,
            "selection": self.selection,
        }
        return create(
            name, OWN_GRAPH, **{key: asked[key] for key in asked.keys() & known if asked[key] is not None}
        )

    @property
    def inductive(self) -> bool:
        return self.learner.inductive

    @property
    def placements(self) -> frozenset[Kind]:
        # Ranks share one checkpoint, and none of them has all answers.
        return (self.teacher.placements & self.learner.placements) - {"on ranks"}

    @property
    def passes_a_step(self) -> int:
        return max(self.teacher.passes_a_step, self.learner.passes_a_step)

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        context = context or Context()
        split.check(graph)
        if self.selection == "last":
            # No validation label is read: their nodes are as good as any.
            split = replace(split, validation=_NOBODY)
        taught = self.teacher.fit(graph, split, seed, context_of(context, 0))
        given, answer = np.concatenate([split.train, split.validation]), taught.label_distribution
        believed = surest(answer, self.share, given)
        more = _with_labels(graph, given, believed, answer)
        trained_on = replace(split, train=np.sort(np.append(split.train, believed)), test=_NOBODY)
        learnt = self.learner.fit(more, trained_on, seed, context_of(context, 1))
        teachers = taught.stages[-1]
        note = f"Of the teachers: {teachers.note}" if teachers.note else ""
        stages = (
            replace(teachers, name="teachers", note=note),
            replace(learnt.stages[-1], name=SELF_TRAINING),
        )
        return Fit(stages, learnt.tensors, taught.seconds + learnt.seconds)

    def apply(self, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto") -> NDArray[np.float32]:
        """(N, C) what the student says of a graph."""
        return self.learner.apply(fitted, graph, device)


def _settings_of(name: str) -> set[str]:
    return set(settings_of(entry(name).method))


_NOBODY = np.empty(0, dtype=np.int64)


def surest(distribution: NDArray[np.float32], share: float, known: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes that are given their class with most probability, as many of each class as there are; in order.

    Args:
        distribution: (N, C) the prediction.
        share: Of N / C nodes.
        known: Nodes whose label is not asked for.
    """
    num_nodes, num_classes = distribution.shape
    predicted, probability = distribution.argmax(axis=1), distribution.max(axis=1)
    predicted[known] = UNLABELLED
    chosen = [_NOBODY]
    for label in range(num_classes):
        nodes = np.flatnonzero(predicted == label)
        best = np.argsort(-probability[nodes], kind="stable")
        chosen.append(nodes[best[: int(np.ceil(share * num_nodes / num_classes))]])
    return np.sort(np.concatenate(chosen))


def _with_labels(
    graph: Graph, given: NDArray[np.int64], believed: NDArray[np.int64], distribution: NDArray[np.float32]
) -> Graph:
    """The graph with the labels of the given nodes, those that are believed and no others."""
    labels = np.full(graph.num_nodes, UNLABELLED)
    labels[given] = graph.labels[given]
    labels[believed] = distribution[believed].argmax(axis=1)
    return replace(graph, labels=labels)
