"""How the columns of a table are to become features, chosen by what is in them, and told in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.features.cells import (
    LARGEST_NUMBER,
    as_times,
    first_not_a_date,
    looks_like_a_date,
    refuse_too_large,
    without_gaps,
)
from lcgnn.features.column import ColumnEncoding
from lcgnn.features.kinds import FILLED, PLURALS, kind_of
from lcgnn.features.notes import ColumnNotes
from lcgnn.features.numbers import (
    first_not_plain,
    looks_like_numbers,
    notation_of,
    plain_numbers,
    told_notation,
    written_numbers,
)
from lcgnn.features.scaling import Entries, counting, mean_and_scale
from lcgnn.features.table import TableFile, shown
from lcgnn.features.terms import Terms

# Cells of number columns that are worked on at a time.
CELLS = 1 << 22
# In fewer rows, a different whole number in each may well mean something.
_ENOUGH_TO_NUMBER = 10


def fitted_columns(file: TableFile, names: Iterable[str]) -> tuple[list[ColumnEncoding], list[str]]:
    """An encoding of each of these columns that says something, in their order, and what there is to tell."""
    notes = ColumnNotes(file.path.name)
    numbers = _Numbers(file, notes)
    made: dict[str, ColumnEncoding | None] = {}
    for name in names:
        # Holds the column's place; those of numbers are made together.
        made[name] = None
        column = file.column(name)
        values, notation = _numbers_in(file, name, column, notes)
        if values is not None:
            numbers.add(name, values, notation)
        else:
            made[name] = _fit_other(file, name, without_gaps(column), notes)
    made |= numbers.encodings()
    columns = _balanced([column for column in made.values() if column is not None])
    told = notes.told()
    return columns, [f"Features: {_in_words(columns)}.", *told] if columns else told


def _balanced(columns: list[ColumnEncoding]) -> list[ColumnEncoding]:
    """The columns; those that are neither counts nor text have a bounded length together."""
    alike = sum(column.kind not in ("count", "text") for column in columns)
    return [column if column.kind in ("count", "text") else column.among(alike) for column in columns]


def _numbers_in(
    file: TableFile, name: str, column: Any, notes: ColumnNotes
) -> tuple[NDArray[np.float64] | None, str]:
    """(N,) the numbers of a column that has no other cells, and how they are written."""
    values = plain_numbers(column)
    if values is not None or file.column(name).type != "string":
        return values, ""
    notation = notation_of(column)
    if notation is None:
        return None, ""
    values = written_numbers(column, notation)
    assert values is not None
    row = max(first_not_plain(column), 0)
    sentence = told_notation(column[row].as_py(), notation, float(values[row]))
    notes.add("hold numbers that are not written plainly", name, f"{_place(file, name)}: {sentence}")
    return values, notation


class _Numbers:
    """Columns of numbers, of which as many are looked at together as fit into a block."""

    def __init__(self, file: TableFile, notes: ColumnNotes) -> None:
        self._file, self._notes = file, notes
        self._block: list[tuple[str, NDArray[np.float64], str]] = []
        self._most = max(1, CELLS // max(1, file.num_rows))
        self._made: list[ColumnEncoding] = []
        # Of each how many are not zero, their sum, and whether one is negative.
        self._entries: list[tuple[int, float, bool]] = []

    def add(self, name: str, values: NDArray[np.float64], notation: str) -> None:
        """Take one more column."""
        self._block.append((name, values, notation))
        if len(self._block) == self._most:
            self._look()

    def encodings(self) -> dict[str, ColumnEncoding]:
        """An encoding of each that says something; those that count something are counts."""
        self._look()
        count, total, negative = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        entries = Entries(np.array(count, np.int64), np.array(total, np.float64), np.array(negative, bool))
        counted = counting(self._file.num_rows, entries)
        return {
            column.name: column.as_count() if counts else column
            for column, counts in zip(self._made, counted, strict=True)
        }

    def _look(self) -> None:
        if not self._block:
            return
        cells = np.stack([values for _, values, _ in self._block])  # (g, N)
        missing = np.isnan(cells)
        gaps = missing.sum(axis=1)
        for place in np.flatnonzero((np.abs(cells) > LARGEST_NUMBER).any(axis=1)):
            refuse_too_large(self._file, self._block[place][0], cells[place])
        whole = gaps == 0
        means, scales = np.zeros(gaps.size), np.ones(gaps.size)
        if whole.any():
            means[whole], scales[whole] = mean_and_scale(cells if whole.all() else cells[whole])
        constant = whole & (cells == cells[:, :1]).all(axis=1)
        for position, (name, values, notation) in enumerate(self._block):
            if gaps[position] == values.size:
                _tell_empty(self._file, name, self._notes)
                continue
            if constant[position]:
                _tell_constant(self._file, name, self._file.column(name)[0].as_py(), self._notes)
                continue
            if whole[position] and _numbers_the_rows(values):
                _tell_numbering(self._file, name, values, self._notes)
                continue
            made = ColumnEncoding(name, "number", float(means[position]), float(scales[position]))
            if gaps[position]:
                _tell_missing(self._file, name, int(gaps[position]), "number", self._notes)
                spread = float(np.nanstd(values)) or 1.0
                made = ColumnEncoding(name, "number", float(np.nanmean(values)), spread, marks_missing=True)
            self._made.append(made.written(notation))
            # What is missing is no count: such a column is standardised.
            gappy = bool(gaps[position])
            entries = values.size if gappy else int(np.count_nonzero(values))
            total = 0.0 if gappy else float(np.abs(values).sum())
            self._entries.append((entries, total, gappy or bool((values < 0).any())))
        self._block.clear()


def _fit_other(file: TableFile, name: str, column: Any, notes: ColumnNotes) -> ColumnEncoding | None:
    """The encoding of a column that is not numbers, or None for one that says nothing."""
    cells = column.drop_null()
    if not len(cells):
        _tell_empty(file, name, notes)
        return None
    marks_missing = len(cells) < len(column)
    if pc.count_distinct(cells).as_py() == 1 and not marks_missing:
        _tell_constant(file, name, cells[0].as_py(), notes)
        return None
    kind = kind_of(cells)
    tell = _what_it_almost_is(column) if kind in ("category", "text", None) else None
    if tell is not None:
        tell(file, name, column, kind, notes)
    if kind is None:
        if tell is None:
            sentence = f"{_place(file, name)}: nearly every cell is different, so it looks like a name; left out."
            notes.add(
                "look like names, with a different cell in nearly every row, and are left out", name, sentence
            )
        return None
    if marks_missing:
        _tell_missing(file, name, column.null_count, kind, notes)
    if kind == "date":
        times = as_times(file, name, column)
        mean, spread = float(np.nanmean(times)), float(np.nanstd(times)) or 1.0
        return ColumnEncoding(name, kind, mean, spread, marks_missing=marks_missing)
    if kind == "text":
        terms, told = Terms.of(column)
        sentence = f"{_place(file, name)}: text, of which {told} are features."
        notes.add("are text, of which words and parts of words are features", name, sentence)
        return ColumnEncoding(name, kind, marks_missing=marks_missing, terms=terms)
    categories = tuple(sorted(pc.unique(cells).to_pylist())) if kind == "category" else ()
    return ColumnEncoding(name, kind, categories=categories, marks_missing=marks_missing)


def _numbers_the_rows(values: NDArray[np.float64]) -> bool:
    """Whether these are consecutive whole numbers, each once, in any order: as ids are."""
    if values.size < _ENOUGH_TO_NUMBER:
        return False
    low, high = values.min(), values.max()
    if high - low != values.size - 1 or (values % 1).any():
        return False
    return bool(np.bincount((values - low).astype(np.int64)).max() == 1)


def _place(file: TableFile, name: str) -> str:
    return f"{file.path.name}, column {shown(name)}"


def _tell_empty(file: TableFile, name: str, notes: ColumnNotes) -> None:
    notes.add("are empty and left out", name, f"{_place(file, name)}: every cell is empty; left out.")


def _tell_constant(file: TableFile, name: str, cell: object, notes: ColumnNotes) -> None:
    sentence = f"{_place(file, name)}: every cell is {shown(cell)}; left out."
    notes.add("have the same cell in every row and are left out", name, sentence)


def _tell_numbering(file: TableFile, name: str, values: NDArray[np.float64], notes: ColumnNotes) -> None:
    sentence = (
        f"{_place(file, name)}: the numbers {values.min():.0f} to {values.max():.0f}, one in each row, so it "
        "looks like an id; left out. If it is a rank, write it as a share (0.5)."
    )
    notes.add("number the rows, as ids do, and are left out (write a rank as a share, 0.5)", name, sentence)


def _tell_missing(file: TableFile, name: str, count: int, kind: Any, notes: ColumnNotes) -> None:
    sentence = f"{_place(file, name)}: {count:,} of {file.num_rows:,} cells are missing; {FILLED[kind]}."
    notes.add("have missing cells, which are filled and marked", name, sentence)


def _what_it_almost_is(column: Any) -> Callable[[TableFile, str, Any, Any, ColumnNotes], None] | None:
    """Who tells of a column of text that it was nearly taken as dates or numbers, if it was."""
    if looks_like_a_date(column.drop_null()[0].as_py()):
        return _tell_almost_dates
    return _tell_almost_numbers if looks_like_numbers(column) else None


def _tell_almost_dates(file: TableFile, name: str, column: Any, kind: Any, notes: ColumnNotes) -> None:
    row = first_not_a_date(column)
    why = (
        f"{_place(file, name)}: dates are not all written in one way"
        if row is None
        else f"{file.place(row, name)}: {shown(column[row].as_py())} is not a date as dates are written here"
    )
    sentence = (
        f"{why}, so the column is {_taken_as(kind)}. If it should be dates, write all of them as 2024-05-31 and "
        "leave other cells empty."
    )
    notes.add("look like dates, but have cells that are none, or are written otherwise", name, sentence)


def _tell_almost_numbers(file: TableFile, name: str, column: Any, kind: Any, notes: ColumnNotes) -> None:
    row = first_not_plain(column)
    sentence = (
        f"{file.place(row, name)}: {shown(column[row].as_py())} is not a number, so the column is "
        f"{_taken_as(kind)}. If it should be one, write it as 12.5 or leave the cell empty."
    )
    notes.add(
        "look like numbers, but have cells that are none (write 12.5, or leave a cell empty)", name, sentence
    )


def _taken_as(kind: Any) -> str:
    return "left out" if kind is None else f"taken as {kind}"


def _in_words(columns: list[ColumnEncoding]) -> str:
    return "; ".join(_counted(columns))


def _counted(columns: list[ColumnEncoding]) -> Iterator[str]:
    for kind, plural in PLURALS.items():
        names = [column.name for column in columns if column.kind == kind]
        if names:
            some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            yield f"{len(names)} {kind if len(names) == 1 else plural} ({some})"
