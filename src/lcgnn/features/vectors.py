"""Columns whose cells are vectors, such as embeddings from elsewhere: as many columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lcgnn.errors import DataError
from lcgnn.features.table import is_list, is_number, shown
from lcgnn.limits import check_memory

# A number of a table takes so many bytes once it is looked at.
_BYTES = 8


def spread_vectors(path: Path, columns: dict[str, Any]) -> dict[str, Any]:
    """The columns, with ``name[0]``, ``name[1]``, ... in place of one whose cells are vectors of the same length.

    Any other column of lists stays as it is, to be refused if somebody wants it.
    """
    spread: dict[str, Any] = {}
    for name, column in columns.items():
        try:
            length = _common_length(column)
            if length is None:
                spread[name] = column
                continue
            check_memory(f"{path}, column {shown(name)}: {length:,} numbers a row", _BYTES * length * len(column))
            numbers = {f"{name}[{place}]": values for place, values in enumerate(_numbers(column, length))}
            _check_names(path, name, numbers, columns)
            spread |= numbers
        except (pa.ArrowException, ValueError):
            spread[name] = column
    return spread


def _check_names(path: Any, name: str, numbers: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    """Refuse a column whose numbers would be called as another column is."""
    taken = sorted(numbers.keys() & columns.keys())
    if taken:
        raise DataError(
            f"{path}, column {shown(name)}: its numbers would be called as column {shown(taken[0])}. Rename one."
        )


def _common_length(column: Any) -> int | None:
    """How many numbers every cell that is there holds; None if they differ, or hold none or something else."""
    if not is_list(column.type) or not is_number(column.type.value_type):
        return None
    lengths = pc.min_max(pc.list_value_length(column))
    least, most = (lengths[end].as_py() for end in ("min", "max"))
    return int(least) if least == most and least else None


def _numbers(column: Any, length: int) -> list[Any]:
    """A column of numbers for each place of the vectors, missing where the vector is."""
    there = pc.is_valid(column).to_numpy()
    values = pc.list_flatten(column).cast(pa.float64()).to_numpy().reshape(-1, length)
    if there.all():
        return [pa.chunked_array([pa.array(values[:, place])]) for place in range(length)]
    rows = np.full((length, there.size), np.nan)
    rows[:, there] = values.T
    return [pa.chunked_array([pa.array(cells)]) for cells in rows]
