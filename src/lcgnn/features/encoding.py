"""From the columns of a table to features: how each is turned into numbers, kept so that it can be done again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from lcgnn.errors import DataError
from lcgnn.features.cells import as_times, as_truth, first_bad, refuse_too_large, without_gaps
from lcgnn.features.column import ColumnEncoding as ColumnEncoding
from lcgnn.features.fitting import CELLS, fitted_columns
from lcgnn.features.notes import ColumnNotes
from lcgnn.features.numbers import written_numbers
from lcgnn.features.scaling import DENSE_SHARE, divided_rows
from lcgnn.features.table import TableFile, listed, shown
from lcgnn.features.words import hashed_words
from lcgnn.graph import Features
from lcgnn.limits import check_features, check_memory

_DENSE_KINDS = ("number", "date", "boolean")


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
        columns, notes = fitted_columns(file, names)
        return cls(tuple(columns)), notes

    def apply(self, file: TableFile) -> tuple[Features, list[str]]:
        """The (N, F) features of a table with the same columns, and what was filled or unknown, in words."""
        missing = [column.name for column in self.columns if column.name not in file]
        if missing:
            raise DataError(
                f"{file.path}: there is no column {shown(missing[0])}, which the features are made of. "
                f"Add it; the columns needed are {listed([column.name for column in self.columns])}."
            )
        check_features(str(file.path), self.width)
        notes = ColumnNotes(file.path.name)
        blocks = list(_blocks(self.columns, file, notes))
        return _joined(blocks, file.num_rows), notes.told()

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data, from which `from_json` makes the same encoding again."""
        return [column.to_json() for column in self.columns]

    @classmethod
    def from_json(cls, content: Any) -> Encoding:
        """The encoding that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, list):
            raise DataError("The description of the features is not a list. Train the model again.")
        return cls(tuple(ColumnEncoding.from_json(item) for item in content))


def _blocks(columns: tuple[ColumnEncoding, ...], file: TableFile, notes: ColumnNotes) -> Iterator[Features]:
    """The features of all columns in order, those side by side that are made alike in one block.

    Counts are divided by their norm or sum over all columns of a row that count.
    """
    made: list[tuple[str, Features]] = []
    for form, alike in groupby(columns, lambda column: "dense" if column.kind in _DENSE_KINDS else column.kind):
        if form == "dense":
            made.append((form, _standardised(list(alike), file, notes)))
        elif form == "count":
            made.append((form, _counts(list(alike), file, notes)))
        else:
            made += [(form, _words(column, file, notes)) for column in alike]
    counts = [block for form, block in made if form == "count"]
    together = _divided(columns, counts) if counts else None
    start = 0
    for form, block in made:
        if form == "count":
            assert together is not None
            width = block.shape[1]
            yield together if len(counts) == 1 else csr_array(together[:, start : start + width])
            start += width
        else:
            yield block


def _divided(columns: tuple[ColumnEncoding, ...], counts: list[Features]) -> csr_array:
    """All counts side by side, divided over the row."""
    first = next(column for column in columns if column.kind == "count")
    whole = csr_array(hstack(counts, format="csr"))
    return divided_rows(whole, by_norm=first.by_norm, length=first.weight)


def _joined(blocks: list[Features], num_rows: int) -> Features:
    """The blocks side by side: dense or sparse, as is faster for the whole."""
    width = sum(block.shape[1] for block in blocks)
    entries = sum(block.nnz if isinstance(block, csr_array) else np.count_nonzero(block) for block in blocks)
    if entries <= DENSE_SHARE * num_rows * width:
        return csr_array(hstack([csr_array(block) for block in blocks], format="csr", dtype=np.float32))
    if len(blocks) == 1 and isinstance(blocks[0], np.ndarray):
        return blocks[0]
    check_memory("The features", 4 * num_rows * width)
    joined = np.empty((num_rows, width), dtype=np.float32)
    start = 0
    for block in blocks:
        end = start + block.shape[1]
        joined[:, start:end] = block.toarray() if isinstance(block, csr_array) else block
        start = end
    return joined


def _standardised(columns: list[ColumnEncoding], file: TableFile, notes: ColumnNotes) -> NDArray[np.float32]:
    """(N, w) columns of numbers, dates and truth values, each with a mark for what is missing if it has one."""
    width = sum(column.width for column in columns)
    check_memory(f"{file.path}: {len(columns):,} columns of numbers", 4 * file.num_rows * width)
    features = np.empty((file.num_rows, width), dtype=np.float32)
    pending: list[NDArray[np.float32]] = []
    start = 0
    for column in columns:
        values = _values(column, file)
        gaps = np.isnan(values)
        pending.append(np.nan_to_num((values - column.mean) / column.scale, nan=0.0).astype(np.float32))
        if column.marks_missing:
            pending.append((column.weight * gaps).astype(np.float32))
        elif gaps.any():
            _tell_filled(file, column.name, int(gaps.sum()), notes)
        if len(pending) * file.num_rows >= CELLS:
            start = _write(features, start, pending)
    _write(features, start, pending)
    return features


def _write(features: NDArray[np.float32], start: int, pending: list[NDArray[np.float32]]) -> int:
    """Write the columns that are due, many at a time: one by one, every write would touch every row."""
    end = start + len(pending)
    if pending:
        features[:, start:end] = np.stack(pending).T
        pending.clear()
    return end


def _counts(columns: list[ColumnEncoding], file: TableFile, notes: ColumnNotes) -> csr_array:
    """(N, w) columns that are mostly zeros, as they are."""
    rows, places, entries = [], [], []
    for place, column in enumerate(columns):
        values = _values(column, file)
        gaps = np.isnan(values)
        if gaps.any():
            _tell_filled(file, column.name, int(gaps.sum()), notes)
            values[gaps] = 0
        there = np.flatnonzero(values)
        rows.append(there)
        places.append(np.full(there.size, place))
        entries.append(values[there])
    shape = (file.num_rows, len(columns))
    return csr_array((np.concatenate(entries), (np.concatenate(rows), np.concatenate(places))), shape=shape)


def _words(column: ColumnEncoding, file: TableFile, notes: ColumnNotes) -> csr_array:
    """(N, w) a column of categories or of text."""
    cells = _as_text(without_gaps(file.column(column.name)))
    if column.kind == "category":
        block = _one_hot(column, file, cells, notes)
    elif column.terms is None:
        block = hashed_words(cells, column.buckets)
    else:
        block = column.terms.apply(cells, f"{file.path}, column {shown(column.name)}: its terms")
    if column.marks_missing:
        marks = (column.weight * cells.is_null().to_numpy()).astype(np.float32)
        return csr_array(hstack([block, csr_array(marks[:, None])], format="csr"))
    if cells.null_count and column.kind != "text":
        _tell_filled(file, column.name, cells.null_count, notes)
    return block


def _values(encoding: ColumnEncoding, file: TableFile) -> NDArray[np.float64]:
    """(N,) the cells of a column as numbers, NaN where missing; DataError names the first that is none."""
    column = file.column(encoding.name)
    if encoding.kind == "date":
        return as_times(file, encoding.name, without_gaps(column))
    if encoding.kind == "boolean":
        return as_truth(file, encoding.name, without_gaps(column))
    values = written_numbers(column, encoding.notation)
    if values is None:
        cell = first_bad(without_gaps(column), lambda cells: written_numbers(cells, encoding.notation) is None)
        raise DataError(
            f"{file.path}, column {shown(encoding.name)}: {cell} is not a number. "
            "Correct it or leave the cell empty."
        )
    refuse_too_large(file, encoding.name, values)
    return values


def _tell_filled(file: TableFile, name: str, count: int, notes: ColumnNotes) -> None:
    where = f"{file.path.name}, column {shown(name)}"
    sentence = f"{where}: {count:,} cells are missing, which no cell was in training; filled."
    notes.add("have missing cells, which no cell was in training; filled", name, sentence)


def _as_text(column: Any) -> Any:
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _one_hot(encoding: ColumnEncoding, file: TableFile, column: Any, notes: ColumnNotes) -> csr_array:
    found = pc.index_in(column, value_set=pa.array(encoding.categories, pa.string()))
    unseen = pc.sum(pc.and_(found.is_null(), column.is_valid())).as_py() or 0
    if unseen:
        cells = "1 cell holds" if unseen == 1 else f"{unseen:,} cells hold"
        sentence = (
            f"{file.path.name}, column {shown(encoding.name)}: {cells} a value that was not there in training, "
            "which counts as none of the known ones."
        )
        notes.add("hold values that were not there in training, which count as none", encoding.name, sentence)
    positions = pc.fill_null(found, -1).to_numpy()
    rows = np.flatnonzero(positions >= 0)
    ones = np.full(rows.size, encoding.weight, dtype=np.float32)
    return csr_array((ones, (rows, positions[rows])), shape=(len(column), len(encoding.categories)))
