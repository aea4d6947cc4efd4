"""Benchmark graphs, one file each; importing this package registers all of them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from lcgnn.graph import Graph, Split
from lcgnn.sources.benchmarks.registry import BENCHMARKS, Benchmark, benchmark, register
from lcgnn.sources.source import Progress

__all__ = ["BENCHMARKS", "Benchmark", "benchmark", "load", "names", "register", "with_public_split"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def names() -> tuple[str, ...]:
    """The names that `load` knows, from the smallest graph to the largest."""
    return tuple(BENCHMARKS)


def with_public_split() -> tuple[str, ...]:
    """The names of those that were published with the split that everybody uses."""
    return tuple(name for name, found in BENCHMARKS.items() if found.has_public_split)


def load(name: str, *, progress: Progress | None = None) -> tuple[Graph, Split]:
    """A benchmark graph and its own split, fetched the first time and read from the cache afterwards.

    Args:
        name: One of `names()`, in upper or lower case.
        progress: Told what is being fetched or read, how much of it is done, and of how much.
    """
    return benchmark(name).read(progress=progress)
