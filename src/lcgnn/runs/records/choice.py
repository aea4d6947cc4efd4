"""The record of a choice: what was tried on the same held-out labels, and what was taken."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from lcgnn.assessment.choice import Difference
from lcgnn.runs.fields import Place, count, duration, fields_of, list_of, nullable, number, positive, share, text


@dataclass(frozen=True)
class Tried:
    """An answer that was tried.

    Args:
        name: Of the method that gives it.
        right: Held-out labels that it predicted right.
        labels: That were held out.
        low: Lower end of the 95 % interval of its accuracy.
        high: Upper end.
        behind_best: Its accuracy minus that of the answer that was right most often, on the same labels; None
            for that one.
        folds: That it was tried on; fewer than the others had if it was clearly behind.
        seconds: Of training, with whatever other answers come from the same models.
        mean_of: The answers that it is the mean of, if it is one.
    """

    name: str
    right: int
    labels: int
    low: float
    high: float
    behind_best: Difference | None
    folds: int
    seconds: float
    mean_of: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float:
        """The share of the held-out labels that it predicted right."""
        return self.right / self.labels

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        content = dataclasses.asdict(self)
        del content["mean_of"]
        return {**content, "mean_of": list(self.mean_of)} if self.mean_of else content


@dataclass(frozen=True)
class Failed:
    """A method that could not be tried to the end, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class ChoiceRecord:
    """What was tried and what was taken.

    Args:
        tried: The answers, the most accurate first, then those that were not tried to the end.
        taken: The name of the one that was taken.
        folds: That those were tried on that were tried to the end.
        of_folds: Parts that the labels were divided into.
        left_out: Methods that there was no time for.
        budget: Seconds that there were; None where time did not matter.
        guard: Whether this was only about a method with or without its second phase.
        failed: Methods that do not fit into memory, or that could not be trained.
    """

    tried: tuple[Tried, ...]
    taken: str
    folds: int
    of_folds: int
    left_out: tuple[str, ...] = ()
    budget: float | None = None
    guard: bool = False
    failed: tuple[Failed, ...] = ()

    @property
    def finalists(self) -> tuple[Tried, ...]:
        """The answers that were tried on all folds."""
        return tuple(item for item in self.tried if item.folds == self.folds)

    def named(self, name: str) -> Tried | None:
        """What became of an answer."""
        return next((item for item in self.tried if item.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        content = dataclasses.asdict(self)
        lists = {name: list(content[name]) for name in ("left_out", "failed")}
        if not self.failed:
            del content["failed"], lists["failed"]
        return {**content, **lists, "tried": [item.to_json() for item in self.tried]}


def read_choice(content: Any, place: Place) -> ChoiceRecord:
    """What a choice was written as."""
    with fields_of(content, place) as fields:
        record = ChoiceRecord(
            tried=fields.read("tried", list_of(_tried)),
            taken=fields.read("taken", text),
            folds=fields.read("folds", count),
            of_folds=fields.read("of_folds", count),
            left_out=fields.read("left_out", list_of(text)),
            budget=fields.read("budget", nullable(positive)),
            guard=fields.read("guard", _boolean),
            failed=fields.find("failed", list_of(_failed)) or (),
        )
        if record.taken not in {item.name for item in record.finalists}:
            raise place.to("taken").error("is not among the answers that were tried on all folds")
        return record


def _tried(content: Any, place: Place) -> Tried:
    with fields_of(content, place) as fields:
        right, labels = fields.read("right", count), fields.read("labels", count)
        if not right <= labels or not labels:
            raise place.to("right").error(f"is {right} of {labels} labels")
        return Tried(
            name=fields.read("name", text),
            right=right,
            labels=labels,
            low=fields.read("low", share),
            high=fields.read("high", share),
            behind_best=fields.read("behind_best", nullable(_difference)),
            folds=fields.read("folds", count),
            seconds=fields.read("seconds", duration),
            mean_of=fields.find("mean_of", list_of(text)) or (),
        )


def _failed(content: Any, place: Place) -> Failed:
    with fields_of(content, place) as fields:
        return Failed(fields.read("name", text), fields.read("reason", text))


def _difference(content: Any, place: Place) -> Difference:
    with fields_of(content, place) as fields:
        mean, low = fields.read("mean", number), fields.read("low", number)
        return Difference(mean, low, fields.read("high", number))


def _boolean(value: Any, place: Place) -> bool:
    if not isinstance(value, bool):
        raise place.wrong(value, "true or false")
    return value
