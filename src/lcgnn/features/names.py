"""What the features of a table are called, in the words of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lcgnn.features.column import ColumnEncoding
from lcgnn.features.encoding import Encoding

# Of a column's name or a category's, in a feature's name.
_LONGEST = 60


@dataclass(frozen=True)
class FeatureNames:
    """The names of a graph's features.

    Args:
        names: One a feature.
        columns: The columns that became several features, with the first of these and how many they are.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[str, int, int], ...] = ()


def feature_names(encoding: Encoding, num_features: int) -> FeatureNames:
    """The names of so many features; numbers where no columns are known, or others than these."""
    if encoding.width != num_features or not encoding.columns:
        return FeatureNames(tuple(f"feature {number}" for number in range(num_features)))
    names: list[str] = []
    columns: list[tuple[str, int, int]] = []
    for column in encoding.columns:
        if column.width > 1:
            columns.append((_short(column.name), len(names), column.width))
        names.extend(_names_of(column))
    return FeatureNames(tuple(names), tuple(columns))


def _names_of(column: ColumnEncoding) -> Iterator[str]:
    name = _short(column.name)
    own = column.width - column.marks_missing
    if column.kind == "category":
        yield from (f"{name} = {_short(value)}" for value in column.categories)
    elif column.kind == "text":
        # Terms are known by a hash only.
        yield from (f"{name}, term {number + 1}" for number in range(own))
    else:
        yield name
    if column.marks_missing:
        yield f"{name} is missing"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
