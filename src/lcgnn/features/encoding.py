"""From the columns of a table to features: how each is turned into numbers, kept so that it can be done again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from lcgnn.errors import DataError
from lcgnn.features.cells import (
    as_numbers,
    is_numeric,
    parses_as_date,
    parses_as_number,
    truth_values,
    without_gaps,
)
from lcgnn.features.table import TableFile, shown
from lcgnn.features.words import hashed_words
from lcgnn.graph import Features

Kind = Literal["number", "date", "boolean", "category", "text"]

# Buckets that the words of a text column are counted in.
TEXT_BUCKETS = 256
# A column with more different cells is text, or a name.
MOST_CATEGORIES = 200
# Features beyond this share of non-zeros are kept dense.
DENSE_SHARE = 0.3
_PLURALS = {
    "number": "numbers",
    "date": "dates",
    "boolean": "truth values",
    "category": "categories",
    "text": "texts",
}


@dataclass(frozen=True)
class ColumnEncoding:
    """How one column becomes features.

    Args:
        name: Of the column.
        kind: Numbers and dates are standardised, truth values are 0 or 1, a category has a feature for each of
            its values, and the words of a text are counted in buckets by their hash.
        mean: Of the numbers, subtracted.
        scale: Their standard deviation, divided by.
        categories: The values that have a feature; any other is all zeros.
        buckets: How many a text's words are counted in.
        marks_missing: Whether a further feature says that the cell is missing.
    """

    name: str
    kind: Kind
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    buckets: int = 0
    marks_missing: bool = False

    @property
    def width(self) -> int:
        """How many features the column becomes."""
        own = {"category": len(self.categories), "text": self.buckets}.get(self.kind, 1)
        return own + self.marks_missing


@dataclass(frozen=True)
class Encoding:
    """How a table's feature columns become features, in order; part of what a trained model needs to be used."""

    columns: tuple[ColumnEncoding, ...] = ()

    @property
    def width(self) -> int:
        """How many features there are."""
        return sum(column.width for column in self.columns)

    @classmethod
    def fit(cls, file: TableFile, names: Iterable[str]) -> tuple[Encoding, list[str]]:
        """Choose an encoding for these columns by what is in them, and say in words what was chosen."""
        notes: list[str] = []
        columns = [column for name in names if (column := _fit_column(file, name, notes))]
        if columns:
            notes.insert(0, f"Features: {_in_words(columns)}.")
        return cls(tuple(columns)), notes

    def apply(self, file: TableFile) -> tuple[Features, list[str]]:
        """The (N, F) features of a table with the same columns, and what was filled or unknown, in words."""
        missing = [column.name for column in self.columns if column.name not in file.names]
        if missing:
            raise DataError(
                f"{file.path}: there is no column {shown(missing[0])}, which the features are made of. "
                f"Add it; the columns needed are {', '.join(shown(column.name) for column in self.columns)}."
            )
        notes: list[str] = []
        blocks = [_apply_column(column, file, notes) for column in self.columns]
        features = csr_array(hstack(blocks, format="csr", dtype=np.float32))
        if features.nnz > DENSE_SHARE * features.shape[0] * features.shape[1]:
            return features.toarray(), notes
        return features, notes

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data, from which `from_json` makes the same encoding again."""
        return [{**dataclasses.asdict(column), "categories": list(column.categories)} for column in self.columns]

    @classmethod
    def from_json(cls, content: Any) -> Encoding:
        """The encoding that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, list):
            raise DataError("The description of the features is not a list. Train the model again.")
        return cls(tuple(_column_from_json(item) for item in content))


def _column_from_json(item: Any) -> ColumnEncoding:
    fields = {field.name: field.default for field in dataclasses.fields(ColumnEncoding)}
    if not isinstance(item, Mapping) or set(item) != set(fields) or item["kind"] not in get_args(Kind):
        raise DataError("The description of a feature column is damaged. Train the model again.")
    try:
        column = ColumnEncoding(
            str(item["name"]),
            item["kind"],
            float(item["mean"]),
            float(item["scale"]),
            tuple(str(name) for name in item["categories"]),
            int(item["buckets"]),
            bool(item["marks_missing"]),
        )
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The description of a feature column is damaged: {error}. Train the model again."
        ) from error
    if not (np.isfinite(column.mean) and 0 < column.scale < np.inf and 0 <= column.buckets <= 1 << 24):
        raise DataError(f"The description of column {shown(column.name)} is damaged. Train the model again.")
    return column


def _in_words(columns: list[ColumnEncoding]) -> str:
    parts = []
    for kind, plural in _PLURALS.items():
        names = [column.name for column in columns if column.kind == kind]
        if names:
            listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            parts.append(f"{len(names)} {kind if len(names) == 1 else plural} ({listed})")
    return "; ".join(parts)


def _fit_column(file: TableFile, name: str, notes: list[str]) -> ColumnEncoding | None:
    """The encoding of a column, or None for one that says nothing."""
    where = f"{file.path.name}, column {shown(name)}"
    column = without_gaps(file.column(name))
    cells = column.drop_null()
    if not len(cells):
        notes.append(f"{where}: every cell is empty; left out.")
        return None
    marks_missing = len(cells) < len(column)
    if pc.count_distinct(cells).as_py() == 1 and not marks_missing:
        notes.append(f"{where}: every cell is {shown(cells[0].as_py())}; left out.")
        return None
    kind = _kind(cells)
    if kind is None:
        notes.append(f"{where}: nearly every cell is different, so it looks like a name; left out.")
        return None
    if kind in ("category", "text"):
        _tell_almost_numbers(file, name, column, kind, notes)
    if marks_missing:
        notes.append(f"{where}: {column.null_count:,} of {len(column):,} cells are missing; {_FILLED[kind]}.")
    return _fitted(file, name, kind, column, marks_missing)


_FILLED = {
    "number": "filled with the mean and marked",
    "date": "filled with the mean and marked",
    "boolean": "filled with 0 and marked",
    "category": "marked",
    "text": "marked",
}


def _fitted(file: TableFile, name: str, kind: Kind, column: Any, marks_missing: bool) -> ColumnEncoding:
    made = ColumnEncoding(name, kind, marks_missing=marks_missing)
    if kind in ("number", "date"):
        values = as_numbers(file, name, column, kind)
        spread = float(np.nanstd(values))
        return dataclasses.replace(made, mean=float(np.nanmean(values)), scale=spread or 1.0)
    if kind == "category":
        return dataclasses.replace(made, categories=tuple(sorted(pc.unique(column.drop_null()).to_pylist())))
    if kind == "text":
        return dataclasses.replace(made, buckets=TEXT_BUCKETS)
    return made


def _kind(cells: Any) -> Kind | None:
    """What kind of column these cells are, or None if they are names."""
    if pa.types.is_boolean(cells.type):
        return "boolean"
    if pa.types.is_timestamp(cells.type):
        return "date"
    if is_numeric(cells) or parses_as_number(cells):
        return "number"
    if truth_values(cells) is not None:
        return "boolean"
    if parses_as_date(cells):
        return "date"
    return _kind_of_words(cells)


def _kind_of_words(cells: Any) -> Kind | None:
    distinct, count = pc.count_distinct(cells).as_py(), len(cells)
    num_words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(cells))).as_py()
    if num_words >= 2 and distinct > count / 2:
        return "text"
    if distinct <= MOST_CATEGORIES and distinct <= max(count / 2, 2):
        return "category"
    if num_words < 1.5 and distinct > 0.9 * count:
        return None
    return "text"


_NUMBER_LIKE = r"^[-+]?[\d.,']*\d[\d.,']*([eE][-+]?\d+)?[%€$]?$"


def _tell_almost_numbers(file: TableFile, name: str, column: Any, kind: Kind, notes: list[str]) -> None:
    """Say so if a column looks like numbers but some cell keeps it from being taken as such."""
    alike = pc.fill_null(pc.match_substring_regex(column, _NUMBER_LIKE), True)
    if pc.mean(pc.cast(alike, pa.float64())).as_py() < 0.5:
        return
    plain = r"^[-]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
    odd = pc.index(pc.fill_null(pc.match_substring_regex(column, plain), True), False).as_py()
    notes.append(
        f"{file.place(odd, name)}: {shown(column[odd].as_py())} is not a number, so the column is taken as "
        f"{kind}. If it should be one, write it as 12.5 or leave the cell empty."
    )


def _apply_column(encoding: ColumnEncoding, file: TableFile, notes: list[str]) -> csr_array:
    """(N, width) the features of one column."""
    column = without_gaps(file.column(encoding.name))
    if encoding.kind in ("number", "date", "boolean"):
        block = csr_array(_standardised(encoding, file, column)[:, None], dtype=np.float32)
    elif encoding.kind == "category":
        block = _one_hot(encoding, file, _as_text(column), notes)
    else:
        block = hashed_words(_as_text(column), encoding.buckets)
    if encoding.marks_missing:
        marks = column.is_null().to_numpy().astype(np.float32)
        return csr_array(hstack([block, csr_array(marks[:, None])], format="csr"))
    if column.null_count and encoding.kind != "text":
        where = f"{file.path.name}, column {shown(encoding.name)}"
        notes.append(f"{where}: {column.null_count:,} cells are missing, which no cell was in training; filled.")
    return block


def _standardised(encoding: ColumnEncoding, file: TableFile, column: Any) -> NDArray[np.float64]:
    values = as_numbers(file, encoding.name, column, encoding.kind)
    return np.nan_to_num((values - encoding.mean) / encoding.scale, nan=0.0)


def _as_text(column: Any) -> Any:
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _one_hot(encoding: ColumnEncoding, file: TableFile, column: Any, notes: list[str]) -> csr_array:
    found = pc.index_in(column, value_set=pa.array(encoding.categories, pa.string()))
    unseen = pc.sum(pc.and_(found.is_null(), column.is_valid())).as_py() or 0
    if unseen:
        notes.append(
            f"{file.path.name}, column {shown(encoding.name)}: {unseen:,} cells hold a value that was not there "
            "in training; they count as none of the known ones."
        )
    positions = pc.fill_null(found, -1).to_numpy()
    rows = np.flatnonzero(positions >= 0)
    ones = np.ones(rows.size, dtype=np.float32)
    return csr_array((ones, (rows, positions[rows])), shape=(len(column), len(encoding.categories)))
