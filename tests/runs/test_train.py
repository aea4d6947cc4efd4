"""Training and prediction from Python: what the commands do, with typed results and the same words."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import lcgnn
from lcgnn.assessment.evaluation import ClassCount
from lcgnn.claims import claimed
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.runs.records import FoldRecord, Record, Summary
from lcgnn.runs.summary import words
from lcgnn.runs.train import Training, train
from lcgnn.runs.watching import Watcher
from lcgnn.sources.examples import write_example
from lcgnn.sources.tables.columns import Columns

SHORT: dict[str, Any] = {"base_epochs": 15, "epochs": 10}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph") / "g"
    write_example(folder)
    return folder


@pytest.fixture(scope="module")
def training(graph: Path) -> Training:
    return train(graph, settings=SHORT, folds=3, seeds=2, workers=1, out=graph.parent / "run")


def test_the_function_and_the_command_write_the_same(training: Training, graph: Path, tmp_path: Path) -> None:
    settings = [f"--set={name}={value}" for name, value in SHORT.items()]
    command = [
        sys.executable,
        "-m",
        "lcgnn",
        "train",
        str(graph),
        "--folds=3",
        "--seeds=2",
        "--workers=1",
        *settings,
    ]
    done = subprocess.run([*command, "--out", str(tmp_path / "run")], capture_output=True, text=True, check=True)
    for name in ("seed-0/predictions.csv", "seed-1/predictions.csv", "config.json"):
        assert (tmp_path / "run" / name).read_bytes() == (training.folder / name).read_bytes()
    printed = done.stdout.replace(str(tmp_path / "run"), str(training.folder))
    for sentence in training.words:
        assert sentence in printed
    for note in training.notes:
        assert note in done.stderr


def test_a_training_has_types(training: Training) -> None:
    assert isinstance(training.summary, Summary)
    assert all(isinstance(record, Record) for record in training.records)
    assert [record.seed for record in training.records] == [0, 1]
    assert training.expected is not None
    assert training.expected.folds == 3
    content = json.loads((training.folder / "summary.json").read_text())
    assert Summary.from_json(content).to_json() == content == training.summary.to_json()
    assert all(path.is_file() for path in training.predictions)
    assert [model.about["seed"] for model in training.models()] == [0, 1]


def test_a_training_is_not_repeated(training: Training, graph: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in training.folder.rglob("*.safetensors")}
    again = train(graph, settings=SHORT, folds=3, seeds=2, workers=1, out=training.folder)
    assert {path: path.stat().st_mtime_ns for path in training.folder.rglob("*.safetensors")} == before
    assert again.summary == training.summary


def test_several_seeds_answer_together_as_prediction_does(training: Training, graph: Path, tmp_path: Path) -> None:
    answer = training.folder / "predictions.csv"
    seeds = tuple(training.folder / f"seed-{seed}" / "predictions.csv" for seed in (0, 1))
    assert training.predictions == (answer, *seeds)
    assert f"Predictions (mean of 2 seeds): {answer}" in training.words
    lcgnn.predict(training.folder, graph).save(tmp_path / "again.csv")
    assert answer.read_bytes() == (tmp_path / "again.csv").read_bytes()
    mean = np.mean([pd.read_csv(path).filter(like="p(").to_numpy() for path in seeds], axis=0)
    np.testing.assert_allclose(pd.read_csv(answer).filter(like="p(").to_numpy(), mean, atol=2e-6)
    assert training.summary.answers is not None
    labels = pd.read_csv(answer).query("origin == 'predicted'")["label"].value_counts()
    assert {item.name: item.predicted for item in training.summary.answers.classes} == labels.to_dict()


def test_the_answer_of_several_seeds_is_written_again_where_it_is_missing(training: Training, graph: Path) -> None:
    answer = training.predictions[0]
    before = answer.read_bytes()
    answer.unlink()
    train(graph, settings=SHORT, folds=3, seeds=2, workers=1, out=training.folder)
    assert answer.read_bytes() == before


def test_seeds_of_a_method_without_a_model_answer_together_too(graph: Path, tmp_path: Path) -> None:
    """Label propagation has no seed: the mean of its answers is each of them."""
    for form in ("csv", "parquet"):
        found = train(
            graph, "lp", seeds=2, estimate=False, workers=1, out=tmp_path / form, predictions=cast(Any, form)
        )
        answer, first, _ = map(pd.read_csv if form == "csv" else pd.read_parquet, found.predictions)
        pd.testing.assert_frame_equal(answer, first, atol=1e-6)


def test_probabilities_that_nothing_was_estimated_of_are_said_to_be_uncalibrated(training: Training) -> None:
    told = words(replace(training.summary, expected=None), can_predict=False)
    assert "Probabilities are as the model gives them, not calibrated: no accuracy was estimated." in told
    assert not any("not calibrated:" in sentence for sentence in training.words)


@pytest.mark.parametrize(("first", "is_told"), [(985, True), (970, False)])
def test_nearly_all_nodes_in_one_class_are_told(training: Training, first: int, is_told: bool) -> None:
    classes = (ClassCount("a", 10, first), ClassCount("b", 10, 1000 - first))
    assert training.summary.answers is not None
    summary = replace(training.summary, expected=None, answers=replace(training.summary.answers, classes=classes))
    told = " ".join(words(summary, can_predict=False))
    assert (f"{first} of 1,000 predicted labels are 'a', as are 10 of 20 given ones" in told) == is_told
    assert ("Give other features or more labels. To look" in told) == is_told
    unequal = (replace(classes[0], given=30), classes[1])
    summary = replace(summary, answers=replace(training.summary.answers, classes=unequal))
    told = " ".join(words(summary, can_predict=False))
    assert ("Give other features or more labels of the other classes" in told) == is_told


class Listener(Watcher):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def notes(self, notes: Any) -> None:
        self.told.append(("notes", len(notes)))

    def trained_folds(self, records: Any, seconds: float) -> None:
        assert seconds > 0
        assert all(isinstance(record, FoldRecord) for record in records)
        self.told.append(("folds", len(records)))

    def trained(self, record: Record) -> None:
        self.told.append(("seed", record.seed))

    def trained_all(self, records: Any, seconds: float) -> None:
        assert seconds > 0
        self.told.append(("all", len(records)))


def test_who_watches_is_told_in_order(graph: Path, tmp_path: Path) -> None:
    listener = Listener()
    train(graph, "gcn", settings={"base_epochs": 3}, folds=2, workers=1, out=tmp_path / "run", watcher=listener)
    assert [kind for kind, _ in listener.told] == ["notes", "folds", "seed", "all"]


def test_who_watches_is_told_apart_folds_that_are_trained_and_those_that_are_there(
    graph: Path, tmp_path: Path
) -> None:
    class Reader(Listener):
        def read_folds(self, records: Any, seconds: float) -> None:
            assert seconds > 0
            self.told.append(("read", len(records)))

    for watcher, told in ((Reader(), "folds"), (Reader(), "read"), (Listener(), "folds")):
        settings = {"base_epochs": 3}
        train(graph, "gcn", settings=settings, folds=2, workers=1, out=tmp_path / "run", watcher=watcher)
        assert (told, 2) in watcher.told


def test_a_method_that_was_made_is_trained_under_its_name(graph: Path, tmp_path: Path) -> None:
    made = create("lc-gcn-no-rl", OWN_GRAPH, **SHORT)
    found = train(graph, made, estimate=False, workers=1, out=tmp_path / "run")
    assert found.summary.method == "lc-gcn-no-rl"
    named = train(graph, "lc-gcn-no-rl", settings=SHORT, estimate=False, workers=1, out=tmp_path / "named")
    assert found.predictions[0].read_bytes() == named.predictions[0].read_bytes()
    with pytest.raises(ConfigError, match="has its settings already"):
        train(graph, made, settings=SHORT, out=tmp_path / "twice")


def test_data_frames_give_what_their_files_give(training: Training, graph: Path, tmp_path: Path) -> None:
    frames = tuple(pd.read_csv(graph / f"{name}.csv") for name in ("nodes", "edges"))
    found = train(frames, settings=SHORT, folds=3, workers=1, out=tmp_path / "run")
    first_seed = training.folder / "seed-0" / "predictions.csv"
    assert found.predictions == (tmp_path / "run" / "seed-0" / "predictions.csv",)
    assert found.predictions[0].read_bytes() == first_seed.read_bytes()
    again = found.predict()
    np.testing.assert_array_equal(again.distribution, found.predict(frames).distribution)
    with pytest.raises(DataError, match="only in memory"):
        lcgnn.predict(found.folder)


def test_a_networkx_graph_and_a_graph_are_trained_on(tmp_path: Path, cora: tuple[Graph, Split]) -> None:
    club = nx.karate_club_graph()
    for member in set(club) - {0, 1, 2, 31, 32, 33}:
        del club.nodes[member]["club"]
    found = train(club, "lp", columns=Columns(label="club"), workers=1, out=tmp_path / "club")
    assert found.summary.answers is not None
    assert {item.name for item in found.summary.answers.classes} == {"Mr. Hi", "Officer"}
    given = train(cora, "gcn", settings={"base_epochs": 3}, workers=1, out=tmp_path / "cora")
    assert given.summary.last.mean is not None
    assert given.summary.last.paper is None


def test_a_prediction_is_typed_and_saved(training: Training, graph: Path, tmp_path: Path) -> None:
    prediction = lcgnn.predict(training.folder, graph)
    assert prediction.trained_on_it
    assert prediction.distribution.shape == (300, 3)
    prediction.save(tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_text().replace('"', "").startswith("id,label,probability,origin,p(")
    one = lcgnn.predict(training.models()[1], graph)
    assert len(one.models) == 1


def test_a_benchmark_stands_beside_the_paper(tmp_path: Path) -> None:
    found = train("cora", "gcn", settings={"base_epochs": 3}, workers=1, out=tmp_path / "run")
    assert found.summary.last.paper is not None
    header = found.predictions[0].read_text().splitlines()[0].replace('"', "")
    assert header.startswith("id,label,probability,origin,part,p(Theory)")


def test_a_run_that_another_process_is_doing_is_waited_for_and_not_repeated(graph: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lcgnn", "train", str(graph), "--no-estimate", "--workers=1", "--out", "run"]
    command += [f"--set={name}={value}" for name, value in SHORT.items()]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    written = tmp_path / "run" / "seed-0" / "result.json"
    before = written.stat().st_mtime_ns
    with claimed(tmp_path / "run" / "seed-0" / ".claim"):
        other = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=15)
    assert other.wait(timeout=200) == 0
    assert written.stat().st_mtime_ns == before


def test_a_folder_of_another_configuration_is_refused(training: Training, graph: Path) -> None:
    with pytest.raises(OutputError, match="another configuration"):
        train(graph, "gcn", workers=1, out=training.folder)


def test_workers_need_no_files_of_their_own(graph: Path, training: Training, tmp_path: Path) -> None:
    """The graph is read once, by the process that plans the work, which hands it to its workers."""
    source = lcgnn.source_of(graph)
    loaded = source.load()
    found = train(loaded, settings=SHORT, folds=3, seeds=2, workers=2, out=tmp_path / "run")
    for ours, theirs in zip(found.predictions, training.predictions, strict=True):
        assert ours.read_bytes() == theirs.read_bytes()


def test_a_folder_called_like_the_home_folder_s_short_name_is_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both, a folder of tables that are not each other's; pyarrow reads a leading ~ as the user's home."""
    here, home = tmp_path / "here", tmp_path / "home"
    write_example(here / "~", "articles")
    write_example(home, "wine")
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    known = {path.name for path in home.iterdir()}
    for form in ("csv", "parquet"):
        found = train("~", "lp", estimate=False, workers=1, out=Path("~") / form, predictions=form)
        assert (here / "~" / form / "seed-0" / f"predictions.{form}").is_file()
        assert found.session.runs[0].graph.checksum == lcgnn.source_of(here / "~").load().graph.checksum
    assert {path.name for path in home.iterdir()} == known


def test_a_split_without_a_training_node_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    ring, labels = np.roll(np.eye(6), 1, axis=1), np.array([0, 1, 0, 1, 0, 1])
    np.savez(tmp_path / "ring.npz", adjacency=ring + ring.T, labels=labels, train_mask=np.zeros(6, dtype=bool))
    with pytest.raises(DataError, match="at least one training node"):
        train(tmp_path / "ring.npz", settings=SHORT, out=tmp_path / "run", workers=1)
    assert not (tmp_path / "run").exists()
