"""Records find their cells, and only theirs."""

import dataclasses
from pathlib import Path

import pytest

from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.study import gather, records_of
from lcgnn.runs.records import Environment, Fifth, Record, StageRecord

STUDY = """
title = "Draws"
[[columns]]
dataset = "cora"
split = "random"
labels_per_class = 5
draws = 2
[[rows]]
name = "base"
method = "lc-gcn"
stage = "base"
[[rows]]
name = "LC"
method = "lc-gcn"
compare = "base"
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    (tmp_path / "draws.toml").write_text(STUDY)
    return load_experiment(str(tmp_path / "draws.toml"))


def record(experiment: Experiment, seed: int, draw: int, base: float, final: float) -> Record:
    spec = experiment.runs(experiment.rows[0], experiment.columns[0])[draw]
    return Record(
        run=f"{seed}-{draw}",
        dataset=spec.source.name,
        method=spec.method,
        settings=spec.create_method().plain_settings(),
        split=spec.split,
        seed=seed,
        graph="abc",
        seconds=1.0,
        stages=(
            StageRecord("base", 1, 1, None, None, base),
            StageRecord("label consistency", 1, 1, None, None, final),
        ),
        environment=Environment(),
    )


def with_second_fifth(stage: StageRecord, correct: int) -> StageRecord:
    """Four nodes in the second fifth, so many of them correct, and nine correct ones in each of the others."""
    fifths = [Fifth(low / 5, (low + 1) / 5, 9, 9) for low in range(5)]
    fifths[1] = Fifth(0.2, 0.4, 4, correct)
    return dataclasses.replace(stage, fifths=tuple(fifths))


def test_the_records_of_all_draws_make_one_cell(experiment: Experiment) -> None:
    records = [record(experiment, seed, seed % 2, 0.5 + seed / 10, 0.6 + seed / 10) for seed in (1, 0)]
    cells = gather(experiment, records)
    assert cells["base", 0].accuracies == pytest.approx({0: 0.5, 1: 0.6})
    difference = cells["LC", 0].difference
    assert difference is not None
    assert (difference.count, difference.mean) == (2, pytest.approx(0.1))


def test_seeds_that_share_a_draw_count_as_one(experiment: Experiment) -> None:
    records = [record(experiment, seed, seed % 2, 0.5 + seed / 10, 0.6 + seed / 5) for seed in (3, 0, 2, 1)]
    cells = gather(experiment, records)
    assert cells["base", 0].accuracies == pytest.approx({0: 0.6, 1: 0.7})
    difference = cells["LC", 0].difference
    assert difference is not None
    assert (difference.count, difference.mean) == (2, pytest.approx(0.25))


def test_a_column_may_count_one_fifth_of_the_nodes(tmp_path: Path) -> None:
    study = STUDY.replace('split = "random"', "fifth = 2").replace("draws = 2\n", "")
    (tmp_path / "fifths.toml").write_text(study)
    experiment = load_experiment(str(tmp_path / "fifths.toml"))
    assert experiment.by_consistency
    measured, older = record(experiment, 0, 0, 0.5, 0.6), record(experiment, 1, 0, 0.5, 0.6)
    base, final = measured.stages
    measured = dataclasses.replace(measured, stages=(with_second_fifth(base, 1), with_second_fifth(final, 3)))
    cells = gather(experiment, [measured, older])
    assert cells["base", 0].accuracies == {0: 0.25}
    assert cells["LC", 0].difference is not None
    assert cells["LC", 0].difference.mean == 0.5


def test_a_seed_counts_only_on_the_draw_whose_turn_it_has(experiment: Experiment) -> None:
    own, other = record(experiment, 0, 0, 0.5, 0.6), record(experiment, 0, 1, 0.9, 0.9)
    assert gather(experiment, [other, own])["LC", 0].accuracies == {0: 0.6}
    assert records_of(experiment, [other, own]) == [own]
