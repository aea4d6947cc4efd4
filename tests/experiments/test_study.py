"""Records find their cells, and only theirs."""

from pathlib import Path
from typing import Any

import pytest

from lcgnn.experiments.spec import Experiment, load_experiment
from lcgnn.experiments.study import gather, records_of

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


def record(experiment: Experiment, seed: int, draw: int, base: float, final: float) -> dict[str, Any]:
    return {
        **experiment.configurations(experiment.rows[0], experiment.columns[0])[draw],
        "run": f"{seed}-{draw}",
        "seed": seed,
        "seconds": 1.0,
        "stages": [
            {"name": "base", "test_accuracy": base},
            {"name": "label consistency", "test_accuracy": final},
        ],
    }


def test_the_records_of_all_draws_make_one_cell(experiment: Experiment) -> None:
    records = [record(experiment, seed, seed % 2, 0.5 + seed / 10, 0.6 + seed / 10) for seed in (3, 0, 2, 1)]
    cells = gather(experiment, records)
    assert cells["base", 0].accuracies == pytest.approx({0: 0.5, 1: 0.6, 2: 0.7, 3: 0.8})
    difference = cells["LC", 0].difference
    assert difference is not None
    assert (difference.count, difference.mean) == (4, pytest.approx(0.1))


def test_a_seed_counts_only_on_the_draw_whose_turn_it_has(experiment: Experiment) -> None:
    own, other = record(experiment, 0, 0, 0.5, 0.6), record(experiment, 0, 1, 0.9, 0.9)
    assert gather(experiment, [other, own])["LC", 0].accuracies == {0: 0.6}
    assert records_of(experiment, [other, own]) == [own]
