"""A simulated labeller: what is suggested, and that no label is read which nobody asked for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcgnn.assessment.suggestion import strategies
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.runs import simulation
from lcgnn.runs.run import Run
from lcgnn.runs.simulation import suggested_split
from lcgnn.runs.spec import RunSpec, SplitSpec
from lcgnn.sources.in_python import Given

EVERY = sorted(strategies())
ASKING = [name for name in EVERY if strategies()[name].asks_model]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that is asked learns for a moment only."""

    def consulted() -> Any:
        return create("lc-gcn", OWN_GRAPH, selection="last", base_stop_window=0, base_epochs=3, epochs=3)

    monkeypatch.setattr(simulation, "consulted", consulted)
    simulation._told.cache_clear()


@pytest.fixture
def graph(small_graph: Callable[..., tuple[Graph, Split]]) -> Graph:
    """Two hundred labelled nodes, and forty whose label nobody knows."""
    whole, _ = small_graph()
    labels = whole.labels.copy()
    labels[::6] = UNLABELLED
    return replace(whole, labels=labels)


@pytest.mark.parametrize("name", EVERY)
def test_all_that_was_suggested_is_trained_on_and_all_else_that_is_known_is_tested_on(
    name: str, graph: Graph
) -> None:
    split = suggested_split(graph, by=name, labels=8, seed=1)
    assert split.train.size == 8
    assert not split.validation.size
    assert sorted([*split.train, *split.test]) == graph.labelled.tolist()
    assert np.unique(graph.labels[split.train]).size > 1


@pytest.mark.parametrize("name", EVERY)
def test_no_label_is_read_that_was_not_asked_for(name: str, graph: Graph) -> None:
    told = suggested_split(graph, by=name, labels=12, seed=0).train
    labels = np.where(graph.labels == UNLABELLED, UNLABELLED, (graph.labels + 1) % graph.num_classes)
    labels[told] = graph.labels[told]
    other = replace(graph, labels=labels)
    assert suggested_split(other, by=name, labels=12, seed=0).train.tolist() == told.tolist()


@pytest.mark.parametrize("name", ASKING)
def test_who_asks_a_model_suggests_a_classs_worth_at_a_time(name: str, graph: Graph) -> None:
    few, more = (set(suggested_split(graph, by=name, labels=count, seed=0).train) for count in (4, 9))
    assert few < more


def test_if_all_labels_are_of_one_class_others_are_asked_for(graph: Graph) -> None:
    busiest = np.argsort(-np.diff(graph.adjacency.indptr), kind="stable")
    labels = np.zeros(graph.num_nodes, dtype=np.int64)
    labels[busiest[20]] = 1
    split = suggested_split(replace(graph, labels=labels), by="degree", labels=3, seed=0)
    assert sorted(split.train) == sorted([*busiest[:2], busiest[20]])


@pytest.mark.parametrize("labels", [0, 1, 200, 1000])
def test_a_number_of_labels_that_cannot_be_told_is_refused(labels: int, graph: Graph) -> None:
    with pytest.raises(DataError, match=r"200 can be told. Ask for 2 to 199"):
        suggested_split(graph, by="random", labels=labels, seed=0)


def test_a_suggested_split_asks_for_so_many_times_the_number_of_classes(graph: Graph) -> None:
    public = Split(graph.labelled[:3], graph.labelled[:0], graph.labelled[:0])
    spec = SplitSpec("suggested", 2, seed=3, strategy="degree")
    assert spec.make(graph, public).train.size == 2 * graph.num_classes
    assert replace(spec, labels_per_class=None, labels=5).make(graph, public).train.size == 5
    assert spec.labels_in_words() == "2 labels a class's worth"


def test_a_suggested_split_is_the_same_after_a_round_trip_and_older_ones_are_as_they_were() -> None:
    spec = SplitSpec("suggested", 2, seed=3, strategy="degree")
    assert SplitSpec.from_json(spec.to_json()) == spec
    assert SplitSpec().to_json() == {"kind": "public", "labels_per_class": None, "seed": 0}


def test_a_strategy_that_was_changed_does_not_take_the_records_of_what_it_was(
    monkeypatch: pytest.MonkeyPatch, graph: Graph
) -> None:
    def made() -> tuple[SplitSpec, str]:
        given, spec = Given.of(graph), SplitSpec("suggested", 2, strategy="degree")
        return spec, Run(RunSpec(given, "lc-gcn", 0, {}, spec), given.load()).identity

    (old, before), stored = made(), SplitSpec("suggested", 2, strategy="degree").to_json()
    assert "strategy_version" not in stored
    monkeypatch.setattr(strategies()["degree"], "version", 2)
    new, after = made()
    assert new.to_json() == {**stored, "strategy_version": 2}
    assert SplitSpec.from_json(new.to_json()) == new != old == SplitSpec.from_json(stored)
    assert before != after
    with pytest.raises(ConfigError, match="suggested by version 1 of 'degree', and here is version 2"):
        old.make(graph, Split(graph.labelled[:3], graph.labelled[:0], graph.labelled[:0]))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (SplitSpec("suggested", 2), "name both"),
        (SplitSpec("random", 2, strategy="degree"), "name both"),
        (SplitSpec("suggested", 2, strategy="none"), "no strategy 'none'"),
    ],
)
def test_a_split_and_a_strategy_that_do_not_belong_together_are_refused(spec: SplitSpec, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        spec.check()


def test_what_a_run_is_called_takes_no_simulation(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Split:
        raise AssertionError("A simulation was begun.")

    monkeypatch.setattr("lcgnn.runs.spec.suggested_split", refuse)
    given = Given.of(graph)
    names = {
        Run(RunSpec(given, "lc-gcn", 0, {}, SplitSpec("suggested", count, 0, strategy=by)), given.load()).identity
        for count in (1, 2)
        for by in ("degree", "spread")
    }
    assert len(names) == 4
