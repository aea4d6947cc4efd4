"""From tables to predictions on the command line, as docs/own-graph.md tells it."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from tests.docs.follow import blocks_of

from lcgnn.graph import Graph, Split
from lcgnn.runs.artifacts import save_predictions
from lcgnn.runs.model import TrainedModel
from lcgnn.sources.examples import write_example
from lcgnn.sources.tables.source import Tables

SHORT = ["--method", "lc-gcn", "--base-epochs", "30", "--epochs", "30", "--folds", "3"]
PAGE = Path(__file__).parent.parent / "docs" / "own-graph.md"
FOLLOW = Path(__file__).with_name("docs") / "follow.py"


def lcgnn(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lcgnn", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("own")
    write_example(folder / "cora")
    done = lcgnn("train", "./cora", "--json", "--out", "run", *SHORT, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_a_folder_with_a_benchmarks_name_is_not_the_benchmark(trained: tuple[Path, dict[str, Any]]) -> None:
    _, summary = trained
    assert summary["settings"]["consistency_weight"] == 1.0
    assert [row["name"] for row in summary["classes"]] == ["astronomy", "cooking", "football"]
    assert summary["stages"][0]["paper"] is None


def test_without_validation_labels_the_last_epoch_is_kept(trained: tuple[Path, dict[str, Any]]) -> None:
    _, summary = trained
    assert summary["settings"]["selection"] == "last"
    assert summary["mean"] is None
    assert summary["split"]["name"] == "all given labels"


def test_every_node_gets_an_answer_and_given_labels_stay(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = trained
    answers = rows_of(folder / str(summary["predictions"][0]))
    nodes = rows_of(folder / "cora" / "nodes.csv")
    assert list(answers[0])[:4] == ["id", "label", "probability", "origin"]
    assert [row["id"] for row in answers] == [row["id"] for row in nodes]
    for answer, node in zip(answers, nodes, strict=True):
        assert answer["origin"] == ("given" if node["label"] else "predicted")
        assert not node["label"] or answer["label"] == node["label"]
        assert float(answer["probability"]) == pytest.approx(float(answer[f"p({answer['label']})"]))
    counted = sum(row["predicted"] for row in summary["classes"])
    assert counted == sum(row["origin"] == "predicted" for row in answers) == 270


def test_what_to_expect_is_said_in_numbers_and_words(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = trained
    expected = summary["expected"]
    assert (expected["folds"], expected["given"], expected["overall"]["labels"]) == (3, 30, 30)
    assert expected["words"][0].startswith("Of 100 predicted labels about")
    assert [found["labels"] for found in expected["by_class"]] == [10, 10, 10]
    stored = TrainedModel.load(folder / "run" / "seed-0" / "model.safetensors").temperature
    # 30 labels may take confidence away, but add none.
    assert stored == expected["calibration"]["temperature"] >= 1


def test_without_an_estimate_nothing_is_calibrated(trained: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, summary = trained
    options = ["--method", "lc-gcn", "--base-epochs", "30", "--epochs", "30", "--no-estimate"]
    done = lcgnn("train", str(folder / "cora"), "--json", "--out", str(tmp_path / "run"), *options, folder=folder)
    plain = json.loads(done.stdout)
    assert "expected" not in plain
    before, after = (rows_of(folder / str(each["predictions"][0])) for each in (plain, summary))
    assert [row["label"] for row in before] == [row["label"] for row in after]
    columns = [name for name in before[0] if name.startswith("p(")]
    powers = np.array([[float(row[name]) for name in columns] for row in before]) ** (
        1 / summary["expected"]["calibration"]["temperature"]
    )
    calibrated = np.array([[float(row[name]) for name in columns] for row in after])
    np.testing.assert_allclose(powers / powers.sum(axis=1, keepdims=True), calibrated, atol=2e-5)


def test_an_estimate_cannot_be_wanted_and_not_wanted(trained: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, _ = trained
    done = lcgnn("train", "./cora", "--no-estimate", "--folds", "3", "--out", str(tmp_path / "x"), folder=folder)
    assert done.returncode == 2
    assert "contradict each other" in done.stderr
    assert not (tmp_path / "x").exists()


def test_most_predictions_on_the_example_are_right(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = trained
    truth = {row["id"]: row["label"] for row in rows_of(folder / "cora" / "truth.csv")}
    answers = [row for row in rows_of(folder / str(summary["predictions"][0])) if row["origin"] == "predicted"]
    assert np.mean([row["label"] == truth[row["id"]] for row in answers]) > 0.7


def test_the_model_knows_how_its_features_were_made(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = trained
    model = TrainedModel.load(folder / "run" / "seed-0" / "model.safetensors")
    made = Tables(str(folder / "cora")).load()
    assert model.form == made.form


def test_a_finished_run_is_not_repeated_wherever_the_tables_are(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = trained
    model = folder / "run" / "seed-0" / "model.safetensors"
    before = model.stat().st_mtime_ns
    again = lcgnn("train", str(folder / "cora"), "--json", "--out", "run", *SHORT, folder=folder)
    assert json.loads(again.stdout) == summary
    assert model.stat().st_mtime_ns == before


def test_changed_tables_do_not_continue_a_run(trained: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, _ = trained
    write_example(tmp_path / "cora")
    with (tmp_path / "cora" / "edges.csv").open("a") as file:
        file.write("article-000,article-001\n")
    done = lcgnn("train", str(tmp_path / "cora"), "--out", "run", *SHORT, folder=folder)
    assert done.returncode == 2
    assert "another configuration" in done.stderr


def test_what_was_made_of_the_tables_is_told(trained: tuple[Path, dict[str, Any]]) -> None:
    _, summary = trained
    assert any(note.startswith("Features: 2 numbers (year, words)") for note in summary["notes"])
    assert any("30 labels of 3 classes in 300 rows" in note for note in summary["notes"])


def test_parquet_keeps_cells_as_they_are_and_csv_defuses_formulas(tmp_path: Path) -> None:
    ids = ["=1+1", "+2", "-3", "@x", "\tx", "a=b", "'x"]
    links = np.array([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]])
    labels = np.array([0, 1, -1, -1, -1, -1, -1])
    graph = Graph.from_edges("g", links, 7, labels, ["=cmd()", "plain"], node_names=np.array(ids))
    distribution = np.tile(np.array([[0.25, 0.75]], dtype=np.float32), (7, 1))
    split = Split(np.arange(2), np.arange(0), np.arange(0))
    for name in ("a.csv", "a.parquet"):
        save_predictions(tmp_path / name, distribution, graph, split)
    rows = rows_of(tmp_path / "a.csv")
    assert [row["id"] for row in rows] == ["'=1+1", "'+2", "'-3", "'@x", "'\tx", "a=b", "'x"]
    assert [row["label"] for row in rows][:3] == ["'=cmd()", "plain", "plain"]
    assert [row["probability"] for row in rows][:2] == ["0.25", "0.75"]
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table["id"].to_pylist() == ids
    assert table["origin"].to_pylist() == ["given"] * 2 + ["predicted"] * 5


def test_inspect_prints_json_for_scripts(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = trained
    done = lcgnn("inspect", "./cora", "--json", "--plot", "plot.png", folder=folder)
    found = json.loads(done.stdout)
    assert (found["nodes"], found["labelled"], found["plot"]) == (300, 30, "plot.png")
    assert any("likely to help" in sentence for sentence in found["verdict"])
    assert (folder / "plot.png").stat().st_size > 0


def test_the_example_is_the_same_every_time(tmp_path: Path) -> None:
    first, second = (write_example(tmp_path / name) for name in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize(
    "example",
    ["init my_graph", "inspect my_graph", "compare my_graph", "train my_graph", "predict my_run my_graph"],
)
def test_the_help_of_every_command_has_an_example_with_a_folder(example: str, tmp_path: Path) -> None:
    assert f"Example: lcgnn {example}" in lcgnn(example.split()[0], "--help", folder=tmp_path).stdout


def test_the_page_can_be_followed(tmp_path: Path) -> None:
    """In one process, as the other pages are followed."""
    assert len(blocks_of(PAGE)) >= 8
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(FOLLOW), str(PAGE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    work, printed = tmp_path / PAGE.stem, done.stdout
    assert (work / "inspect.png").exists()
    right, total = map(int, re.search(r"(\d+) of (\d+) predictions are right", printed).groups())
    assert right / total > 0.8
    low, high = map(int, re.search(r"\(between (\d+) and (\d+);", printed).groups())
    assert low <= round(100 * right / total) <= high
    assert "lc-gcn minus gcn" in printed
    assert '"article-300","astronomy",' in printed
