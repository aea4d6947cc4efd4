"""Methods tried on a small folder of tables: what is kept, what is taken, what is said."""

import csv
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lcgnn
from lcgnn.errors import ConfigError, DataError
from lcgnn.methods import create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.runs.choice import candidates, verdict
from lcgnn.runs.compare import compare
from lcgnn.runs.records import FoldRecord, Summary
from lcgnn.runs.train import Training, train
from lcgnn.runs.watching import Watcher
from lcgnn.sources.examples import write_example

SHORT: dict[str, Any] = {"base_epochs": 12, "epochs": 6}
BEST = candidates.best_first(candidates.CANDIDATES)[0]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph") / "g"
    write_example(folder)
    return folder


@pytest.fixture(scope="module")
def training(graph: Path) -> Training:
    return train(graph, settings=SHORT, folds=3, workers=1, out=graph.parent / "run")


class Told(Watcher):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.notes_of_all: list[str] = []

    def notes(self, notes: Sequence[str]) -> None:
        self.notes_of_all += notes


def files(folder: Path) -> dict[str, bytes]:
    """All that does not hold a time."""
    kept = (path for path in folder.rglob("*") if path.suffix in (".csv", ".safetensors"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def test_a_graph_of_ones_own_is_a_matter_of_choice(training: Training) -> None:
    choice = training.summary.choice
    assert choice is not None
    assert {item.name for item in choice.tried} == set(candidates.EXPERIENCE) - {"lc-grand", "grand"}
    assert training.summary.method == choice.taken == training.models()[0].name
    assert json.loads((training.folder / "config.json").read_text())["method"] == "auto"
    assert training.words[0].startswith(f"Taken: {choice.taken}")
    assert " held-out labels" in training.words[0]
    assert training.expected is not None
    assert training.expected.chosen_among == len(choice.finalists)
    content = json.loads((training.folder / "summary.json").read_text())
    assert Summary.from_json(content).to_json() == content


def test_every_candidate_keeps_its_folds_with_every_stage(training: Training) -> None:
    folder = training.folder / "folds"
    assert {path.name for path in folder.iterdir()} == set(candidates.CANDIDATES)
    for name in candidates.CANDIDATES:
        record = FoldRecord.from_json(json.loads((folder / name / "fold-1.json").read_text()))
        assert len(record.stages) == (2 if name.startswith("lc-") else 1)
        assert record.earlier is not None


def test_the_base_of_a_fold_is_the_base_alone(training: Training, graph: Path, tmp_path: Path) -> None:
    """What a fold keeps of the first stage is what the base's own fold predicts."""
    alone = train(graph, "gcn", settings={"base_epochs": 12}, folds=3, workers=1, out=tmp_path / "gcn")
    for fold in (1, 2, 3):
        both, base = (
            FoldRecord.from_json(json.loads((folder / f"fold-{fold}.json").read_text()))
            for folder in (training.folder / "folds" / "lc-gcn", alone.folder / "folds")
        )
        assert both.stages[0] == base.probabilities


def test_a_choice_that_was_stopped_is_continued_with_the_same_result(
    training: Training, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lcgnn.files import write_json as write
    from lcgnn.runs import cross_validation

    done = 0

    def write_some(path: Path, content: Any) -> None:
        nonlocal done
        done += 1
        if done > 7:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(cross_validation, "write_json", write_some)
    with pytest.raises(KeyboardInterrupt):
        train(graph, settings=SHORT, folds=3, workers=1, out=tmp_path / "run")
    monkeypatch.undo()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("fold-*.json")}
    assert len(before) == 7
    again = train(graph, settings=SHORT, folds=3, workers=1, out=tmp_path / "run")
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert files(again.folder) == files(training.folder)
    assert again.summary.expected == training.summary.expected


def test_comparing_first_leaves_nothing_to_be_compared(training: Training, graph: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in training.folder.rglob("*.json")}
    found = compare(graph, settings=SHORT, folds=3, workers=1, out=training.folder)
    assert {path: path.stat().st_mtime_ns for path in training.folder.rglob("*.json")} == before
    assert found.record == training.summary.choice
    assert found.expected == training.expected
    assert found.words[0] == training.words[0]


def test_a_candidate_that_diverges_or_is_too_large_is_named_and_the_others_are_compared(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lcgnn.errors import TrainingError
    from lcgnn.methods.mlp import MLPMethod
    from lcgnn.runs import planning

    def diverge(*_: Any) -> Any:
        raise TrainingError("The loss is not finite.")

    def check_size(method: Any, *_: Any) -> None:
        if type(method).__name__ == "LabelPropagation":
            raise DataError("It needs 9 TB.")

    monkeypatch.setattr(MLPMethod, "fit", diverge)
    monkeypatch.setattr(planning, "check_size", check_size)
    found = compare(
        graph, "mlp,lp,gcn,spreading", settings={"base_epochs": 3}, folds=2, workers=1, out=tmp_path / "run"
    )
    assert {item.name for item in found.record.tried} == {"gcn", "spreading"}
    assert {item.name: item.reason for item in found.record.failed} == {
        "mlp": "The loss is not finite.",
        "lp": "It needs 9 TB.",
    }
    assert "Left out: lp. It needs 9 TB." in found.words
    with pytest.raises(TrainingError, match="not finite"):
        train(graph, "mlp", folds=2, workers=1, out=tmp_path / "alone")


def test_another_choice_in_the_same_folder_leaves_no_seed_of_the_method_before(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"seeds": 2, "settings": SHORT, "folds": 2, "workers": 1, "out": tmp_path / "run"}
    decide = verdict.decide

    def take_last(*given: Any, **named: Any) -> Any:
        choice = decide(*given, **named)
        record = dataclasses.replace(choice.record, taken="mlp")
        return dataclasses.replace(choice, name="mlp", method=given[1]["mlp"], record=record)

    monkeypatch.setattr("lcgnn.runs.choice.contest.decide", take_last)
    assert {model.name for model in train(graph, **settings).models()} == {"mlp"}
    assert (tmp_path / "run" / "predictions.csv").exists()
    monkeypatch.undo()
    without = {**settings, "seeds": 1, "folds": None, "estimate": False}
    told = Told()
    again = train(graph, **without, watcher=told)
    assert f"What mlp left in {again.folder} gives way to {BEST}." in told.notes_of_all
    assert [model.name for model in again.models()] == [BEST]
    assert not (tmp_path / "run" / "predictions.csv").exists()
    before = (again.folder / "seed-0" / "model.safetensors").stat().st_mtime_ns
    assert len(train(graph, **{**without, "seeds": 2}).models()) == 2
    assert (again.folder / "seed-0" / "model.safetensors").stat().st_mtime_ns == before


def test_methods_are_compared_by_name_and_on_a_benchmark(graph: Path, tmp_path: Path) -> None:
    found = compare(graph, "mlp,lp", settings={"base_epochs": 5}, folds=2, workers=1, out=tmp_path / "a")
    assert {item.name for item in found.record.tried} == {"mlp", "lp"}
    assert found.to_json()["words"] == list(found.words)
    cora = compare("cora", ["lp", "mlp"], settings={"base_epochs": 3}, folds=2, workers=1, out=tmp_path / "b")
    assert cora.expected.given == 140


def test_a_guarded_method_ends_with_its_base_where_that_was_better(graph: Path, tmp_path: Path) -> None:
    """A second phase that learns nothing but to forget: its step is far too long."""
    found = train(
        graph,
        "lc-gcn",
        settings={"base_epochs": 60, "epochs": 3, "consistency_weight": 100.0, "cross_entropy_weight": 0.0},
        folds=3,
        workers=1,
        out=tmp_path / "run",
    )
    choice = found.summary.choice
    assert choice is not None
    assert choice.guard
    base, both = choice.named("gcn"), choice.named("lc-gcn")
    assert base is not None
    assert both is not None
    assert found.summary.method == ("gcn" if base.right > both.right else "lc-gcn")
    assert any("Label consistency is left out" in sentence for sentence in found.words) == (
        base.right > both.right
    )


def test_own_graphs_get_the_guarded_form_and_benchmarks_the_papers() -> None:
    own, paper = create("lc-gcn", OWN_GRAPH), create("lc-gcn", "cora")
    assert (own.guard, own.cross_entropy_weight) == (True, 1.0)  # type: ignore[attr-defined]
    assert (paper.guard, paper.cross_entropy_weight) == (False, 0.0)  # type: ignore[attr-defined]
    papers = {"guard": False, "cross_entropy_weight": 0.0, "epochs": 1000}
    assert create("lc-gcn", OWN_GRAPH, **papers) == create("lc-gcn")
    # Without a second phase its length is nothing.
    assert create("gcn", OWN_GRAPH, epochs=1000) == create("gcn")
    assert create("lp", OWN_GRAPH) == create("lp")


def write_tables(folder: Path, labels: list[str]) -> Path:
    folder.mkdir()
    with (folder / "nodes.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("id", "label", "x"), *((i, label, f"{i % 7}.5") for i, label in enumerate(labels))]
        )
    with (folder / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("source", "target"), *((i, i + 1) for i in range(len(labels) - 1))])
    return folder


def test_without_two_labels_of_a_class_the_favoured_method_is_trained_and_that_is_said(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "g", ["a", "b", *[""] * 20])
    found = train(folder, settings=SHORT, workers=1, out=tmp_path / "run")
    assert found.summary.method == BEST
    assert found.summary.choice is None
    told = f"The method is {BEST}, which we would try first: methods are not compared, because no class"
    assert any(note.startswith(told) for note in found.notes)
    with pytest.raises(DataError, match="methods cannot be compared, because no class has two labels"):
        compare(folder, workers=1, out=tmp_path / "compared")


def test_labels_of_one_class_are_no_reason_to_fall_over(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "g", ["a"] * 6 + [""] * 10)
    with pytest.raises(DataError):
        train(folder, settings=SHORT, workers=1, out=tmp_path / "run")


def test_what_cannot_be_meant_is_refused_before_any_work(graph: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give a time such as"):
        train(graph, budget="0", out=tmp_path / "a")
    with pytest.raises(ConfigError, match="has a setting 'hiden'"):
        train(graph, settings={"hiden": 3}, out=tmp_path / "b")
    with pytest.raises(ConfigError, match="cannot be compared on a graph in parts"):
        train(graph, "auto", parts=2, out=tmp_path / "c")
    with pytest.raises(ConfigError, match="no method 'nothing'"):
        compare(graph, "nothing,mlp", out=tmp_path / "d")
    assert not list(tmp_path.iterdir())


def test_without_features_nothing_is_tried_that_reads_only_features(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    folder.mkdir()
    edges = [(i, (i + step) % 20) for i in range(20) for step in (1, 2)]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(f"{a},{b}" for a, b in edges))
    (folder / "labels.csv").write_text("id,label\n" + "\n".join(f"{i},{'ab'[i > 9]}" for i in range(0, 20, 2)))
    found = compare(folder, settings=SHORT, folds=2, workers=1, out=tmp_path / "run")
    assert "mlp" not in {item.name for item in found.record.tried}


def test_the_classifier_chooses_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    from lcgnn.runs.choice import contest

    def refuse_appnp(method: Any, *_: Any) -> None:
        if type(method).__name__ == "APPNPMethod":
            raise DataError("It needs 9 TB.")

    generator = np.random.default_rng(0)
    truth = np.arange(40) % 2
    X = generator.normal(size=(40, 3)) + truth[:, None]
    y = np.where(np.arange(40) < 16, truth, -1)
    adjacency = (truth[:, None] == truth) & (generator.random((40, 40)) < 0.2)
    settings: Any = {"base_epochs": 8, "epochs": 4, "random_state": 0}
    model = lcgnn.LCGNNClassifier("auto", estimate=2, **settings).fit(X, y, adjacency=adjacency | adjacency.T)
    assert model.expected_ is not None
    assert any(note.startswith("Taken: ") for note in model.notes_)
    assert model.predict(X).shape == (40,)
    assert model.score(X, truth, adjacency=adjacency | adjacency.T) > 0.4
    monkeypatch.setattr(contest, "check_size", refuse_appnp)
    model = lcgnn.LCGNNClassifier("auto", estimate=2, **settings).fit(X, y, adjacency=adjacency | adjacency.T)
    assert "Left out: lc-appnp. It needs 9 TB." in model.notes_
    alone = lcgnn.LCGNNClassifier("auto", **settings).fit(X, np.where(np.arange(40) < 2, truth, -1))
    assert alone.expected_ is None
    with pytest.raises(ConfigError, match="it can be auto, "):
        lcgnn.LCGNNClassifier("nothing").fit(X, y)
