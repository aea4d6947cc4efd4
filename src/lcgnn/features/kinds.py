"""What kind of feature column the cells of a table make."""

from __future__ import annotations

from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from lcgnn.features.cells import parses_as_date, truth_values

Kind = Literal["number", "count", "date", "boolean", "category", "text"]

# A column with more different cells is text, or a name.
MOST_CATEGORIES = 200

PLURALS: dict[Kind, str] = {
    "number": "numbers",
    "count": "counts",
    "date": "dates",
    "boolean": "truth values",
    "category": "categories",
    "text": "texts",
}
FILLED: dict[Kind, str] = {
    "number": "filled with the mean and marked",
    "date": "filled with the mean and marked",
    "boolean": "filled with 0 and marked",
    "category": "marked",
    "text": "marked",
}


def kind_of(cells: Any) -> Kind | None:
    """What kind of column these cells are, none of them missing and not all numbers; None if they are names."""
    if pa.types.is_boolean(cells.type):
        return "boolean"
    if pa.types.is_timestamp(cells.type):
        return "date"
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
