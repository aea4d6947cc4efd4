"""The record of a run: what was run, how good every stage of it is, and with what it was run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lcgnn.assessment.evaluation import ClassCount, Fifth, are_unequal, balanced_accuracy
from lcgnn.assessment.trust import Assessment
from lcgnn.runs.fields import (
    Place,
    count,
    duration,
    fields_of,
    list_of,
    nullable,
    number,
    plain_object,
    positive,
    share,
    text,
    whole,
)
from lcgnn.runs.records.assessment import read_assessment
from lcgnn.runs.records.choice import ChoiceRecord, read_choice
from lcgnn.runs.spec import SplitSpec, fingerprint, read_split


class CurvePoint(NamedTuple):
    """An epoch of a training curve; None for what was not measured."""

    epoch: int
    loss: float | None
    validation_loss: float | None
    validation_accuracy: float | None


@dataclass(frozen=True)
class StageRecord:
    """How good a stage of a run is.

    Args:
        name: Of the stage.
        best_epoch: The epoch that was kept.
        epochs: How many there were.
        train_accuracy: On the training nodes; None where a part of the split has no nodes.
        validation_accuracy: On the validation nodes.
        test_accuracy: On the test nodes.
        calibration_error: On the test nodes, as are the next two.
        confusion: How many nodes of class i (row) are taken for class j (column).
        fifths: The nodes by label consistency.
        curve: Some of the epochs.
        note: What there is to say of the stage, if anything.
        confidence: The mean probability of the class that is predicted, on the test nodes; None in older records.
    """

    name: str
    best_epoch: int
    epochs: int
    train_accuracy: float | None
    validation_accuracy: float | None
    test_accuracy: float | None
    calibration_error: float | None = None
    confusion: tuple[tuple[int, ...], ...] | None = None
    fifths: tuple[Fifth, ...] | None = None
    curve: tuple[CurvePoint, ...] | None = None
    note: str | None = None
    confidence: float | None = None

    def accuracy(self, fifth: int | None = None) -> float | None:
        """Test accuracy of all nodes, or in a fifth of label consistency (1 to 5); None if it was not measured."""
        if fifth is None:
            return self.test_accuracy
        return self.fifths[fifth - 1].accuracy if self.fifths else None

    @property
    def balanced_accuracy(self) -> float | None:
        """Test accuracy if every class counts the same, where the classes are unequal; None where they are not."""
        if self.confusion is None:
            return None
        confused = np.array(self.confusion, dtype=np.int64)
        counts = confused.sum(axis=1)
        return balanced_accuracy(confused.diagonal(), counts) if are_unequal(counts) else None

    def to_json(self) -> dict[str, Any]:
        """As plain data, without what was not measured."""
        content: dict[str, Any] = {
            "name": self.name,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "train_accuracy": self.train_accuracy,
            "validation_accuracy": self.validation_accuracy,
            "test_accuracy": self.test_accuracy,
        }
        if self.calibration_error is not None:
            content["calibration_error"] = self.calibration_error
        if self.confusion is not None:
            content["confusion"] = [list(row) for row in self.confusion]
        if self.fifths is not None:
            content["fifths"] = [dataclasses.asdict(fifth) for fifth in self.fifths]
        if self.curve is not None:
            content["curve"] = [list(point) for point in self.curve]
        if self.note is not None:
            content["note"] = self.note
        if self.confidence is not None:
            content["confidence"] = self.confidence
        return content


@dataclass(frozen=True)
class Environment:
    """What a run was done with: versions, the machine, the commit, and when; None for what is not known."""

    lcgnn: str | None = None
    torch: str | None = None
    numpy: str | None = None
    numba: str | None = None
    python: str | None = None
    machine: str | None = None
    commit: str | None = None
    finished: str | None = None

    def to_json(self) -> dict[str, str]:
        """As plain data, without what is not known."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    def software(self) -> dict[str, str]:
        """What is the same for runs that should give the same: all but the time."""
        return {name: value for name, value in self.to_json().items() if name != "finished"}


@dataclass(frozen=True)
class Record:
    """All that is known of a finished run.

    Args:
        run: A hash of everything that determines the result.
        dataset: A benchmark's name, or what the graph is called.
        method: Its name.
        settings: All of the method's.
        split: Which labels were used.
        seed: Of everything random.
        graph: The graph's checksum.
        seconds: Of training.
        stages: At least one; the last is the result.
        environment: What it was run with.
        classes: Their names; None in the oldest records.
        class_counts: Given and predicted labels, of a user's own graph.
        source: Where the graph comes from, if it is not a benchmark.
        temperature: Of the probabilities that were written; None where none were.
        artifacts: SHA-256 of every file that was written beside the record, by name; None in older records, and
            where nothing was.
        choice: What was tried before the method was taken, in a study of that choice.
        expected: What was expected of the answer that was taken, from the given labels.
    """

    run: str
    dataset: str
    method: str
    settings: Mapping[str, Any]
    split: SplitSpec
    seed: int
    graph: str
    seconds: float
    stages: tuple[StageRecord, ...]
    environment: Environment
    classes: tuple[str, ...] | None = None
    class_counts: tuple[ClassCount, ...] | None = None
    source: Mapping[str, Any] | None = None
    temperature: float | None = None
    artifacts: Mapping[str, str] | None = None
    choice: ChoiceRecord | None = None
    expected: Assessment | None = None

    @property
    def last(self) -> StageRecord:
        """The stage that is the result."""
        return self.stages[-1]

    def stage(self, name: str | None = None) -> StageRecord | None:
        """The stage that counts: the one of that name, if there is one, or the last."""
        if name is None:
            return self.last
        return next((stage for stage in self.stages if stage.name == name), None)

    @cached_property
    def key(self) -> str:
        """The same for all runs that differ in nothing but their seeds."""
        return configuration_key(self.dataset, self.method, self.settings, self.split)

    def to_json(self) -> dict[str, Any]:
        """As plain data, without what is not known."""
        counts = self.class_counts
        content = {
            "run": self.run,
            "dataset": self.dataset,
            "method": self.method,
            "settings": dict(self.settings),
            "split": self.split.to_json(),
            "tables": None if self.source is None else dict(self.source),
            "seed": self.seed,
            "graph": self.graph,
            "class_counts": None if counts is None else [dataclasses.asdict(item) for item in counts],
            "seconds": self.seconds,
            "classes": None if self.classes is None else list(self.classes),
            "stages": [stage.to_json() for stage in self.stages],
            "environment": self.environment.to_json(),
            "temperature": self.temperature,
            "artifacts": None if self.artifacts is None else dict(self.artifacts),
            "choice": None if self.choice is None else self.choice.to_json(),
            "expected": None if self.expected is None else self.expected.to_json(),
        }
        return {name: value for name, value in content.items() if value is not None}

    @classmethod
    def from_json(cls, content: Any, where: str = "record") -> Record:
        """From plain data, or OutputError that says which field of it is wrong.

        Args:
            content: What ``to_json`` gave.
            where: What to call it in an error: the file that it comes from.
        """
        with fields_of(content, Place(where)) as fields:
            record = cls(
                run=fields.read("run", text),
                dataset=fields.read("dataset", text),
                method=fields.read("method", text),
                settings=fields.read("settings", plain_object),
                split=fields.read("split", read_split),
                seed=fields.read("seed", whole),
                graph=fields.read("graph", text),
                seconds=fields.read("seconds", duration),
                stages=fields.read("stages", list_of(_stage)),
                environment=fields.read("environment", _environment),
                classes=fields.find("classes", list_of(text)),
                class_counts=fields.find("class_counts", list_of(read_class_count)),
                source=fields.find("tables", plain_object),
                temperature=fields.find("temperature", positive),
                artifacts=fields.find("artifacts", _artifacts),
                choice=fields.find("choice", read_choice),
                expected=fields.find("expected", read_assessment),
            )
            _check_together(record, fields.place)
            return record


def configuration_key(dataset: str, method: str, settings: Mapping[str, Any], split: SplitSpec) -> str:
    """A hash of what runs have in common that differ only in their seeds."""
    return fingerprint(
        {"dataset": dataset, "method": method, "settings": dict(settings), "split": split.to_json()}
    )


def read_class_count(content: Any, place: Place) -> ClassCount:
    with fields_of(content, place) as fields:
        return ClassCount(fields.read("name", text), fields.read("given", count), fields.read("predicted", count))


def _check_together(record: Record, place: Place) -> None:
    """What no field can be checked for alone."""
    stages = place.to("stages")
    if not record.stages:
        raise stages.error("is empty")
    for position, stage in enumerate(record.stages):
        if stage.confusion and record.classes and len(stage.confusion) != len(record.classes):
            confusion = stages.to(position).to("confusion")
            raise confusion.error(f"has {len(stage.confusion)} rows for {len(record.classes)} classes")


def _artifacts(content: Any, place: Place) -> dict[str, str]:
    return {name: text(value, place.to(name)) for name, value in plain_object(content, place).items()}


def _stage(content: Any, place: Place) -> StageRecord:
    with fields_of(content, place) as fields:
        return StageRecord(
            name=fields.read("name", text),
            best_epoch=fields.read("best_epoch", whole),
            epochs=fields.read("epochs", count),
            train_accuracy=fields.read("train_accuracy", nullable(share)),
            validation_accuracy=fields.read("validation_accuracy", nullable(share)),
            test_accuracy=fields.read("test_accuracy", nullable(share)),
            calibration_error=fields.find("calibration_error", share),
            confusion=fields.find("confusion", _confusion),
            fifths=fields.find("fifths", list_of(_fifth, length=5)),
            curve=fields.find("curve", list_of(_curve_point)),
            note=fields.find("note", text),
            confidence=fields.find("confidence", share),
        )


def _confusion(content: Any, place: Place) -> tuple[tuple[int, ...], ...]:
    rows = list_of(list_of(count))(content, place)
    for position, row in enumerate(rows):
        if len(row) != len(rows):
            raise place.to(position).error(f"has {len(row)} columns in a matrix of {len(rows)} rows")
    return rows


def _fifth(content: Any, place: Place) -> Fifth:
    with fields_of(content, place) as fields:
        fifth = Fifth(
            fields.read("low", share),
            fields.read("high", share),
            fields.read("nodes", count),
            fields.read("correct", count),
        )
    if fifth.correct > fifth.nodes:
        raise place.to("correct").error(f"is {fifth.correct} of {fifth.nodes} nodes")
    return fifth


def _curve_point(content: Any, place: Place) -> CurvePoint:
    values = list_of(nullable(number), length=4)(content, place)
    return CurvePoint(whole(content[0], place.to(0)), *values[1:])


def _environment(content: Any, place: Place) -> Environment:
    with fields_of(content, place) as fields:
        names = [field.name for field in dataclasses.fields(Environment)]
        return Environment(*(fields.find(name, text) for name in names))
