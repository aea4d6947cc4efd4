from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcgnn.errors import ConfigError
from lcgnn.experiments.library import load_experiment, packaged_experiments
from lcgnn.methods import create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.methods.lc import TwoPhase
from lcgnn.runs.reported import paper_results
from lcgnn.runs.spec import RunSpec, SplitSpec, fingerprint
from lcgnn.sources.benchmarks import benchmark

GOOD = """
title = "Mine"
seeds = 2
[[columns]]
dataset = "cora"
labels_per_class = 5
[[rows]]
name = "base"
method = "lc-gcn"
stage = "base"
[[rows]]
name = "LC"
method = "lc-gcn"
compare = "base"
settings = { epochs = 3 }
"""


def test_the_papers_tables_are_there_with_its_numbers() -> None:
    assert {"table2", "table3", "table4"} <= packaged_experiments().keys()
    results = paper_results()
    assert results["lc-gcn", "cora", None].mean == 82.9
    assert results["gcn", "citeseer", 5].std == 1.9
    assert results["mlp", "pubmed", None].std is None
    assert ("monet", "citeseer", None) not in results


@pytest.mark.parametrize("name", packaged_experiments())
def test_every_experiment_file_plans_runs_for_all_of_its_cells(name: str) -> None:
    experiment = packaged_experiments()[name]
    runs = list(experiment.all_runs(2))
    cells = {(run.source.name.partition(":")[0], run.split.labels_per_class) for run in runs}
    assert cells == {(column.dataset, column.split.labels_per_class) for column in experiment.columns}
    assert {run.method for run in runs} == {row.method for row in experiment.rows}
    assert {run.seed for run in runs} <= {0, 1}


def test_what_strategies_suggest_on_a_graph_comes_together_seed_by_seed() -> None:
    runs = list(packaged_experiments()["which_nodes_others"].all_runs(2))
    graphs = [(run.seed, run.source.name) for run in runs]
    assert graphs == sorted(graphs)
    # Elsewhere runs that begin with the same first phase are far from each other: one would wait for the other.
    others = [run.source.name for run in packaged_experiments()["strong_bases"].all_runs(1)]
    assert all(first != second for first, second in pairwise(others))


def test_a_row_may_have_features_and_settings_as_for_a_graph_of_ones_own(tmp_path: Path) -> None:
    rows = "".join(
        f'[[rows]]\nname = "{features}"\nmethod = "lc-gcn"\nfeatures = "{features}"\n'
        for features in ("own", "paper")
    )
    (tmp_path / "mine.toml").write_text(GOOD + rows)
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    own, paper = (experiment.runs(row, experiment.columns[0], 1)[0] for row in experiment.rows[2:])
    assert own.create_method() == create("lc-gcn", OWN_GRAPH)
    assert paper.create_method() == create("lc-gcn", "cora")
    published = benchmark("cora").load().graph
    scaled = [spec.source.load().graph.features for spec in (own, paper)]
    assert np.allclose(norms(scaled[0])[norms(published.features) > 0], 2)
    assert np.allclose(abs(scaled[1] - published.features).max(), 0, atol=1e-6)
    (tmp_path / "bad.toml").write_text(GOOD + rows.replace('features = "paper"', 'features = "mine"'))
    with pytest.raises(ConfigError, match="it can be 'own' or 'paper'"):
        load_experiment(str(tmp_path / "bad.toml"))


def norms(features: Any) -> Any:
    return np.sqrt(features.multiply(features).sum(axis=1))


def test_a_deterministic_method_runs_once() -> None:
    experiment = packaged_experiments()["table2"]
    assert {run.seed for run in experiment.all_runs(5) if run.method == "lp"} == {0}


def test_draws_take_turns_over_the_seeds_and_are_the_same_for_every_row(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD.replace("labels_per_class = 5", 'split = "random"\ndraws = 3'))
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    runs = list(experiment.all_runs(7))
    assert {(run.seed, run.split.seed) for run in runs} == {(seed, seed % 3) for seed in range(7)}


def test_a_column_may_draw_so_many_labels_in_all_and_no_others(tmp_path: Path) -> None:
    content = GOOD.replace("labels_per_class = 5", 'split = "handful"\nlabels = 35\ndraws = 3')
    (tmp_path / "mine.toml").write_text(content)
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    assert {run.split for run in experiment.all_runs(6)} == {
        SplitSpec("handful", seed=draw, labels=35) for draw in range(3)
    }
    assert experiment.columns[0].title == "Cora, 35 labels in all"


def test_rows_may_be_strategies_that_suggest_the_labels(tmp_path: Path) -> None:
    content = GOOD.replace("labels_per_class = 5", 'labels_per_class = 5\nsplit = "suggested"\ndraws = 3')
    for name, strategy in (("base", "random"), ("LC", "spread")):
        content = content.replace(f'name = "{name}"', f'name = "{name}"\nstrategy = "{strategy}"')
    (tmp_path / "mine.toml").write_text(content)
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    runs = [experiment.runs(row, experiment.columns[0], 4) for row in experiment.rows]
    assert [run.split for run in runs[1]] == [
        SplitSpec("suggested", 5, draw, strategy="spread") for draw in (0, 1, 2, 0)
    ]
    assert {run.split.strategy for run in runs[0]} == {"random"}
    keys = [experiment.configuration_keys(row, experiment.columns[0]) for row in experiment.rows]
    assert not set(keys[0]) & set(keys[1])
    assert experiment.columns[0].title == "Cora, 5 labels a class's worth"


def test_a_split_without_what_was_added_later_is_written_as_it_always_was() -> None:
    assert SplitSpec("random", 5, 3).to_json() == {"kind": "random", "labels_per_class": 5, "seed": 3}
    assert SplitSpec().to_json() == {"kind": "public", "labels_per_class": None, "seed": 0}


def test_a_deterministic_method_runs_once_a_draw(tmp_path: Path) -> None:
    content = GOOD.replace("labels_per_class = 5", 'split = "random"\ndraws = 3').replace(
        'method = "lc-gcn"\nstage = "base"', 'method = "lp"'
    )
    (tmp_path / "mine.toml").write_text(content)
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    assert [run.split.seed for run in experiment.runs(experiment.rows[0], experiment.columns[0], 4)] == [
        0,
        1,
        2,
        0,
    ]


def test_a_column_may_ask_for_more_seeds_and_the_command_line_for_fewer(tmp_path: Path) -> None:
    content = GOOD.replace("labels_per_class = 5", 'split = "random"\ndraws = 3\nseeds = 6')
    (tmp_path / "mine.toml").write_text(content + '[[columns]]\ndataset = "citeseer"\n')
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    counts = Counter(run.source.name for run in experiment.all_runs() if not run.settings)
    assert counts == {"cora": 6, "citeseer": 2}
    assert Counter(run.source.name for run in experiment.all_runs(1) if not run.settings) == {
        "cora": 1,
        "citeseer": 1,
    }


def test_a_file_of_ones_own_is_an_experiment(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    assert (experiment.name, experiment.title, experiment.seeds) == ("mine", "Mine", 2)
    method = experiment.runs(experiment.rows[1], experiment.columns[0])[0].create_method()
    assert isinstance(method, TwoPhase)
    assert method.epochs == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('method = "lc-gcn"', 'method = "lc-gnc"', "Did you mean 'lc-gcn'"),
        ('dataset = "cora"', 'dataset = "coral"', "no dataset 'coral'"),
        ("epochs = 3", "epoch = 3", "no setting 'epoch'"),
        ("epochs = 3", "epochs = 0", "at least one epoch"),
        ('compare = "base"', 'compare = "bas"', "which is no row"),
        ('name = "LC"\n', "", "'name' is missing"),
        ("[[columns]]", "[[column]]", "'columns' is missing"),
        ('name = "LC"', 'name = "LC"\npaper = [[1.0], [2.0]]', "2 figures"),
        ("title", "title = ", "cannot be read"),
        ("labels_per_class = 5", "draws = 3", "needs split = 'random'"),
        ("labels_per_class = 5", "labels = 35", "in experiments, split 'random' or 'handful'"),
        ("labels_per_class = 5", 'labels_per_class = 5\nlabels = 35\nsplit = "random"', "Leave one of them out"),
        ("labels_per_class = 5", 'split = "fair"', "There is no split 'fair'"),
        ("labels_per_class = 5", 'split = "suggested"', "name both"),
        ('name = "LC"', 'name = "LC"\nstrategy = "spread"', "no column's labels are suggested"),
        ("labels_per_class = 5", 'split = "suggested"\nlabels = 5\nlabels_per_class = 1', "Leave one of them out"),
    ],
)
def test_a_mistake_in_a_file_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ConfigError, match=r"mine\.toml") as raised:
        load_experiment(str(path))
    assert message in str(raised.value)


def test_an_unknown_experiment_is_answered_with_what_there_is() -> None:
    with pytest.raises(ConfigError, match="table2, table3, table4"):
        load_experiment("table9")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_experiment(str(tmp_path / "nowhere.toml"))


def test_a_fingerprint_ignores_the_order_of_keys_and_nothing_else() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})


def test_a_run_without_its_seed_is_its_configuration() -> None:
    first, second = (RunSpec(benchmark("cora"), "gcn", seed, {}, SplitSpec()) for seed in (0, 1))
    assert first.configuration() == second.configuration()
