"""Where graphs come from. Benchmarks are loaded by name; each other way in is a module of this package."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split

__all__ = ["DATASETS", "DatasetInfo", "load", "names"]


@dataclass(frozen=True)
class DatasetInfo:
    """What the paper's Table 1 says of a benchmark.

    Args:
        title: How the paper writes its name.
        num_nodes: Nodes.
        num_links: The paper's "edges": links of the source, before duplicates and self-loops are merged.
        num_classes: Classes.
        num_features: Features of every node.
        label_rate: Share of the nodes whose label is trained on.
    """

    title: str
    num_nodes: int
    num_links: int
    num_classes: int
    num_features: int
    label_rate: float


DATASETS = {
    "cora": DatasetInfo("Cora", 2708, 5429, 7, 1433, 0.052),
    "citeseer": DatasetInfo("Citeseer", 3327, 4732, 6, 3703, 0.036),
    "pubmed": DatasetInfo("PubMed", 19717, 44338, 3, 500, 0.003),
}


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(DATASETS)


def load(name: str, *, progress: Callable[[str, int, int | None], None] | None = None) -> tuple[Graph, Split]:
    """A benchmark graph and its public split, fetched the first time and read from the cache afterwards.

    Args:
        name: One of `names()`, in upper or lower case.
        progress: Told what is being fetched or read, how much of it is done, and of how much.
    """
    key = name.lower()
    if key not in DATASETS:
        nearest = difflib.get_close_matches(key, DATASETS, n=1)
        meant = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ConfigError(f"There is no dataset {name!r}.{meant} Known: {', '.join(DATASETS)}.")
    # Imported here because listing the datasets must not wait for the code that reads them.
    from lcgnn.sources.benchmarks.planetoid import load_planetoid

    return load_planetoid(key, progress=progress)
