"""What one run is: a graph, the labels that may be used, a method with its settings, a seed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from lcgnn.assessment.suggestion import strategies, strategy
from lcgnn.errors import ConfigError
from lcgnn.files import plain
from lcgnn.graph import Graph, Split
from lcgnn.methods import Method, create, entry, is_registered
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.runs.fields import Fields, Place, fields_of, nullable, one_of, share, text, whole
from lcgnn.runs.simulation import suggested_split
from lcgnn.sources.source import Source
from lcgnn.sources.splits import LABELS_PER_CLASS, first_per_class, handful, random_split, with_validation

SplitKind = Literal["public", "random", "handful", "suggested"]


@dataclass(frozen=True)
class SplitSpec:
    """Which labels may be used.

    Args:
        kind: The dataset's own split; or a random draw of the labelled nodes, with 500 for validation and 1,000
            for test ("random") or with none for validation and all others for test ("handful"); or, with none for
            validation either, what a strategy suggests to somebody who knows all labels ("suggested").
        labels_per_class: Training labels per class; None keeps what the public split has (20 for a draw). Of
            suggested nodes so many times the number of classes, whatever their class.
        seed: Of the random draw.
        validation: The share of the training labels that is held out for validation.
        labels: Training labels of a draw in all, whatever their class; None for so many of each class.
        strategy: Which strategy suggests.
        strategy_version: Of the strategy's code; the present one unless a record says otherwise.
    """

    kind: SplitKind = "public"
    labels_per_class: int | None = None
    seed: int = 0
    validation: float = 0.0
    labels: int | None = None
    strategy: str | None = None
    strategy_version: int | None = None

    def __post_init__(self) -> None:
        if self.strategy_version is None and self.strategy in strategies():
            object.__setattr__(self, "strategy_version", strategy(self.strategy).version)

    def make(self, graph: Graph, public: Split) -> Split:
        """The split itself."""
        split = self._drawn(graph, public)
        return with_validation(graph, split, self.validation) if self.validation else split

    def to_json(self) -> dict[str, Any]:
        """As plain data; validation share, number of labels in all and strategy only where there is one."""
        fields = dataclasses.asdict(self)
        if not self.validation:
            del fields["validation"]
        if self.labels is None:
            del fields["labels"]
        if self.strategy is None:
            del fields["strategy"]
        # Records that were there before strategies had a version are of the first.
        if self.strategy_version in (None, 1):
            del fields["strategy_version"]
        return fields

    def check(self) -> None:
        """Refuse what cannot be meant; ConfigError says what to leave out."""
        if self.kind not in get_args(SplitKind):
            raise ConfigError(f"There is no split {self.kind!r}; it can be 'public', 'random' or 'handful'.")
        if self.labels is not None and self.kind == "public":
            raise ConfigError(
                f"{self.labels} labels in all are drawn at random: say --split random or --split handful (in "
                "Python and in experiments, split 'random' or 'handful')."
            )
        if self.labels is not None and self.labels_per_class is not None:
            raise ConfigError(
                f"{self.labels} labels in all and {self.labels_per_class} of each class contradict each other. "
                "Leave one of them out."
            )
        if (self.strategy is None) == (self.kind == "suggested"):
            raise ConfigError("A strategy belongs to the split 'suggested', and this to a strategy: name both.")
        if self.strategy is not None and strategy(self.strategy).version != self.strategy_version:
            raise ConfigError(
                f"These labels were suggested by version {self.strategy_version} of {self.strategy!r}, and here "
                f"is version {strategy(self.strategy).version}. Have them suggested again."
            )

    def labels_in_words(self) -> str | None:
        """How many labels it asks for, as columns of tables say it; None if it does not say."""
        count = self.labels_per_class if self.labels is None else self.labels
        if count is None:
            return None
        worth = " a class's worth" if self.kind == "suggested" else ""
        return f"{count} label{'' if count == 1 else 's'}{worth if self.labels is None else ' in all'}"

    @classmethod
    def from_json(cls, content: Any, where: str = "split") -> SplitSpec:
        """From plain data, or OutputError that says which field of it is wrong."""
        return read_split(content, Place(where))

    def _drawn(self, graph: Graph, public: Split) -> Split:
        self.check()
        if self.strategy is not None:
            count = self.labels or (self.labels_per_class or LABELS_PER_CLASS) * graph.num_classes
            return suggested_split(graph, by=self.strategy, labels=count, seed=self.seed)
        if self.kind != "public":
            draw = random_split if self.kind == "random" else handful
            return draw(graph, labels_per_class=self.labels_per_class, labels=self.labels, seed=self.seed)
        if self.labels_per_class is None:
            return public
        return first_per_class(graph, public, self.labels_per_class)


def read_split(content: Any, place: Place) -> SplitSpec:
    """A split from the plain data at a place in a file."""
    with fields_of(content, place) as fields:
        return read_split_fields(fields)


def read_split_fields(fields: Fields) -> SplitSpec:
    """A split from an object that may have further fields."""
    suggested_by = fields.find("strategy", text)
    return SplitSpec(
        kind=cast("SplitKind", fields.read("kind", one_of(*get_args(SplitKind)))),
        labels_per_class=fields.read("labels_per_class", nullable(whole)),
        seed=fields.read("seed", whole),
        validation=fields.find("validation", share) or 0.0,
        labels=fields.find("labels", whole),
        strategy=suggested_by,
        strategy_version=None if suggested_by is None else fields.find("strategy_version", whole) or 1,
    )


@dataclass(frozen=True)
class RunSpec:
    """One fit: a method with its settings on a graph with a split, from a seed.

    Args:
        source: Where the graph comes from.
        method: A method's name.
        seed: Of everything random.
        settings: Of the method, where they differ from its defaults.
        split: Which labels may be used.
        made: The method itself, if it was made in Python; None for the registered one with these settings.
    """

    source: Source
    method: str
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    split: SplitSpec = SplitSpec()
    made: Method | None = None

    def configuration(self) -> dict[str, Any]:
        """All of it but the seed, as plain data."""
        place = self.source.place()
        return {
            "dataset": self.source.name,
            "method": self.method,
            "settings": dict(self.settings),
            "split": self.split.to_json(),
            **({} if place is None else {"tables": dict(place)}),
        }

    @property
    def base(self) -> str:
        """What the stage before the last is called in a table: the network alone."""
        return entry(self.method).family if is_registered(self.method) else self.method.removeprefix("lc-")

    def create_method(self) -> Method:
        """The method, with a benchmark's own settings where it has some, or those of graphs of the user's own."""
        return self.made or create(self.method, self.source.benchmark or OWN_GRAPH, **self.settings)


def fingerprint(content: Mapping[str, Any]) -> str:
    """A hash of plain data that does not depend on the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
