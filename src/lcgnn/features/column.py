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
from lcgnn.features.scaling import LENGTH, shrinkage
from lcgnn.features.table import shown
from lcgnn.features.terms import Terms

# What older models do not say of a column.
_LATER = {"notation", "weight", "by_norm", "terms"}


@dataclass(frozen=True)
class ColumnEncoding:
    """How one column becomes features.

    Args:
        name: Of the column.
        kind: Numbers and dates are standardised, counts are divided by the norm of their row, truth values are 0
            or 1, a category has a feature for each of its values, and a text for each of its terms.
        mean: Of the numbers, subtracted.
        scale: Their standard deviation, and what many columns are made smaller by; divided by.
        categories: The values that have a feature; any other is all zeros.
        buckets: How many a text's words are counted in, in models before 0.3.
        marks_missing: Whether a further feature says that the cell is missing.
        notation: How the numbers are written, one of `NOTATIONS`; "" is plainly.
        weight: What the features of a category, the mark of a missing cell and a row of counts are multiplied by.
        by_norm: Whether counts are divided by the norm of their row, or by their sum, as in models before 0.3.
        terms: Of a text; None in models before 0.3.
    """

    name: str
    kind: Kind
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    buckets: int = 0
    marks_missing: bool = False
    notation: str = ""
    weight: float = 1.0
    by_norm: bool = False
    terms: Terms | None = None

    @property
    def width(self) -> int:
        """How many features the column becomes."""
        text = self.buckets if self.terms is None else len(self.terms.hashes)
        own = {"category": len(self.categories), "text": text}.get(self.kind, 1)
        return own + self.marks_missing

    def as_count(self) -> ColumnEncoding:
        """The same column, counting something."""
        return dataclasses.replace(self, kind="count", mean=0.0, scale=1.0, weight=LENGTH, by_norm=True)

    def among(self, num_columns: int) -> ColumnEncoding:
        """The same column as one of so many that are standardised or have a feature for each value."""
        divisor = shrinkage(num_columns)
        return dataclasses.replace(self, scale=self.scale * divisor, weight=self.weight / divisor)

    def written(self, notation: str) -> ColumnEncoding:
        """The same column, with numbers that are written so."""
        return dataclasses.replace(self, notation=notation) if notation else self

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same again."""
        terms = None if self.terms is None else self.terms.to_json()
        return {**dataclasses.asdict(self), "categories": list(self.categories), "terms": terms}

    @classmethod
    def from_json(cls, item: Any) -> ColumnEncoding:
        """The encoding that `to_json` described; DataError if the content is something else."""
        fields = {field.name for field in dataclasses.fields(cls)}
        known = isinstance(item, Mapping) and set(item) | _LATER == fields
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
                float(item.get("weight", 1.0)),
                bool(item.get("by_norm", False)),
                None if item.get("terms") is None else Terms.from_json(item["terms"]),
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"The description of a feature column is damaged: {error}. Train the model again."
            ) from error
        usable = np.isfinite(column.mean) and 0 < column.scale < np.inf and 0 <= column.buckets <= 1 << 24
        if not usable or not 0 < column.weight < np.inf or column.notation not in NOTATIONS:
            raise DataError(f"The description of column {shown(column.name)} is damaged. Train the model again.")
        return column
