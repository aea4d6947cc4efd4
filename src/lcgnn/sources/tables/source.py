"""A graph of the user's own: a folder with a table of nodes and a table of edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import FileSource, Known, Progress, form_of
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.known import known_graph
from lcgnn.sources.tables.reading import TableFiles, find_tables, graph_of_tables


@dataclass(frozen=True)
class Tables(FileSource):
    """A folder with ``nodes`` and ``edges`` as .csv, .tsv or .parquet.

    Instead of ``nodes`` there may be ``labels``, with the id and the label of some of the edges' nodes.

    Args:
        path: The folder.
        columns: Names of columns that are not to be guessed.
        ledger: Whether labels count that were given on the page of ``lcgnn label``, beside the tables; or the file
            that they are in instead, as `read_given` takes it.
    """

    columns: Columns = field(default_factory=Columns)
    ledger: bool | str = True

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        return graph_of_tables(self.tables(), self.columns, self.name)

    def load_for_labelling(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        return graph_of_tables(self.tables(needs_labels=False), self.columns, self.name, needs_labels=False)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        form = form_of(known, self.path)
        return known_graph(self.tables(), self.columns, self.name, form, known.class_names)

    def tables(self, *, needs_labels: bool = True) -> TableFiles:
        """The two tables, read."""
        elsewhere = Path(self.ledger) if isinstance(self.ledger, str) else None
        needed = needs_labels and elsewhere is None
        found = find_tables(Path(self.path), self.columns.ignore, needs_labels=needed)
        return found if self.ledger is True else replace(found, ledger=elsewhere)

    def place(self) -> Mapping[str, Any]:
        labels = {"labels": self.ledger} if isinstance(self.ledger, str) else {}
        return {"folder": self.path, "columns": asdict(self.columns), **labels}
