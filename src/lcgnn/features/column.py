"""How one column of a table becomes features: plain data, which a trained model keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from lcgnn.errors import DataError
from lcgnn.features.kinds import Kind
from lcgnn.features.numbers import NOTATIONS
from lcgnn.features.table import shown


@dataclass(frozen=True)
class ColumnEncoding:
    """How one column becomes features.

    Args:
        name: Of the column.
        kind: Numbers and dates are standardised, counts are divided by the sum of their row, truth values are 0 or
            1, a category has a feature for each of its values, and the words of a text are counted in buckets by
            their hash.
        mean: Of the numbers, subtracted.
        scale: Their standard deviation, divided by.
        categories: The values that have a feature; any other is all zeros.
        buckets: How many a text's words are counted in.
        marks_missing: Whether a further feature says that the cell is missing.
        notation: How the numbers are written, one of `NOTATIONS`; "" is plainly.
    """

    name: str
    kind: Kind
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    buckets: int = 0
    marks_missing: bool = False
    notation: str = ""

    @property
    def width(self) -> int:
        """How many features the column becomes."""
        own = {"category": len(self.categories), "text": self.buckets}.get(self.kind, 1)
        return own + self.marks_missing

    def as_count(self) -> ColumnEncoding:
        """The same column, counting something."""
        return dataclasses.replace(self, kind="count", mean=0.0, scale=1.0)

    def written(self, notation: str) -> ColumnEncoding:
        """The same column, with numbers that are written so."""
        return dataclasses.replace(self, notation=notation) if notation else self

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same again."""
        return {**dataclasses.asdict(self), "categories": list(self.categories)}

    @classmethod
    def from_json(cls, item: Any) -> ColumnEncoding:
        """The encoding that `to_json` described; DataError if the content is something else."""
        fields = {field.name for field in dataclasses.fields(cls)}
        known = isinstance(item, Mapping) and set(item) | {"notation"} == fields
        if not known or item["kind"] not in get_args(Kind):
            raise DataError("The description of a feature column is damaged. Train the model again.")
        try:
            column = cls(
                str(item["name"]),
                item["kind"],
                float(item["mean"]),
                float(item["scale"]),
                tuple(str(name) for name in item["categories"]),
                int(item["buckets"]),
                bool(item["marks_missing"]),
                str(item.get("notation", "")),
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"The description of a feature column is damaged: {error}. Train the model again."
            ) from error
        usable = np.isfinite(column.mean) and 0 < column.scale < np.inf and 0 <= column.buckets <= 1 << 24
        if not usable or column.notation not in NOTATIONS:
            raise DataError(f"The description of column {shown(column.name)} is damaged. Train the model again.")
        return column
