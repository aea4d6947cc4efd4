"""What the features of a table are called, in the words of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from lcgnn.features.cells import without_gaps
from lcgnn.features.column import ColumnEncoding
from lcgnn.features.encoding import Encoding
from lcgnn.features.table import TableFile

# Of a column's name or a category's, in a feature's name.
_LONGEST = 60


@dataclass(frozen=True)
class FeatureNames:
    """The names of a graph's features.

    Args:
        names: One a feature.
        columns: The columns of categories and of text: name, number of the first feature, and how many there are.
        units: What a feature is multiplied by and what is then added, to be as in the table; none without a table.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[str, int, int], ...] = ()
    units: tuple[tuple[float, float], ...] = ()

    def as_in_table(self, number: int, value: float) -> float:
        """A feature's value as the table has it: numbers in their units, 1 for the value of a category."""
        scale, mean = self.units[number] if self.units else (1.0, 0.0)
        return scale * value + mean


def feature_names(encoding: Encoding, num_features: int, nodes: TableFile | None = None) -> FeatureNames:
    """The names of so many features; numbers where no columns are known, or others than these.

    Args:
        encoding: How columns became features.
        num_features: How many features there are.
        nodes: The table, which has the words of texts; without it these are numbered.
    """
    if encoding.width != num_features or not encoding.columns:
        return FeatureNames(tuple(f"feature {number}" for number in range(num_features)))
    names: list[str] = []
    columns: list[tuple[str, int, int]] = []
    units: list[tuple[float, float]] = []
    for column in encoding.columns:
        if column.kind in ("category", "text"):
            columns.append((_short(column.name), len(names), column.width))
        names.extend(_names_of(column, nodes))
        units.extend(_units_of(column))
    return FeatureNames(tuple(names), tuple(columns), tuple(units))


def _names_of(column: ColumnEncoding, nodes: TableFile | None) -> Iterator[str]:
    name = _short(column.name)
    if column.kind == "category":
        yield from (f"{name} = {_short(value)}" for value in column.categories)
    elif column.kind == "text":
        yield from (f"{name}: {term}" for term in _terms(column, nodes))
    else:
        yield name
    if column.marks_missing:
        yield f"{name} is missing"


def _units_of(column: ColumnEncoding) -> Iterator[tuple[float, float]]:
    mark = [(1 / column.weight, 0.0)] if column.marks_missing else []
    width = column.width - len(mark)
    units = {"number": (column.scale, column.mean), "category": (1 / column.weight, 0.0)}
    yield from [*[units.get(column.kind, (1.0, 0.0))] * width, *mark]


def _terms(column: ColumnEncoding, nodes: TableFile | None) -> list[str]:
    """What a text's features are, numbered where the text is not there: a model knows its terms by hashes."""
    numbered = [f"term {number + 1}" for number in range(column.width - column.marks_missing)]
    if column.terms is None or nodes is None or column.name not in nodes:
        return numbered
    cells = without_gaps(nodes.column(column.name))
    texts = cells if pa.types.is_string(cells.type) else cells.cast(pa.string())
    return [_short(name) or number for name, number in zip(column.terms.named(texts), numbered, strict=True)]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
