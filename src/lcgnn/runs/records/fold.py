"""The record of a fold of cross-validation: what a model predicts for labels that it had not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lcgnn.runs.fields import Place, count, duration, fields_of, list_of, number, text


@dataclass(frozen=True)
class FoldRecord:
    """What came of a fold.

    Args:
        run: A hash of everything that determines the result.
        fold: Its number, from 0.
        nodes: Whose labels were held out.
        probabilities: For each of them, those of all classes.
        seconds: Of training.
    """

    run: str
    fold: int
    nodes: tuple[int, ...]
    probabilities: tuple[tuple[float, ...], ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "run": self.run,
            "fold": self.fold,
            "nodes": list(self.nodes),
            "probabilities": [list(row) for row in self.probabilities],
            "seconds": self.seconds,
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
            )
            record._check_shape(fields.place.to("probabilities"))
            return record

    def _check_shape(self, place: Place) -> None:
        if len(self.probabilities) != len(self.nodes):
            raise place.error(f"has {len(self.probabilities)} rows for {len(self.nodes)} nodes")
        for position, row in enumerate(self.probabilities):
            if len(row) != len(self.probabilities[0]):
                raise place.to(position).error(f"has {len(row)} classes, not {len(self.probabilities[0])}")
