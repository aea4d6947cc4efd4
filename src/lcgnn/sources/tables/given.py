"""Labels that were given one by one, laid over those of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from lcgnn.errors import DataError
from lcgnn.features.cells import as_before_defused, as_text, without_gaps
from lcgnn.features.table import TableFile
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.files import read_table
from lcgnn.sources.tables.ledger import GivenLabels, Line, is_ledger, read_ledger


def no_nodes(path: Path) -> TableFile:
    """A table of nodes without a row, where only the edges say which nodes there are."""
    empty = pa.chunked_array([pa.array([], pa.string())])
    return TableFile(path, {"id": empty, "label": empty}, 0)


@dataclass(frozen=True, eq=False)
class WithLabels:
    """A table of nodes with the labels that were given elsewhere.

    Args:
        nodes: The table.
        passed_over: The ids, as the file has them, of nodes that were skipped or that nobody could tell.
        suggested: Whether most labels were given on the page of ``lcgnn label``, which suggests nodes.
    """

    nodes: TableFile
    passed_over: tuple[str, ...] = ()
    suggested: bool = False


def were_suggested(new: int, known: int) -> bool:
    """Whether of so many known labels those that were given on the page count as all: at least half of them."""
    return 2 * new >= known


def with_given_labels(nodes: TableFile, ledger: Path | None, columns: Columns, notes: list[str]) -> WithLabels:
    """The table of nodes, with the labels of a file in the place of those that it has.

    Args:
        nodes: The table.
        ledger: The file, as `read_given` takes it; None for none.
        columns: Names of columns that are not to be guessed.
        notes: Gets what there is to say.
    """
    if ledger is None:
        return WithLabels(nodes)
    id_column, label_column = columns.require(nodes, "id"), columns.find_or_new(nodes, "label")
    ids = as_text(nodes.column(id_column)).to_pylist()
    before: list[str | None] = [None] * len(ids)
    if label_column in nodes:
        before = without_gaps(as_text(nodes.column(label_column))).to_pylist()
    given = read_given(ledger, sorted({name for name in before if name is not None}))
    labels = given.labels()
    if not nodes.num_rows:
        found = {node: label for node, label in labels.items() if label is not None}
        return WithLabels(_table_of(nodes, found), given.passed_over, is_ledger(ledger))
    now = [labels.pop(ledger_id(node), given.present_name(label)) for node, label in zip(ids, before, strict=True)]
    _tell(ledger, nodes, now, before, sum(label is not None for label in labels.values()), notes)
    new = [own is None and label is not None for own, label in zip(before, now, strict=True)]
    known = sum(label is not None for label in now)
    table = replace(nodes, columns={**nodes.columns, label_column: _text(now)})
    return WithLabels(table, given.passed_over, is_ledger(ledger) and were_suggested(sum(new), known))


def read_given(path: Path, classes: Iterable[str] = ()) -> GivenLabels:
    """What a file of labels comes to: one of ``lcgnn label``, or a table with the columns id and label.

    Args:
        path: The file; DataError says what is wrong with it.
        classes: Those that are there before its first line.
    """
    if not path.is_file():
        raise DataError(
            f"{path} is not there. Name the file that 'lcgnn label' wrote, or a table with the columns id and "
            "label."
        )
    if is_ledger(path):
        return read_ledger(path, classes)
    table, named, given = read_table(path, multiline=True), Columns(), GivenLabels(classes)
    ids, labels = (as_text(table.column(named.require(table, role))) for role in ("id", "label"))
    for node, label in zip(ids.to_pylist(), without_gaps(labels).to_pylist(), strict=True):
        if label is not None:
            # The table may be one that we wrote, for spreadsheets to open.
            name = as_before_defused(ledger_id(node))
            given.apply(Line(id=name, label=as_before_defused(label), action="label"))
    return given


def ledger_id(name: str | None) -> str:
    """A node's name as a ledger has it: on one line."""
    return "" if name is None else " ".join(name.splitlines()) if len(name.splitlines()) > 1 else name


def _table_of(nodes: TableFile, labels: dict[str, str]) -> TableFile:
    return replace(
        nodes, columns={"id": _text(list(labels)), "label": _text(list(labels.values()))}, num_rows=len(labels)
    )


def _text(cells: list[str] | list[str | None]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string())])


def _tell(
    ledger: Path, nodes: TableFile, now: list[str | None], before: list[str | None], gone: int, notes: list[str]
) -> None:
    changed = sum(new != old for new, old in zip(now, before, strict=True))
    differ = f"differ from {nodes.path.name}" if any(name is not None for name in before) else "nodes"
    notes.append(f"{ledger.name}: the labels given there count ({changed:,} {differ}).")
    if gone:
        which = "1 label is of a node that is" if gone == 1 else f"{gone:,} labels are of nodes that are"
        left_out = "it is left out" if gone == 1 else "they are left out"
        notes.append(f"{ledger.name}: {which} not in {nodes.path.name}; {left_out}.")
