"""The labels in a table of nodes, and which of them are for what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.features.cells import GAPS, as_text, without_gaps
from lcgnn.features.table import TableFile, counted, listed, shown
from lcgnn.graph import UNLABELLED, Split
from lcgnn.sources.class_names import odd_classes

# More classes than this cannot come from a handful of labels: the column is something else.
MOST_CLASSES = 1000

_PARTS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
}


def read_labels(
    nodes: TableFile, column: str | None, notes: list[str], *, needed: bool = True
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Every node's class number, -1 where the cell is empty, and the names of the classes.

    Args:
        nodes: The table.
        column: Of the labels; None if there is none.
        notes: Gets what there is to say of them.
        needed: Whether there must be labels of two classes.
    """
    if column is None:
        return np.full(nodes.num_rows, UNLABELLED, dtype=np.int64), ()
    where = f"{nodes.path.name}, column {shown(column)}"
    cells = as_text(nodes.column(column))
    given = without_gaps(cells)
    gaps = given.null_count - cells.null_count
    if gaps:
        notes.append(
            f"{where}: {gaps:,} {'cell' if gaps == 1 else 'cells'} with {', '.join(_gaps_in(cells))} "
            f"{'counts' if gaps == 1 else 'count'} as empty."
        )
    names = _class_names(nodes, column, given, needed)
    labels = pc.fill_null(pc.index_in(given, value_set=pa.array(names, pa.string())), UNLABELLED).to_numpy()
    labels = np.array(labels, dtype=np.int64)
    _tell_labels(where, labels, names, notes)
    return labels, names


def _gaps_in(cells: Any) -> list[str]:
    return [gap for gap in GAPS if pc.any(pc.equal(cells, gap)).as_py()]


def _class_names(nodes: TableFile, column: str, given: Any, needed: bool) -> tuple[str, ...]:
    names = pc.unique(given.drop_null()).to_pylist()
    num_labelled = len(given) - given.null_count
    if not names and needed:
        raise DataError(
            f"{nodes.path}, column {shown(column)}: no node has a label. Label some nodes of each class, or name "
            f"another column with {nodes.option('label')}."
        )
    if len(names) == 1 and needed:
        raise DataError(
            f"{nodes.path}, column {shown(column)}: all labels are {shown(names[0])}. At least two classes are "
            "needed; label some nodes of another."
        )
    if len(names) > MOST_CLASSES or (len(names) > 20 and len(names) > num_labelled / 2):
        raise DataError(
            f"{nodes.path}, column {shown(column)}: {len(names):,} different labels on {num_labelled:,} nodes. "
            f"A class needs several labels, and at most {MOST_CLASSES:,} classes are possible. "
            f"Is it the right column? Say which with {nodes.option('label')}."
        )
    whole = all(name.removeprefix("-").isdecimal() and name.isascii() and len(name) < 19 for name in names)
    return tuple(sorted(names, key=int) if whole else sorted(names))


def _tell_labels(where: str, labels: NDArray[np.int64], names: tuple[str, ...], notes: list[str]) -> None:
    if not labels.size:
        # Edges alone, or a file of labels beside them: there is no such column.
        return
    counts = np.bincount(labels[labels >= 0], minlength=len(names))
    total = int(counts.sum())
    told = f"{counted(total, 'label')} of {counted(len(names), 'class', 'classes')}"
    notes.append(f"{where}: {told} in {counted(labels.size, 'row')}.")
    alone = [name for name, count in zip(names, counts, strict=True) if count == 1]
    if alone:
        which = listed(alone, 5)
        only = f"only one node is labelled {which}"
        if len(alone) > 1:
            only = f"of each of {which} only one node is labelled"
        notes.append(f"{where}: {only}; label more of them if you can.")
    notes += [f"{where}: {told}" for told in odd_classes(names)]


def read_split(nodes: TableFile, column: str | None, labels: NDArray[np.int64], notes: list[str]) -> Split:
    """All given labels for training, or what the split column says."""
    none = np.empty(0, dtype=np.int64)
    if column is None:
        return Split(np.flatnonzero(labels >= 0), none, none, "all given labels")
    nodes_of = {}
    hint = f"Correct it, or leave the column out with {nodes.option('ignore', column)}."
    for part, chosen in _parts(nodes, column, hint).items():
        nodes_of[part] = np.flatnonzero(chosen & (labels >= 0))
        unlabelled = int((chosen & (labels < 0)).sum())
        if unlabelled:
            notes.append(f"{nodes.path.name}: {unlabelled:,} nodes of the {part} part have no label to use.")
    if not nodes_of["train"].size:
        raise DataError(f"{nodes.path}, column {shown(column)}: no node of the train part has a label. Mark some.")
    counted = ", ".join(f"{len(chosen):,} for {part}" for part, chosen in nodes_of.items())
    unused = int((labels >= 0).sum()) - sum(len(chosen) for chosen in nodes_of.values())
    notes.append(f"{nodes.path.name}: the split column is obeyed: labels {counted}, {unused:,} not used.")
    return Split(nodes_of["train"], nodes_of["validation"], nodes_of["test"], "the table's")


def _parts(nodes: TableFile, column: str, hint: str = "Correct it.") -> dict[str, NDArray[np.bool_]]:
    """(N,) for every part whether the split column puts a node into it."""
    cells = pc.utf8_lower(as_text(nodes.column(column)))
    known = [name for names in _PARTS.values() for name in names]
    odd = pc.and_(cells.is_valid(), pc.invert(pc.is_in(cells, value_set=pa.array(known))))
    row = pc.index(odd, True).as_py()
    if row >= 0:
        raise DataError(
            f"{nodes.place(row, column)}: {shown(cells[row].as_py())} is not train, validation or test. {hint}"
        )
    return {
        part: np.asarray(pc.fill_null(pc.is_in(cells, value_set=pa.array(names)), False).to_numpy())
        for part, names in _PARTS.items()
    }


def read_known_labels(
    nodes: TableFile, column: str | None, names: tuple[str, ...], notes: list[str]
) -> NDArray[np.int64]:
    """Every node's class number among the names that a model knows, -1 where it has none or another."""
    if column is None:
        return np.full(nodes.num_rows, UNLABELLED, dtype=np.int64)
    given = without_gaps(as_text(nodes.column(column)))
    labels = pc.fill_null(pc.index_in(given, value_set=pa.array(names, pa.string())), UNLABELLED).to_numpy()
    labels = np.array(labels, dtype=np.int64)
    strange = given.filter(pa.array(labels < 0)).drop_null()
    if len(strange):
        classes = pc.unique(strange).to_pylist()
        notes.append(
            f"Warning: {nodes.path.name}, column {shown(column)}: the model does not know {listed(classes, 5)} "
            f"(in {len(strange):,} of {len(given):,} rows) and predicts one of its own {len(names)} classes "
            "there. To add a class, train again."
        )
    return labels


def read_known_split(nodes: TableFile, column: str | None, labels: NDArray[np.int64]) -> Split:
    """As `read_split` has it, of labels that may be missing altogether."""
    labelled = labels >= 0
    if column is None:
        none = np.empty(0, dtype=np.int64)
        return Split(np.flatnonzero(labelled), none, none, "all given labels")
    parts = {part: np.flatnonzero(chosen & labelled) for part, chosen in _parts(nodes, column).items()}
    return Split(parts["train"], parts["validation"], parts["test"], "the table's")
