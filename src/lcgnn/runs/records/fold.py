"""The record of a fold of cross-validation: what a model predicts for labels that it had not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from lcgnn.runs.fields import Place, count, duration, fields_of, list_of, number, text

Probabilities: TypeAlias = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class EarlierStage:
    """What a stage before the last predicted for a fold's nodes."""

    name: str
    probabilities: Probabilities

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "probabilities": [list(row) for row in self.probabilities]}


@dataclass(frozen=True)
class FoldRecord:
    """What came of a fold.

    Args:
        run: A hash of everything that determines the result.
        fold: Its number, from 0.
        nodes: Whose labels were held out.
        probabilities: For each of them, those of all classes.
        seconds: Of training.
        earlier: The same by the stages before the last, in order, such as the base before label consistency; None
            in older files.
    """

    run: str
    fold: int
    nodes: tuple[int, ...]
    probabilities: Probabilities
    seconds: float
    earlier: tuple[EarlierStage, ...] | None = None

    @property
    def stages(self) -> tuple[Probabilities, ...]:
        """What every stage predicted, as far as that was kept; the last one is the answer."""
        return (*(stage.probabilities for stage in self.earlier or ()), self.probabilities)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "run": self.run,
            "fold": self.fold,
            "nodes": list(self.nodes),
            "probabilities": [list(row) for row in self.probabilities],
            "seconds": self.seconds,
            **({} if self.earlier is None else {"earlier": [stage.to_json() for stage in self.earlier]}),
        }

    @classmethod
    def from_json(cls, content: Any, where: str = "fold") -> FoldRecord:
        """From plain data, or OutputError that says which field of it is wrong."""
        with fields_of(content, Place(where)) as fields:
            record = cls(
                run=fields.read("run", text),
                fold=fields.read("fold", count),
                nodes=fields.read("nodes", list_of(count)),
                probabilities=fields.read("probabilities", list_of(list_of(number))),
                seconds=fields.read("seconds", duration),
                earlier=fields.find("earlier", list_of(_earlier)),
            )
            record._check_shape(record.probabilities, fields.place.to("probabilities"))
            for position, stage in enumerate(record.earlier or ()):
                record._check_shape(stage.probabilities, fields.place.to("earlier").to(position))
            return record

    def _check_shape(self, probabilities: Probabilities, place: Place) -> None:
        if len(probabilities) != len(self.nodes):
            raise place.error(f"has {len(probabilities)} rows for {len(self.nodes)} nodes")
        for position, row in enumerate(probabilities):
            if len(row) != len(self.probabilities[0]):
                raise place.to(position).error(f"has {len(row)} classes, not {len(self.probabilities[0])}")


def _earlier(content: Any, place: Place) -> EarlierStage:
    with fields_of(content, place) as fields:
        return EarlierStage(fields.read("name", text), fields.read("probabilities", list_of(list_of(number))))
