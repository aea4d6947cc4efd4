"""What is to be run: one run, and a whole experiment of them read from TOML."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal

from lcgnn.datasets.splits import first_per_class, random_split
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SplitKind = Literal["public", "random"]


@dataclass(frozen=True)
class SplitSpec:
    """Which labels may be used.

    Args:
        kind: The dataset's public split, or a random draw of the labelled nodes.
        labels_per_class: Training labels per class; None keeps what the public split has (20 for a random one).
        seed: Of the random draw.
    """

    kind: SplitKind = "public"
    labels_per_class: int | None = None
    seed: int = 0

    def make(self, graph: Graph, public: Split) -> Split:
        """The split itself."""
        if self.kind == "random":
            return random_split(graph, labels_per_class=self.labels_per_class or 20, seed=self.seed)
        if self.kind != "public":
            raise ConfigError(f"There is no split {self.kind!r}; it can be 'public' or 'random'.")
        if self.labels_per_class is None:
            return public
        return first_per_class(graph, public, self.labels_per_class)


@dataclass(frozen=True)
class RunSpec:
    """One fit: a method with its settings on a dataset with a split, from a seed."""

    dataset: str
    method: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    split: SplitSpec = SplitSpec()

    def configuration(self) -> dict[str, Any]:
        """All of it but the seed, as plain data."""
        fields = dataclasses.asdict(self)
        del fields["seed"]
        return fields


def fingerprint(content: Mapping[str, Any]) -> str:
    """A hash of plain data that does not depend on the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Reported:
    """A number of the paper, in percent; the spread is None where the paper gives none."""

    mean: float
    std: float | None = None


@cache
def paper_results() -> dict[tuple[str, str, int | None], Reported]:
    """What the paper reports by method, dataset and labels per class (None: the whole public split)."""
    results = {}
    for file in resources.files("lcgnn.experiments").joinpath("paper").iterdir():
        if file.name.endswith(".toml"):
            table = tomllib.loads(file.read_text(encoding="utf-8"))
            for row in table["rows"]:
                for column, reported in zip(table["columns"], row["paper"], strict=True):
                    if reported:
                        key = (row["method"], column["dataset"], column.get("labels_per_class"))
                        results[key] = Reported(*reported)
    return results
