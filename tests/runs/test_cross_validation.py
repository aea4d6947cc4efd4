"""Cross-validation on a small folder of tables: what is held out, what is kept, what is said."""

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcgnn.errors import ConfigError
from lcgnn.runs.board import temporary_board
from lcgnn.runs.cross_validation import CrossValidation, FoldRun, plan_cross_validation
from lcgnn.runs.planning import plan
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.run import Run
from lcgnn.runs.session import Session
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.tables.source import Tables

SETTINGS = {"selection": "last", "base_epochs": 40, "epochs": 20}


def write_rings(folder: Path, labels_per_class: int = 12, *, test: int = 0) -> Tables:
    """Two rings of 60 nodes each, one a class, whose one number tells most of them apart."""
    folder.mkdir()
    generator = np.random.default_rng(0)
    with (folder / "nodes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label", "split", "number"])
        for node in range(120):
            part = (
                "train" if node % 60 < labels_per_class else "test" if node % 60 < labels_per_class + test else ""
            )
            label = "left" if node < 60 else "right"
            number = generator.normal(0 if node < 60 else 1.5)
            writer.writerow([node, label if part else "", part, f"{number:.3f}"])
    rings = [(start + i, start + (i + 1) % 60) for start in (0, 60) for i in range(60)]
    with (folder / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("source", "target"), *rings])
    return Tables(str(folder))


@pytest.fixture(scope="module")
def rings(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_on(write_rings(tmp_path_factory.mktemp("tables") / "rings"))


def run_on(tables: Tables) -> Run:
    return Run(RunSpec(tables, "lc-gcn", 0, SETTINGS), tables.load())


def folded(run: Run, number: int, count: int) -> FoldRun:
    return FoldRun(run.spec, run.loaded, number, count)


def tables_of(run: Run) -> Tables:
    assert isinstance(run.spec.source, Tables)
    return run.spec.source


def planned(run: Run, asked: int | None, folder: Path) -> CrossValidation:
    found, told = plan_cross_validation(run, asked, folder, "cpu", 1)
    assert found is not None
    assert not told
    return found


def carried_out(found: CrossValidation) -> list[FoldRecord]:
    with temporary_board(found.used) as board:
        return [result for _, result in found.results(board)]


def test_a_fold_is_fitted_like_the_run_and_predicts_what_it_has_not_seen(rings: Run, tmp_path: Path) -> None:
    found = planned(rings, 4, tmp_path)
    results = carried_out(found)
    graph, split = rings.graph, rings.split
    assert sorted(node for result in results for node in result.nodes) == sorted(split.train.tolist())
    for result in results:
        part = dataclasses.replace(split, train=np.setdiff1d(split.train, result.nodes))
        reference = rings.method.fit(graph, part, seed=0).label_distribution
        np.testing.assert_allclose(result.probabilities, reference[list(result.nodes)], rtol=1e-6)
    assessment = found.assess(results)
    hits = [
        np.argmax(row) == graph.labels[node]
        for result in results
        for node, row in zip(result.nodes, result.probabilities, strict=True)
    ]
    assert assessment.overall.accuracy == pytest.approx(np.mean(hits))
    assert (assessment.folds, assessment.of_folds, assessment.given) == (4, 4, 24)


def test_the_order_in_which_folds_finish_does_not_matter(rings: Run, tmp_path: Path) -> None:
    found = planned(rings, 3, tmp_path)
    results = carried_out(found)
    assert found.assess(results) == found.assess(results[::-1])


def test_a_fold_that_is_done_is_not_repeated_and_a_damaged_one_is(rings: Run, tmp_path: Path) -> None:
    found = planned(rings, 3, tmp_path)
    before = carried_out(found)
    kept, broken = tmp_path / "fold-1.json", tmp_path / "fold-2.json"
    written = kept.stat().st_mtime_ns
    broken.write_text(broken.read_text()[:50])
    after = carried_out(found)
    assert [result.probabilities for result in after] == [result.probabilities for result in before]
    assert kept.stat().st_mtime_ns == written
    assert json.loads(broken.read_text())["fold"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fold-1.json", "fold-2.json", "fold-3.json"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", [2**70, 1, 2, 3, 4, 5, 6, 7]),
        ("nodes", [0] * 8),
        ("probabilities", [[1.0]] * 8),
        ("probabilities", [[0.5, 0.6]] * 8),
        ("probabilities", [[1.5, -0.5]] * 8),
        ("fold", 1),
    ],
)
def test_a_fold_that_says_what_it_cannot_have_found_is_repeated(
    name: str, value: object, rings: Run, tmp_path: Path
) -> None:
    found = planned(rings, 3, tmp_path)
    before = found.assess(carried_out(found))
    path = tmp_path / "fold-1.json"
    content = json.loads(path.read_text())
    assert len(content["nodes"]) == 8
    path.write_text(json.dumps({**content, name: value}))
    assert found.assess(carried_out(found)) == before
    assert json.loads(path.read_text())[name] == content[name]


def test_the_folds_of_another_number_are_other_runs(rings: Run) -> None:
    assert folded(rings, 0, 3).identity != folded(rings, 0, 4).identity != rings.identity


def test_ten_folds_are_usual_and_never_more_than_labels_of_a_class(rings: Run, tmp_path: Path) -> None:
    assert planned(rings, None, tmp_path).count == 10
    assert planned(rings, 100, tmp_path).count == 12


def test_a_test_part_makes_the_estimate_unnecessary_unless_asked_for(tmp_path: Path) -> None:
    run = run_on(write_rings(tmp_path / "t", test=5))
    assert plan_cross_validation(run, None, tmp_path, "cpu", 1) == (None, [])
    assert planned(run, 3, tmp_path).count == 3


def test_many_labels_need_only_some_of_the_folds(rings: Run, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lcgnn.runs.cross_validation._ENOUGH_LABELS", 7)
    found = planned(rings, None, tmp_path)
    assert (found.used, found.count) == (3, 10)
    assert planned(rings, 10, tmp_path).used == 10


def test_a_large_graph_is_told_what_it_would_take(rings: Run, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lcgnn.runs.cross_validation._FOLDS_BY_SIZE", ((10, 10), (10_000, 5)))
    assert planned(rings, None, tmp_path).count == 5
    monkeypatch.setattr("lcgnn.runs.cross_validation._FOLDS_BY_SIZE", ((10, 10),))
    found, told = plan_cross_validation(rings, None, tmp_path, "cpu", 1)
    assert found is None
    assert "--folds 5" in told[0]
    assert planned(rings, 5, tmp_path).count == 5


def test_labels_of_which_none_can_be_held_out_are_told(tmp_path: Path) -> None:
    run = run_on(write_rings(tmp_path / "t", labels_per_class=1))
    found, told = plan_cross_validation(run, None, tmp_path, "cpu", 1)
    assert found is None
    assert told[0] == (
        "Expected accuracy is not estimated, because no class has two labels, so that none can be held out."
    )


@pytest.mark.parametrize("folds", [-1, 1])
def test_an_impossible_number_of_folds_is_refused(rings: Run, tmp_path: Path, folds: int) -> None:
    with pytest.raises(ConfigError, match=f"number of folds cannot be {folds}"):
        plan_cross_validation(rings, folds, tmp_path, "cpu", 1)


def session_of(tables: Tables, folder: Path, **options: Any) -> Session:
    return plan(tables, tables.load(), "lc-gcn", folder=folder, workers=1, **options)


def test_a_validation_part_is_held_out_on_request(rings: Run, tmp_path: Path) -> None:
    found = session_of(tables_of(rings), tmp_path / "run", validation=0.25)
    assert found.configuration.settings["selection"] == "accuracy"
    assert found.configuration.split.spec.validation == 0.25
    assert "6 of 24 training labels are held out to choose the epoch; --validation 0" in " ".join(found.notes)


def test_many_labels_spare_a_tenth_for_validation(rings: Run, tmp_path: Path, monkeypatch: Any) -> None:
    assert session_of(tables_of(rings), tmp_path / "a").configuration.split.spec.validation == 0
    monkeypatch.setattr("lcgnn.runs.planning._MANY_LABELS", 12)
    assert session_of(tables_of(rings), tmp_path / "b").configuration.split.spec.validation == 0.1
    spared: list[dict[str, Any]] = [{"validation": 0.0}, {"settings": {"selection": "last"}}]
    for number, unless in enumerate(spared):
        found = session_of(tables_of(rings), tmp_path / f"c{number}", **unless)
        assert found.configuration.settings["selection"] == "last"
        assert found.configuration.split.spec.validation == 0
