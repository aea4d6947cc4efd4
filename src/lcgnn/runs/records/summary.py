"""The summary of a session: the results of all seeds together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcgnn.assessment.evaluation import ClassCount, PairedDifference
from lcgnn.assessment.trust import Assessment
from lcgnn.runs.fields import (
    Fields,
    Place,
    count,
    duration,
    fields_of,
    list_of,
    nullable,
    number,
    plain_object,
    share,
    text,
    whole,
)
from lcgnn.runs.records.assessment import read_assessment
from lcgnn.runs.records.choice import ChoiceRecord, read_choice
from lcgnn.runs.records.configuration import UsedSplit, read_used_split
from lcgnn.runs.records.record import read_class_count
from lcgnn.runs.reported import Reported


@dataclass(frozen=True)
class StageSummary:
    """A stage over all seeds, beside what the paper reports for it.

    Args:
        name: Of the stage.
        method: Whose results these are: the base's, for a stage that is not the last.
        test_accuracy: By seed; None where there are no test labels.
        validation_accuracy: By seed.
        mean: Of the test accuracies; None where there are none.
        std: Their sample standard deviation.
        paper: What the paper reports, in percent.
        notes: What there is to say of it, a sentence a seed at most.
        balanced: The mean of the test accuracies if every class counts the same, on a graph of the user's own
            whose classes are unequal.
    """

    name: str
    method: str
    test_accuracy: tuple[float | None, ...]
    validation_accuracy: tuple[float | None, ...]
    mean: float | None
    std: float | None
    paper: Reported | None
    notes: tuple[str, ...] = ()
    balanced: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data, without a balanced accuracy where there is none."""
        content = dataclasses.asdict(self)
        if self.balanced is None:
            del content["balanced"]
        lists = {name: list(content[name]) for name in ("test_accuracy", "validation_accuracy", "notes")}
        return {**content, **lists}


@dataclass(frozen=True)
class Answers:
    """What there is to say of a graph of the user's own.

    Args:
        predictions: Paths of the files: the mean of several seeds first, then one a seed.
        classes: Given and predicted labels of each class.
        notes: What was noticed about the graph and its labels.
    """

    predictions: tuple[str, ...]
    classes: tuple[ClassCount, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "predictions": list(self.predictions),
            "classes": [dataclasses.asdict(item) for item in self.classes],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class MessageCost:
    """What messages of one kind cost: their number, the bytes sent and the seconds, an epoch and a rank."""

    messages: float
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Communication:
    """What the ranks told each other.

    Args:
        ranks: How many there were.
        epochs: Of all fits.
        costs: By kind of message, on average of an epoch and a rank.
    """

    ranks: int
    epochs: int
    costs: Mapping[str, MessageCost]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        costs = {kind: dataclasses.asdict(cost) for kind, cost in self.costs.items()}
        return {"ranks": self.ranks, "epochs": self.epochs, "per_epoch_and_rank": costs}


@dataclass(frozen=True)
class Summary:
    """What a session came to.

    Args:
        dataset: A benchmark's name, or what the graph is called.
        method: Its name.
        split: Which labels were used.
        settings: All of the method's.
        seeds: In order; results by seed are in the same.
        seconds: Of training, by seed.
        stages: At least one; the last is the result.
        folder: Of the session.
        lcgnn: The version that it was made with.
        answers: Of a graph of the user's own; None for a benchmark.
        expected: How far the predictions can be trusted, where that was estimated.
        difference: The last stage minus the first, where there are several.
        communication: Of ranks that trained together.
        choice: What was tried on the held-out labels before the method was taken, where several answers were.
    """

    dataset: str
    method: str
    split: UsedSplit
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]
    seconds: tuple[float, ...]
    stages: tuple[StageSummary, ...]
    folder: str
    lcgnn: str
    answers: Answers | None = None
    expected: Assessment | None = None
    difference: PairedDifference | None = None
    communication: Communication | None = None
    choice: ChoiceRecord | None = None

    @property
    def last(self) -> StageSummary:
        """The stage that is the result."""
        return self.stages[-1]

    def to_json(self) -> dict[str, Any]:
        """As plain data, with the last stage's accuracies at the top as well."""
        content = {
            "dataset": self.dataset,
            "method": self.method,
            "split": self.split.to_json(),
            "settings": dict(self.settings),
            "seeds": list(self.seeds),
            **_of_last(self.last),
            "seconds": list(self.seconds),
            "stages": [stage.to_json() for stage in self.stages],
            "folder": self.folder,
            "lcgnn": self.lcgnn,
        }
        if self.answers is not None:
            content |= self.answers.to_json()
        if self.expected is not None:
            classes = () if self.answers is None else self.answers.classes
            content["expected"] = self.expected.to_json_in_words(classes)
        if self.difference is not None:
            content["difference"] = _without_nan(dataclasses.asdict(self.difference))
        if self.communication is not None:
            content["communication"] = self.communication.to_json()
        if self.choice is not None:
            content["choice"] = self.choice.to_json()
        return content

    @classmethod
    def from_json(cls, content: Any, where: str = "summary") -> Summary:
        """From plain data, or OutputError that says which field of it is wrong."""
        with fields_of(content, Place(where)) as fields:
            summary = cls(
                dataset=fields.read("dataset", text),
                method=fields.read("method", text),
                split=fields.read("split", read_used_split),
                settings=fields.read("settings", plain_object),
                seeds=fields.read("seeds", list_of(whole)),
                seconds=fields.read("seconds", list_of(duration)),
                stages=fields.read("stages", list_of(_stage)),
                folder=fields.read("folder", text),
                lcgnn=fields.read("lcgnn", text),
                answers=_answers(fields) if "predictions" in fields else None,
                expected=fields.find("expected", read_assessment),
                difference=fields.find("difference", _difference),
                communication=fields.find("communication", _communication),
                choice=fields.find("choice", read_choice),
            )
            _check_together(summary, fields)
            return summary


def _of_last(stage: StageSummary) -> dict[str, Any]:
    names = ("test_accuracy", "validation_accuracy", "mean", "std")
    content = stage.to_json()
    return {name: content[name] for name in names}


def _without_nan(content: dict[str, Any]) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in content.items()}


def _check_together(summary: Summary, fields: Fields) -> None:
    """What no field can be checked for alone: as many results as seeds, and the last stage's at the top."""
    stages = fields.place.to("stages")
    if not summary.stages:
        raise stages.error("is empty")
    by_seed = [(fields.place.to("seconds"), len(summary.seconds))]
    for position, stage in enumerate(summary.stages):
        place = stages.to(position)
        by_seed.append((place.to("test_accuracy"), len(stage.test_accuracy)))
        by_seed.append((place.to("validation_accuracy"), len(stage.validation_accuracy)))
    for place, found in by_seed:
        if found != len(summary.seeds):
            raise place.error(f"has {found} items for {len(summary.seeds)} seeds")
    for name, value in _of_last(summary.last).items():
        if fields.read(name, lambda content, _: content) != value:
            raise fields.place.to(name).error("is not that of the last stage")


def _stage(content: Any, place: Place) -> StageSummary:
    with fields_of(content, place) as fields:
        return StageSummary(
            name=fields.read("name", text),
            method=fields.read("method", text),
            test_accuracy=fields.read("test_accuracy", list_of(nullable(share))),
            validation_accuracy=fields.read("validation_accuracy", list_of(nullable(share))),
            mean=fields.read("mean", nullable(share)),
            std=fields.read("std", nullable(number)),
            paper=fields.read("paper", nullable(_reported)),
            notes=fields.find("notes", list_of(text)) or (),
            balanced=fields.find("balanced", nullable(share)),
        )


def _reported(content: Any, place: Place) -> Reported:
    with fields_of(content, place) as fields:
        return Reported(fields.read("mean", number), fields.read("std", nullable(number)))


def _answers(fields: Fields) -> Answers:
    return Answers(
        fields.read("predictions", list_of(text)),
        fields.read("classes", list_of(read_class_count)),
        fields.read("notes", list_of(text)),
    )


def _difference(content: Any, place: Place) -> PairedDifference:
    """With NaN for what a single seed does not tell, which JSON has as null."""
    with fields_of(content, place) as fields:
        mean = fields.read("mean", number)
        untold = [fields.read(name, nullable(number)) for name in ("low", "high", "p_value")]
        low, high, p_value = (math.nan if value is None else value for value in untold)
        return PairedDifference(mean, low, high, p_value, fields.read("wins", count), fields.read("count", count))


def _communication(content: Any, place: Place) -> Communication:
    with fields_of(content, place) as fields:
        ranks, epochs = fields.read("ranks", count), fields.read("epochs", count)
        return Communication(ranks, epochs, fields.read("per_epoch_and_rank", _costs))


def _costs(content: Any, place: Place) -> dict[str, MessageCost]:
    with fields_of(content, place) as fields:
        return {kind: fields.read(kind, _cost) for kind in content}


def _cost(content: Any, place: Place) -> MessageCost:
    with fields_of(content, place) as fields:
        return MessageCost(
            fields.read("messages", number), fields.read("bytes", count), fields.read("seconds", duration)
        )
