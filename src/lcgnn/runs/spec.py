"""What one run is: a graph, the labels that may be used, a method with its settings, a seed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods import Method, create
from lcgnn.runs.fields import Fields, Place, fields_of, nullable, one_of, share, whole
from lcgnn.sources.splits import first_per_class, random_split, with_validation
from lcgnn.sources.tables.reading import Tables

SplitKind = Literal["public", "random"]


@dataclass(frozen=True)
class SplitSpec:
    """Which labels may be used.

    Args:
        kind: The dataset's public split, or a random draw of the labelled nodes.
        labels_per_class: Training labels per class; None keeps what the public split has (20 for a random one).
        seed: Of the random draw.
        validation: The share of the training labels that is held out for validation.
    """

    kind: SplitKind = "public"
    labels_per_class: int | None = None
    seed: int = 0
    validation: float = 0.0

    def make(self, graph: Graph, public: Split) -> Split:
        """The split itself."""
        split = self._drawn(graph, public)
        return with_validation(graph, split, self.validation) if self.validation else split

    def to_json(self) -> dict[str, Any]:
        """As plain data, with a validation share only where there is one."""
        fields = dataclasses.asdict(self)
        if not self.validation:
            del fields["validation"]
        return fields

    @classmethod
    def from_json(cls, content: Any, where: str = "split") -> SplitSpec:
        """From plain data, or OutputError that says which field of it is wrong."""
        return read_split(content, Place(where))

    def _drawn(self, graph: Graph, public: Split) -> Split:
        if self.kind == "random":
            return random_split(graph, labels_per_class=self.labels_per_class or 20, seed=self.seed)
        if self.kind != "public":
            raise ConfigError(f"There is no split {self.kind!r}; it can be 'public' or 'random'.")
        if self.labels_per_class is None:
            return public
        return first_per_class(graph, public, self.labels_per_class)


def read_split(content: Any, place: Place) -> SplitSpec:
    """A split from the plain data at a place in a file."""
    with fields_of(content, place) as fields:
        return read_split_fields(fields)


def read_split_fields(fields: Fields) -> SplitSpec:
    """A split from an object that may have further fields."""
    return SplitSpec(
        kind=cast("SplitKind", fields.read("kind", one_of(*get_args(SplitKind)))),
        labels_per_class=fields.read("labels_per_class", nullable(whole)),
        seed=fields.read("seed", whole),
        validation=fields.find("validation", share) or 0.0,
    )


@dataclass(frozen=True)
class RunSpec:
    """One fit: a method with its settings on a dataset with a split, from a seed.

    Args:
        dataset: A benchmark's name, or what to call the graph in the tables.
        method: A method's name.
        seed: Of everything random.
        settings: Of the method, where they differ from its defaults.
        split: Which labels may be used.
        tables: Where the graph comes from, if it is not a benchmark.
    """

    dataset: str
    method: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    split: SplitSpec = SplitSpec()
    tables: Tables | None = None

    def configuration(self) -> dict[str, Any]:
        """All of it but the seed, as plain data."""
        fields = {**dataclasses.asdict(self), "split": self.split.to_json()}
        del fields["seed"]
        if self.tables is None:
            del fields["tables"]
        return fields

    def create_method(self) -> Method:
        """The method; a benchmark's own settings are no graph's that happens to have its name."""
        return create(self.method, None if self.tables else self.dataset, **self.settings)


def fingerprint(content: Mapping[str, Any]) -> str:
    """A hash of plain data that does not depend on the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
