"""How long experiments take, from records."""

from pathlib import Path

import pytest
from rich.console import Console

from lcgnn.cli.display import plan_table
from lcgnn.experiments.forecast import Item, forecast, total
from lcgnn.experiments.graphs import Graphs
from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.spec import Experiment
from lcgnn.runs.records import Environment, Record, StageRecord
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.benchmarks import benchmark

STUDY = """
title = "Four runs"
seeds = 2
[[columns]]
dataset = "cora"
[[rows]]
name = "GCN"
method = "lc-gcn"
stage = "base"
[[rows]]
name = "LC-GCN"
method = "lc-gcn"
[[rows]]
name = "MLP"
method = "mlp"
"""


@pytest.fixture
def study(tmp_path: Path, cora: object) -> Experiment:
    (tmp_path / "study.toml").write_text(STUDY)
    return load_experiment(str(tmp_path / "study.toml"))


def record(method: str, seed: int, seconds: float) -> Record:
    spec = RunSpec(benchmark("cora"), method, seed)
    stages = (StageRecord("base", 1, 1, None, None, 0.8),)
    return Record(
        Graphs().run(spec).identity, "cora", method, {}, spec.split, seed, "abc", seconds, stages, Environment()
    )


def test_a_run_takes_what_its_record_says_or_what_its_like_took(study: Experiment) -> None:
    # Seed 7 is not of the study, but of the same kind: a run is expected to take 20 s.
    records = [record("lc-gcn", 0, 10.0), record("lc-gcn", 7, 30.0)]
    assert forecast([study, study], None, records, Graphs()) == [
        Item("lc-gcn", "cora", runs=2, missing=1, seconds=30.0, to_come=20.0),
        Item("mlp", "cora", runs=2, missing=2, seconds=None, to_come=None),
    ]
    assert forecast([study], 1, records, Graphs())[0] == Item("lc-gcn", "cora", 1, 0, 10.0, 0.0)


def test_the_total_leaves_out_what_is_not_known() -> None:
    items = [Item("a", "cora", 2, 1, 30.0, 20.0), Item("b", "cora", 5, 5, None, None)]
    assert total(items, "all", "") == Item("all", "", 7, 6, 30.0, 20.0)


def shown(items: list[Item], workers: int) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(plan_table(items, workers))
    return capture.get()


def test_the_plan_says_how_long_and_what_it_does_not_know() -> None:
    text = shown([Item("a", "cora", 10, 5, 36000.0, 18000.0), Item("b", "cora", 5, 5, None, None)], 2)
    assert "5.0 h on 2 cores from nothing, 2.5 h for what is to be done." in text
    assert "Not counted: 5 runs of kinds that have no record yet." in text


def test_short_kinds_are_shown_together() -> None:
    text = shown(
        [Item("a", "cora", 1, 0, 1000.0, 0.0), *[Item(f"b{i}", "cora", 2, 0, 1.0, 0.0) for i in range(3)]], 1
    )
    assert "b1" not in text
    assert [cell.strip() for cell in text.split("others")[1].split("│")[1:4]] == ["", "6", "0"]
    assert "on one core" in text
