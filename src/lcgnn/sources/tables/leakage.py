"""Feature columns that are the label again: one value for every class, and another for each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lcgnn.features.cells import without_gaps
from lcgnn.features.encoding import ColumnEncoding, Encoding
from lcgnn.features.notes import ColumnNotes
from lcgnn.features.numbers import written_numbers
from lcgnn.features.table import TableFile, shown

# From so few labelled nodes a column that agrees with the label may do so by chance.
_FEWEST_NODES = 8


def leaking_columns(
    nodes: TableFile, encoding: Encoding, labels: NDArray[np.int64], label_column: str
) -> list[str]:
    """A warning of every column of features that says the same as the label on all labelled nodes."""
    labelled = np.flatnonzero(labels >= 0)
    if labelled.size < _FEWEST_NODES:
        return []
    by_class = labelled[np.argsort(labels[labelled], kind="stable")]
    classes = labels[by_class]
    starts = np.flatnonzero(np.diff(classes, prepend=-1))
    notes = ColumnNotes(nodes.path.name)
    for column in encoding.columns:
        if _says_the_class(_codes(column, nodes, by_class), starts):
            sentence = (
                f"Warning: {nodes.path.name}, column {shown(column.name)} says the same as {shown(label_column)} "
                f"on all {labelled.size:,} labelled nodes. If it would not be known for a new node, leave it out: "
                f"{nodes.option('ignore', column.name)}"
            )
            notes.add(
                f"say the same as {shown(label_column)}; leave them out if unknown of new nodes",
                column.name,
                sentence,
            )
    return notes.told()


def _codes(column: ColumnEncoding, nodes: TableFile, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """A number for every different cell in these rows, or None if one is missing."""
    cells = nodes.column(column.name).take(pa.array(rows))
    if column.kind in ("number", "count"):
        values = written_numbers(cells, column.notation)
        return None if values is None or np.isnan(values).any() else values
    codes = without_gaps(cells).combine_chunks().dictionary_encode().indices
    return None if codes.null_count else codes.to_numpy().astype(np.float64)


def _says_the_class(values: NDArray[np.float64] | None, starts: NDArray[np.int64]) -> bool:
    """Whether every class, of which each begins at one of the starts, has one value and no two have the same."""
    if values is None:
        return False
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return bool((least == most).all()) and np.unique(least).size == starts.size
