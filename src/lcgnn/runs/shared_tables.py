"""A user's tables, read once: by the process that plans the work, which hands them to its workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from lcgnn.features.encoding import Encoding
from lcgnn.runs.runner import CarryOut, Job, Result
from lcgnn.sources.parts.parted import holds_parts, load_parted
from lcgnn.sources.tables.reading import TableGraph, Tables, load_tables
from lcgnn.training.loop import Progress

# The tables that this process has read last, or was handed.
_read: dict[Tables, TableGraph] = {}


def read_tables(tables: Tables) -> TableGraph:
    """A folder of tables, or of a graph in parts, read once."""
    if tables not in _read:
        folder = Path(tables.folder)
        parts = TableGraph(*load_parted(folder), Encoding(), ()) if holds_parts(folder) else None
        _keep(tables, parts or load_tables(tables))
    return _read[tables]


def forget_tables() -> None:
    """Have tables read anew by the next who asks: they may have changed, or be others at the same path."""
    _read.clear()


def _keep(tables: Tables, made: TableGraph) -> None:
    _read.clear()
    _read[tables] = made


@dataclass(frozen=True)
class SharingTables(Generic[Job, Result]):
    """A function for `run_jobs` that takes the tables which this process has read along to the workers.

    Large arrays reach them as memory maps of one file, so that there is one copy for all.
    """

    carry_out: CarryOut[Job, Result]
    tables: Tables
    made: TableGraph

    def __call__(self, job: Job, progress: Callable[[Progress], None]) -> Result:
        _keep(self.tables, self.made)
        return self.carry_out(job, progress)


def sharing_tables(tables: Tables | None, carry_out: CarryOut[Job, Result]) -> CarryOut[Job, Result]:
    """The function, with the tables that its jobs are about, if they are about any."""
    return carry_out if tables is None else SharingTables(carry_out, tables, read_tables(tables))
