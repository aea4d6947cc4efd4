"""Doubts from folds: nothing is trained twice, a label that is wrong is found, what is written."""

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lcgnn
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.graph import Graph, Split
from lcgnn.methods.lc import TwoPhase
from lcgnn.runs.doubt import _never_found, _never_found_in_words, doubt
from lcgnn.sources.examples import write_example
from lcgnn.sources.tables.columns import Columns

SHORT = {"base_epochs": 60, "epochs": 20}
WRONG = "article-043"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of articles with one label that is wrong."""
    folder = tmp_path_factory.mktemp("doubt") / "articles"
    write_example(folder, "articles")
    rows = list(csv.reader((folder / "nodes.csv").read_text(encoding="utf-8").splitlines()))
    for row in rows:
        if row[0] == WRONG:
            assert row[1] == "astronomy"
            row[1] = "cooking"
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return folder


@pytest.fixture(scope="module")
def run(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("doubt") / "run"
    lcgnn.train(tables, "lc-gcn", settings=SHORT, folds=5, workers=1, out=folder)
    return folder


def read_rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def split_of(train: list[int]) -> Split:
    none = np.empty(0, dtype=np.int64)
    return Split(np.array(train), none, none)


def no_fit(*_: object, **__: object) -> None:
    raise AssertionError("Something is trained that was trained before.")


def test_a_wrong_label_is_the_first_that_is_doubted_and_its_right_class_is_named(run: Path) -> None:
    found = doubt(run, workers=1, edges=3)
    first = found.labels[0].to_json(found.graph)
    assert (first["id"], first["given"], first["instead"]) == (WRONG, "cooking", "astronomy")
    assert "Of its soft neighbours among the labels" in first["reason"]
    assert found.held_out == found.given == 30
    assert len(found.edges) == 3
    assert json.loads(json.dumps(found.to_json()))["labels"][0]["id"] == WRONG


def test_the_folds_of_a_run_are_read_and_none_is_trained_again(
    run: Path, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TwoPhase, "fit", no_fit)
    by_run = doubt(run, workers=1, edges=2)
    assert by_run.edges
    # The same by the graph's name and the run's settings.
    by_graph = doubt(tables, "lc-gcn", settings=SHORT, folds=5, workers=1, out=run, edges=0)
    assert by_graph.labels == doubt(run, workers=1, edges=0).labels


def test_training_after_a_doubt_repeats_no_fold(tables: Path, tmp_path: Path) -> None:
    found = doubt(tables, "lc-gcn", settings=SHORT, folds=3, workers=1, out=tmp_path / "run", edges=0)
    folds = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "folds").glob("*.json")}
    assert len(folds) == 3
    assert found.folder == tmp_path / "run"
    lcgnn.train(tables, "lc-gcn", settings=SHORT, folds=3, workers=1, out=tmp_path / "run")
    assert {path: path.stat().st_mtime_ns for path in folds} == folds


def test_of_several_methods_that_were_tried_the_one_that_was_taken_doubts(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"base_epochs": 20, "epochs": 5, "models": 1, "steps": 2}
    trained = lcgnn.train(tables, "auto", settings=settings, folds=2, workers=1, out=tmp_path / "run")
    monkeypatch.setattr(TwoPhase, "fit", no_fit)
    found = doubt(tmp_path / "run", workers=1, edges=0)
    assert found.method == trained.summary.choice.taken
    assert found.held_out == 30


def test_labels_of_a_graph_with_a_test_part_are_held_out_without_being_asked_to(
    small_graph: object, tmp_path: Path
) -> None:
    graph, split = small_graph()  # type: ignore[operator]
    few = dataclasses.replace(split, train=split.train[:12])
    found = doubt((graph, few), "spreading", workers=1, out=tmp_path / "run", edges=2)
    assert 0 < found.held_out <= found.given == 12
    assert any("60 labels for validation" in sentence for sentence in found.words)
    assert any("from about" in sentence for sentence in found.words)


def test_labels_of_which_none_can_be_held_out_are_told_from_how_many_on_it_is_of_use(
    small_graph: object, tmp_path: Path
) -> None:
    graph, _ = small_graph()  # type: ignore[operator]
    first = [int((graph.labels == label).argmax()) for label in range(4)]
    with pytest.raises(DataError, match=r"no class has two labels.*from about \d+ a class on"):
        doubt((graph, split_of(first)), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match="number of folds"):
        doubt((graph, split_of(list(range(20)))), folds=1, out=tmp_path / "run")
    with pytest.raises(DataError, match="without folds"):
        doubt((graph, split_of(list(range(20)))), folds=0, out=tmp_path / "run")


def test_a_graph_that_has_changed_since_its_run_is_told(run: Path, tables: Path) -> None:
    nodes = (tables / "nodes.csv").read_text(encoding="utf-8")
    try:
        (tables / "nodes.csv").write_text(nodes.replace("2016", "2017"), encoding="utf-8")
        with pytest.raises(DataError, match="has changed since"):
            doubt(run, workers=1)
    finally:
        (tables / "nodes.csv").write_text(nodes, encoding="utf-8")


def test_doubts_are_written_as_csv_and_json_and_over_nothing_else(run: Path, tmp_path: Path) -> None:
    found = doubt(run, workers=1, edges=2)
    for name in ("doubts.csv", "doubts.json"):
        found.save(tmp_path / name)
        found.save(tmp_path / name)
    rows = read_rows(tmp_path / "doubts.csv")
    assert [row["kind"] for row in rows] == ["label"] * len(found.labels) + ["edge"] * 2
    assert rows[0]["id"] == WRONG
    assert json.loads((tmp_path / "doubts.json").read_text(encoding="utf-8")) == found.to_json()
    (tmp_path / "mine.csv").write_text("kind,mine\n", encoding="utf-8")
    with pytest.raises(OutputError, match="has no mark"):
        found.save(tmp_path / "mine.csv")


def test_names_that_a_spreadsheet_would_run_are_defused(small_graph: object, tmp_path: Path) -> None:
    graph, split = small_graph()  # type: ignore[operator]
    names = np.array([f"=cmd|{number}" for number in range(graph.num_nodes)])
    hostile = Graph("small", graph.adjacency, graph.labels, graph.class_names, graph.features, names)
    found = doubt((hostile, split), "spreading", workers=1, out=tmp_path / "run", edges=3)
    found.save(tmp_path / "doubts.csv")
    rows = read_rows(tmp_path / "doubts.csv")
    assert rows
    assert all(row["id"].startswith("'=") for row in rows)


def test_the_mean_of_several_doubts_by_its_own_folds(tables: Path, tmp_path: Path) -> None:
    short = {"lc-gcn": SHORT, "lc-appnp": SHORT}
    found = doubt(tables, "blend", settings={"settings": short}, folds=2, workers=1, out=tmp_path / "run", edges=0)
    assert (found.method, found.held_out) == ("blend", 30)


def test_validation_labels_that_leave_none_to_hold_out_are_told(tmp_path: Path, small_graph: object) -> None:
    graph, _ = small_graph()  # type: ignore[operator]
    two = [int(node) for label in range(4) for node in np.flatnonzero(graph.labels == label)[:2]]
    with pytest.raises(DataError, match="no class has two labels"):
        doubt((graph, split_of(two)), "lc-gcn", validation=0.5, out=tmp_path / "run")


def test_after_a_training_that_was_ended_doubts_come_from_a_fit_of_their_own(tables: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    lcgnn.train(tables, "lc-gcn", settings=SHORT, folds=2, workers=1, out=folder)
    for name in ("model.safetensors", "result.json"):
        (folder / "seed-0" / name).unlink()
    assert doubt(tables, "lc-gcn", settings=SHORT, folds=2, workers=1, out=folder).held_out == 30


def test_of_a_class_that_is_never_found_no_doubt_says_anything() -> None:
    graph = Graph.from_edges("pairs", np.array([[0], [1]]), 6, np.array([0, 0, 0, 0, 1, 1]), ("usual", "rare"))
    held_out = np.tile([0.9, 0.1], (6, 1))
    never = _never_found(graph, graph.labels, np.arange(6), held_out)
    assert _never_found_in_words(graph, never) == [
        "Of 'rare' (2) no held-out label is found: that such a label is doubted says nothing."
    ]
    held_out[5] = 0.2, 0.8
    assert _never_found(graph, graph.labels, np.arange(6), held_out) == {}
    assert _never_found_in_words(graph, {}) == []


def test_no_share_of_wrong_labels_is_said_of_a_list_of_classes_that_are_never_found(run: Path) -> None:
    found = doubt(run, workers=1, edges=0)
    assert "26 to 53 % of such a list were" in found.words[0]
    given = {item.given for item in found.labels}
    all_never = dataclasses.replace(found, never_found=frozenset(given))
    assert all_never.words[0] == "1 of 30 labels that were held out looks wrong to lc-gcn."


def test_who_names_a_training_cannot_choose_another_method(run: Path) -> None:
    with pytest.raises(ConfigError, match="is a training, whose own folds doubt its labels: method, folds cannot"):
        doubt(run, "gcn", folds=7)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"split": "handful"}, "split"),
        ({"split_seed": 3}, "split_seed"),
        ({"folds": 0}, "folds"),
        ({"columns": Columns(label="nosuch")}, "columns"),
    ],
)
def test_whatever_else_is_chosen_beside_a_training_is_refused(
    given: dict[str, Any], named: str, run: Path
) -> None:
    with pytest.raises(ConfigError, match=f"doubt its labels: {named} cannot be chosen"):
        doubt(run, **given)
