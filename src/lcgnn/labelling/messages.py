"""What the server tells the page: typed, and JSON in one place."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = 1

TrainingState = Literal["idle", "running", "failed", "waiting"]


@dataclass(frozen=True)
class GraphMessage:
    """The graph, once: how large it is, and the nodes that are drawn with all edges between them, or a sample."""

    name: str
    nodes: int
    edges: int
    shown: int
    sampled: bool
    edges_shown: int
    edges_sampled: bool
    simulator: bool
    ids: tuple[str, ...]
    numbers: tuple[int, ...]
    ledger: str
    next_command: str


@dataclass(frozen=True)
class ClassMessage:
    """A class with how many labels are given and how many nodes are predicted to be of it."""

    name: str
    given: int
    predicted: int


@dataclass(frozen=True)
class TrainingMessage:
    """What the training is at, with a sentence for a person."""

    state: TrainingState
    words: str


@dataclass(frozen=True)
class CurvePoint:
    """What was expected with so many labels: the share of right answers and its 95 % interval."""

    labels: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class DoubtMessage:
    """A given label that looks wrong, and what it would be instead."""

    node: int
    id: str
    given: str
    instead: str
    reason: str


@dataclass(frozen=True)
class LeastSure:
    """A node in whose surroundings the answers are least sure."""

    node: int
    id: str
    words: str


@dataclass(frozen=True)
class StateMessage:
    """Everything on the page that changes, but the answers of single nodes and the card."""

    revision: int
    classes: tuple[ClassMessage, ...]
    labelled: tuple[tuple[int, int], ...]
    skipped: int
    unsure: int
    training: TrainingMessage
    curve: tuple[CurvePoint, ...]
    advice: str
    next_ten: str
    doubtful: tuple[DoubtMessage, ...]
    least_sure: tuple[LeastSure, ...]
    messages: tuple[str, ...]
    simulating: bool


@dataclass(frozen=True)
class Column:
    """A cell of a node's row."""

    name: str
    text: str


@dataclass(frozen=True)
class Neighbour:
    """A neighbour, with the label that it was given or is predicted to have."""

    node: int
    id: str
    label: str | None
    given: bool


@dataclass(frozen=True)
class Thought:
    """How probable a class is."""

    cls: str
    probability: float


@dataclass(frozen=True)
class Card:
    """A node as a person sees it; ``node`` is None where there is none, and ``reason`` says why.

    ``cut`` has the columns of whose text only the first part is here, and how many letters the whole has.
    """

    node: int | None
    reason: str
    id: str = ""
    position: int | None = None
    columns: tuple[Column, ...] = ()
    cut: dict[str, int] = field(default_factory=dict)
    neighbours: tuple[Neighbour, ...] = ()
    more_neighbours: int = 0
    thinks: tuple[Thought, ...] = ()
    given: int | None = None


@dataclass(frozen=True)
class Found:
    """A node that a search found."""

    node: int
    id: str
    position: int | None


def to_json(message: Any, **more: Any) -> bytes:
    """A message, or none, with further parts, as JSON."""
    content = {"version": VERSION, **(_plain(message) if message is not None else {})}
    content |= {name: _plain(part) for name, part in more.items()}
    return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(part: Any) -> Any:
    """Plain data of a message; the field ``cls`` is called "class", which Python keeps for itself."""
    if isinstance(part, Card) and part.node is None:
        return {"node": None, "reason": part.reason}
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        return {
            "class" if item.name == "cls" else item.name: _plain(getattr(part, item.name))
            for item in dataclasses.fields(part)
        }
    if isinstance(part, list | tuple):
        return [_plain(item) for item in part]
    if isinstance(part, dict):
        return {name: _plain(item) for name, item in part.items()}
    return part
