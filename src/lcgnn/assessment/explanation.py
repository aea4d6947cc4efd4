"""Why a node has its label, as data: who was weighed, which labels speak for it, what would change it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

ChangeKind: TypeAlias = Literal["edge", "feature", "label"]


@dataclass(frozen=True)
class SoftNeighbour:
    """A node that label consistency weighed when it averaged over all nodes.

    Args:
        node: Its number.
        id: How the user calls it.
        weight: Its share of all weight.
        label: Its class: the given one where there is one, else the predicted one.
        given: Whether the class was given.
    """

    node: int
    id: str
    weight: float
    label: str
    given: bool


@dataclass(frozen=True)
class LabelInfluence:
    """A given label that speaks for the answer, or against it.

    Args:
        node: Whose label.
        id: How the user calls it.
        influence: By how much the log-odds of the answer would fall without this label: above 0 it speaks for it.
        label: The class that was given.
    """

    node: int
    id: str
    influence: float
    label: str


@dataclass(frozen=True)
class Neighbour:
    """A neighbour in the graph.

    Args:
        node: Its number.
        id: How the user calls it.
        label: Its class: the given one where there is one, else the predicted one.
        probability: That the model gives to that class.
        given: Whether the class was given.
    """

    node: int
    id: str
    label: str
    probability: float
    given: bool


@dataclass(frozen=True)
class FeatureEffect:
    """A feature that matters for the answer.

    Args:
        name: The user's column, with the category or the word where it has several; else its number.
        effect: By how much the answer's probability falls if the feature is blotted out, for this node and for all
            others: above 0 it speaks for the answer.
        own: The node's own value, as the network reads it; 0 if only others have it.
    """

    name: str
    effect: float
    own: float


@dataclass(frozen=True)
class ClassShare:
    """A class with a share of something."""

    label: str
    share: float


@dataclass(frozen=True)
class Change:
    """A change that was tried, and the answer after it.

    Args:
        kind: What was changed: edges or features of the node, or a given label, for which the model was trained
            again.
        what: It in words.
        label: The answer after it.
        probability: Of that answer.
        flips: Whether that is another answer than before.
        of_answer: The probability that the answer before has after it.
        nodes: The other nodes that it is about.
    """

    kind: ChangeKind
    what: str
    label: str
    probability: float
    flips: bool
    of_answer: float
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Why a node has its label.

    Args:
        node: Its number.
        id: How the user calls it.
        label: What the model says.
        probability: How sure it is of that.
        given: The label that the node was given, if it was trained on.
        method: Of the model.
        classes: The probability of every class, the largest first.
        soft_neighbours: That label consistency weighed most, the heaviest first.
        soft_classes: How all weight is spread over the predicted classes.
        labelled: Given labels by their influence, the strongest first, for or against.
        neighbours: In the graph, those with a given label first.
        more_neighbours: How many there are beyond these.
        features: That matter most, the strongest first.
        changes: That were tried, those that give another answer first.
        words: All of it in sentences.
        missing: What there is none of, and why, a sentence each.
    """

    node: int
    id: str
    label: str
    probability: float
    given: str | None
    method: str
    classes: tuple[ClassShare, ...]
    soft_neighbours: tuple[SoftNeighbour, ...] = ()
    soft_classes: tuple[ClassShare, ...] = ()
    labelled: tuple[LabelInfluence, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    more_neighbours: int = 0
    features: tuple[FeatureEffect, ...] = ()
    changes: tuple[Change, ...] = ()
    words: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        content = dataclasses.asdict(self)
        return {name: _plain(value) for name, value in content.items()}


def _plain(value: Any) -> Any:
    """Tuples as lists, and numbers with the digits that mean something."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
