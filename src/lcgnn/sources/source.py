"""Where a graph comes from: one class for each way in, all of them alike to everybody else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lcgnn.errors import DataError
from lcgnn.sources.loaded import Loaded

if TYPE_CHECKING:
    from lcgnn.sources.tables.form import TableForm

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done and how much there is, if that is known."""


def silent(what: str, done: int, total: int | None) -> None:
    """The progress that nobody is told of."""
    del what, done, total


@dataclass(frozen=True, eq=False)
class Known:
    """What a trained model knows of the graphs that it can read.

    Args:
        form: How tables become a graph for it; None if it was not trained on tables.
        class_names: Its classes, in their order.
    """

    form: TableForm | None
    class_names: tuple[str, ...]


class Source(ABC):
    """Where a graph comes from, as the user named it. Nothing is read before `load`."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the graph is called in tables and in the names of folders."""

    @abstractmethod
    def load(self, progress: Progress | None = None) -> Loaded:
        """Read the graph; DataError says where, what and what to do if it cannot be used.

        Args:
            progress: Told what is being fetched or read, how much of it is done, and of how much.
        """

    @abstractmethod
    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:
        """Read the graph for a model that was trained before: with its columns and classes, nothing guessed.

        Labels may be missing. A split's training nodes are those whose label is given.
        """

    def load_for_labelling(self, progress: Progress | None = None) -> Loaded:
        """Read the graph with whatever labels it has: none, or those of one class, will do."""
        return self.load_whole(progress)

    def load_whole(self, progress: Progress | None = None) -> Loaded:
        """Read the graph with all of its edges and features in this process."""
        return self.load(progress)

    @property
    def benchmark(self) -> str | None:
        """The benchmark that this is, whose settings and reported results apply; None for a user's graph."""
        return None

    @property
    def parts(self) -> Path | None:
        """The folder with the graph's parts, of which every process reads its own; None for a whole graph."""
        return None

    @abstractmethod
    def place(self) -> Mapping[str, Any] | None:
        """As plain data where it is, from which `source_at` makes it again; None for a benchmark."""

    def place_for_parts(self, count: int) -> Path:
        """Where so many parts of the graph are looked for, and go unless the user says otherwise."""
        return Path(f"{self.name}-parts-{count}")


@dataclass(frozen=True)
class FileSource(Source):
    """A graph in a file or a folder of the user's.

    Args:
        path: Of the file or folder, as it was named.
    """

    path: str

    @property
    def name(self) -> str:
        return Path(self.path).resolve().name or "graph"

    def place(self) -> Mapping[str, Any]:
        return {"folder": self.path}

    def place_for_parts(self, count: int) -> Path:
        folder = Path(self.path)
        return folder / f"parts-{count}" if folder.is_dir() else super().place_for_parts(count)


def check_without_columns(known: Known, name: str) -> None:
    """Refuse a model that was trained on a table's columns, for a source that has none."""
    if known.form is not None and known.form.roles is not None:
        raise DataError(
            f"The model was trained on a table's columns, and {name} has none. Name a folder of tables."
        )


def form_of(known: Known, name: str) -> TableForm:
    """How the model reads tables; DataError if it was not trained on any."""
    if known.form is None or known.form.roles is None:
        raise DataError(
            f"The model was not trained on a table's columns, so it cannot read {name}. "
            f"Train on that: lcgnn train {name}"
        )
    return known.form
