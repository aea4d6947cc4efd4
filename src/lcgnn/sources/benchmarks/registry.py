"""The benchmark graphs by name: each is one file of this folder, and registers itself."""

from __future__ import annotations

import difflib
from abc import abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.sources.loaded import Loaded, as_known
from lcgnn.sources.source import Known, Progress, Source, check_without_columns


@dataclass(frozen=True)
class Benchmark(Source):
    """A published graph, and what its paper says of it.

    Args:
        key: Its name on the command line, in lower case.
        title: How papers write it.
        num_nodes: Nodes.
        num_links: Links of the source, before duplicates and self-loops are merged.
        num_classes: Classes.
        num_features: Features of every node.
        label_rate: Share of the nodes whose label is trained on in its own split.
        told: What there is to say when it is loaded.
    """

    has_public_split: ClassVar[bool] = True
    """Whether it was published with the split that everybody uses; otherwise its own is a random draw."""

    key: str
    title: str
    num_nodes: int
    num_links: int
    num_classes: int
    num_features: int
    label_rate: float
    told: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.key

    @property
    def benchmark(self) -> str:
        return self.key

    @abstractmethod
    def read(self, *, root: Path | None = None, progress: Progress | None = None) -> tuple[Graph, Split]:
        """The graph and its own split, fetched the first time and read from the cache afterwards.

        Args:
            root: A folder that holds the published files; by default the one that the environment names.
            progress: Told what is being fetched or read, how much of it is done, and of how much.
        """

    def is_here(self) -> bool:
        """Whether it can be read without fetching anything."""
        return True

    def load(self, progress: Progress | None = None) -> Loaded:
        return Loaded(*self.read(progress=progress), self.told)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:
        check_without_columns(known, self.key)
        return as_known(self.load(progress), known.class_names)

    def place(self) -> None:
        return None


BENCHMARKS: dict[str, Benchmark] = {}


def register(found: Benchmark) -> None:
    """Make a benchmark known under its key; they are listed from the smallest to the largest."""
    known = sorted([*BENCHMARKS.values(), found], key=lambda item: item.num_nodes)
    BENCHMARKS.clear()
    BENCHMARKS.update({item.key: item for item in known})


def benchmark(name: str) -> Benchmark:
    """The benchmark of a name in upper or lower case; an unknown one is answered with the nearest there is."""
    key = name.lower()
    if key not in BENCHMARKS:
        nearest = difflib.get_close_matches(key, BENCHMARKS, n=1)
        meant = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ConfigError(f"There is no dataset {name!r}.{meant} Known: {', '.join(BENCHMARKS)}.")
    return replace(BENCHMARKS[key])
