"""A graph of the user's own: a folder with a table of nodes and a table of edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import FileSource, Known, Progress, form_of
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.known import known_graph
from lcgnn.sources.tables.reading import find_tables, graph_of_tables


@dataclass(frozen=True)
class Tables(FileSource):
    """A folder with ``nodes`` and ``edges`` as .csv, .tsv or .parquet.

    Instead of ``nodes`` there may be ``labels``, with the id and the label of some of the edges' nodes.

    Args:
        path: The folder.
        columns: Names of columns that are not to be guessed.
    """

    columns: Columns = field(default_factory=Columns)

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        return graph_of_tables(find_tables(Path(self.path), self.columns.ignore), self.columns, self.name)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        form = form_of(known, self.path)
        return known_graph(
            find_tables(Path(self.path), self.columns.ignore), self.columns, self.name, form, known.class_names
        )

    def place(self) -> Mapping[str, Any]:
        return {"folder": self.path, "columns": asdict(self.columns)}
