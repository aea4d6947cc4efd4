"""A benchmark as it comes to somebody who has its tables, or as the paper's authors would have prepared it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from lcgnn.errors import ConfigError
from lcgnn.features.scaling import Scaling
from lcgnn.sources.benchmarks.registry import Benchmark
from lcgnn.sources.loaded import Loaded, as_known
from lcgnn.sources.source import Known, Progress, Source, check_without_columns

Preparation = Literal["own", "paper"]


@dataclass(frozen=True)
class Rescaled(Source):
    """A benchmark whose features are scaled by another rule than that of its name.

    Args:
        published: The benchmark.
        preparation: "own" scales the features, and gives methods the settings, as for a graph of the user's own;
            "paper" divides every row by its sum, as the paper does, with the benchmark's settings.
    """

    published: Benchmark
    preparation: Preparation

    def __post_init__(self) -> None:
        if self.preparation not in get_args(Preparation):
            raise ConfigError(f"features = {self.preparation!r}: it can be 'own' or 'paper'.")

    @property
    def name(self) -> str:
        return f"{self.published.name}:{self.preparation}"

    @property
    def benchmark(self) -> str | None:
        return self.published.benchmark if self.preparation == "paper" else None

    def load(self, progress: Progress | None = None) -> Loaded:
        loaded = self.published.load(progress)
        features = loaded.graph.features
        assert features is not None
        # Both rules forget by what a row was divided before.
        scaling = Scaling.fit(features, "auto" if self.preparation == "own" else "rows")
        return replace(loaded, graph=replace(loaded.graph, features=scaling.apply(features)))

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:
        check_without_columns(known, self.name)
        return as_known(self.load(progress), known.class_names)

    def place(self) -> None:
        return None
