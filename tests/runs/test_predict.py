"""A run's models on the same tables, on grown ones and on others; what cannot be used is refused in one line."""

import csv
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from lcgnn.cli import main
from lcgnn.errors import LCGNNError
from lcgnn.graph import Graph, Split
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import Prediction, predict
from lcgnn.runs.run import Manner, Run, execute
from lcgnn.runs.spec import RunSpec, SplitSpec
from lcgnn.sources.arrays import save_arrays
from lcgnn.sources.choice import source_of
from lcgnn.sources.parts.files import MANIFEST
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.source import Tables

Row = dict[str, str]
NAMES = ("nodes.csv", "edges.csv")


def rows_of(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_graph(folder: Path, num_nodes: int = 40) -> Path:
    """Two groups that link among themselves; every fourth node has a label, every tenth a part of the split."""
    folder.mkdir()
    colours, lands = ("red", "blue"), ("de", "fr", "es", "fr")
    nodes = [
        {
            "id": f"n{number}",
            "label": colours[number % 2] if number % 4 < 2 else "",
            "size": str(number % 2 + number % 3 / 4),
            "land": lands[number % 4],
        }
        for number in range(num_nodes)
    ]
    links = [(number, (number + step) % num_nodes) for number in range(num_nodes) for step in (2, 6)]
    write_rows(folder / "nodes.csv", nodes)
    write_rows(folder / "edges.csv", [{"source": f"n{a}", "target": f"n{b}", "weight": "1.5"} for a, b in links])
    return folder


def run_of(what: object, method: str, settings: dict[str, object], seed: int = 0, **more: Any) -> Run:
    source = source_of(what)
    return Run(RunSpec(source, method, seed, settings, **more), source.load())


def train(folder: Path, run: Path, method: str = "lc-gcn", **more: Any) -> Path:
    """Carry out a short run, as ``lcgnn train`` does."""
    settings = {} if method == "lp" else {"base_epochs": 20, "epochs": 20, "selection": "last"}
    manner = Manner(prediction_format=more.pop("format", "csv"))
    execute(run_of(folder, method, settings, **more), run / "seed-0", manner)
    return run


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_graph(tmp_path_factory.mktemp("graph") / "g")


@pytest.fixture(scope="module")
def run(graph: Path) -> Path:
    return train(graph, graph.parent / "run")


@pytest.fixture
def other(graph: Path, tmp_path: Path) -> Path:
    """A copy of the graph that a test may change."""
    return Path(shutil.copytree(graph, tmp_path / "other"))


def change(folder: Path, name: str, edit: Callable[[list[Row]], list[Row]]) -> None:
    write_rows(folder / name, edit(rows_of(folder / name)))


def answers(prediction: Prediction, path: Path) -> dict[str, Row]:
    prediction.save(path)
    return {row["id"]: row for row in rows_of(path)}


def told(prediction: Prediction, *words: str) -> bool:
    return any(all(word in note for word in words) for note in prediction.notes)


@pytest.mark.parametrize("method", ["lc-gcn", "gcn-adjacency", "lc-gat", "manireg"])
def test_on_the_same_graph_the_answers_are_those_of_the_training(method: str, graph: Path, tmp_path: Path) -> None:
    run = (
        train(graph, tmp_path / "run", method) if method != "manireg" else trained_without_epochs(graph, tmp_path)
    )
    predict(run).save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (run / "seed-0" / "predictions.csv").read_text()


def trained_without_epochs(graph: Path, tmp_path: Path) -> Path:
    execute(run_of(graph, "manireg", {}), tmp_path / "run" / "seed-0")
    return tmp_path / "run"


def test_given_are_the_labels_that_were_trained_on(other: Path, tmp_path: Path) -> None:
    """Whatever took the others out: fewer labels per class, or a split column."""
    few = train(other, tmp_path / "few", split=SplitSpec(labels_per_class=3))
    predict(few).save(tmp_path / "few.csv")
    assert (tmp_path / "few.csv").read_text() == (few / "seed-0" / "predictions.csv").read_text()
    assert sum(row["origin"] == "given" for row in rows_of(tmp_path / "few.csv")) == 6
    parts = ("train", "test", "")
    change(other, "nodes.csv", lambda rows: [{**row, "split": parts[i % 3]} for i, row in enumerate(rows)])
    divided = train(other, tmp_path / "divided", format="parquet")
    predict(divided).save(tmp_path / "divided.parquet")
    table = parquet.read_table(tmp_path / "divided.parquet")
    assert table.equals(parquet.read_table(divided / "seed-0" / "predictions.parquet"))


def test_a_grown_graph_is_classified_and_what_lies_apart_stays(run: Path, other: Path, tmp_path: Path) -> None:
    before = answers(predict(run), tmp_path / "before.csv")
    new = [
        {"id": "new-red", "label": "", "size": "0.25", "land": "de"},
        {"id": "new-blue", "label": "", "size": "1.25", "land": "fr"},
        {"id": "alone", "label": "blue", "size": "1", "land": "fr"},
    ]
    links = [("new-red", "new-red-2"), ("new-blue", "alone")]
    change(other, "nodes.csv", lambda rows: [*rows, *new, {**new[0], "id": "new-red-2"}])
    change(
        other, "edges.csv", lambda rows: [*rows, *({"source": a, "target": b, "weight": "1"} for a, b in links)]
    )
    prediction = predict(run, Tables(str(other)))
    after = answers(prediction, tmp_path / "after.csv")
    assert not prediction.trained_on_it
    assert {name: after[name] for name in before} == before
    assert (after["new-red"]["label"], after["new-red"]["origin"]) == ("red", "predicted")
    assert (after["new-blue"]["label"], after["new-blue"]["origin"]) == ("blue", "predicted")
    assert (after["alone"]["label"], after["alone"]["origin"]) == ("blue", "given")


def test_a_new_edge_changes_the_answers_within_two_hops(run: Path, other: Path, tmp_path: Path) -> None:
    before = answers(predict(run), tmp_path / "before.csv")
    change(other, "edges.csv", lambda rows: [*rows, {"source": "n0", "target": "n1", "weight": "50"}])
    after = answers(predict(run, Tables(str(other))), tmp_path / "after.csv")
    changed = {name for name in before if before[name] != after[name]}
    hops = (0, 2, 6)
    assert changed == {f"n{(end + a + b) % 40}" for end in (0, 1) for a in signed(hops) for b in signed(hops)}


def signed(steps: tuple[int, ...]) -> list[int]:
    return [sign * step for step in steps for sign in (1, -1)]


def test_another_graph_needs_no_labels(run: Path, tmp_path: Path) -> None:
    folder = write_graph(tmp_path / "fresh", 12)
    change(folder, "nodes.csv", lambda rows: [{key: row[key] for key in ("id", "size", "land")} for row in rows])
    found = answers(predict(run, Tables(str(folder))), tmp_path / "answers.csv")
    assert {row["origin"] for row in found.values()} == {"predicted"}
    right = [found[f"n{number}"]["label"] == ("red", "blue")[number % 2] for number in range(12)]
    assert np.mean(right) > 0.9


def test_labels_of_the_graph_stay_even_against_the_model(run: Path, other: Path, tmp_path: Path) -> None:
    change(
        other, "nodes.csv", lambda rows: [{**row, "label": "blue"} if row["id"] == "n0" else row for row in rows]
    )
    found = answers(predict(run, Tables(str(other))), tmp_path / "answers.csv")
    assert (found["n0"]["label"], found["n0"]["origin"]) == ("blue", "given")
    assert float(found["n0"]["probability"]) == pytest.approx(float(found["n0"]["p(blue)"]))


def test_a_class_that_the_model_does_not_know_is_told(run: Path, other: Path, tmp_path: Path) -> None:
    change(
        other, "nodes.csv", lambda rows: [{**row, "label": "green"} if row["id"] == "n2" else row for row in rows]
    )
    prediction = predict(run, Tables(str(other)))
    assert told(prediction, "does not know 'green' (in 1 of 40 rows)", "train again")
    assert answers(prediction, tmp_path / "answers.csv")["n2"]["origin"] == "predicted"


def test_an_unseen_category_and_an_unused_column_are_told(run: Path, other: Path) -> None:
    change(other, "nodes.csv", lambda rows: [{**row, "land": "it", "extra": "1"} for row in rows])
    prediction = predict(run, Tables(str(other)))
    assert told(prediction, "'land'", "40 cells hold a value that was not there in training")
    assert told(prediction, "not used by the model: 'extra'")


def test_columns_may_be_called_otherwise(run: Path, other: Path, tmp_path: Path) -> None:
    before = answers(predict(run), tmp_path / "before.csv")
    change(
        other, "nodes.csv", lambda rows: [{"key" if k == "id" else k: v for k, v in row.items()} for row in rows]
    )
    change(other, "edges.csv", lambda rows: [{"a": r["source"], "b": r["target"], "w": r["weight"]} for r in rows])
    tables = Tables(str(other), Columns(id="key", source="a", target="b", weight="w"))
    assert answers(predict(run, tables), tmp_path / "after.csv") == before


def test_tables_that_changed_where_they_are_are_told(graph: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(graph, tmp_path / "own"))
    run = train(own, tmp_path / "run")
    assert not told(predict(run), "changed")
    change(own, "nodes.csv", lambda rows: [*rows, {"id": "new", "label": "", "size": "1", "land": "fr"}])
    prediction = predict(run)
    assert told(prediction, "own has changed since the model was trained")
    assert prediction.to_json()["nodes"] == 41


def test_the_models_of_several_seeds_are_averaged(graph: Path, run: Path, tmp_path: Path) -> None:
    several = Path(shutil.copytree(run, tmp_path / "several"))
    settings = {"base_epochs": 20, "epochs": 20, "selection": "last"}
    for seed in (2, 10):
        execute(run_of(graph, "lc-gcn", settings, seed), several / f"seed-{seed}")
    single = [predict(several / f"seed-{seed}").distribution for seed in (0, 2, 10)]
    together = predict(several)
    assert [model.about["seed"] for model in together.models] == [0, 2, 10]
    np.testing.assert_allclose(together.distribution, np.mean(single, axis=0), rtol=1e-6)


def test_a_model_file_alone_is_enough(run: Path, other: Path, tmp_path: Path) -> None:
    shutil.copy(run / "seed-0" / "model.safetensors", tmp_path / "mailed")
    expected = predict(run, Tables(str(other))).distribution
    np.testing.assert_array_equal(predict(tmp_path / "mailed", Tables(str(other))).distribution, expected)


def test_the_temperature_of_the_model_counts(run: Path, tmp_path: Path) -> None:
    model = TrainedModel.load(run / "seed-0" / "model.safetensors")
    replace(model, temperature=2.0).save(tmp_path / "warm")
    expected = np.sqrt(predict(run).distribution)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predict(tmp_path / "warm").distribution, expected, rtol=1e-5)


def test_a_benchmark_is_predicted_again(tmp_path: Path) -> None:
    run = run_of("cora", "gcn", {"base_epochs": 5}, split=SplitSpec(labels_per_class=5))
    execute(run, tmp_path / "run" / "seed-0")
    predict(tmp_path / "run").save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "run" / "seed-0" / "predictions.csv").read_text()
    with pytest.raises(LCGNNError, match="not trained on a table's columns"):
        predict(tmp_path / "run", Tables(str(write_graph(tmp_path / "g"))))
    with pytest.raises(LCGNNError, match="citeseer has 3703 features, and the model was trained on 1433"):
        predict(tmp_path / "run", "citeseer")


def test_a_folder_of_arrays_is_predicted_again_and_another_one_as_well(
    cora: tuple[Graph, Split], tmp_path: Path
) -> None:
    graph, split = cora
    save_arrays(graph, split, tmp_path / "arrays")
    run = train(tmp_path / "arrays", tmp_path / "run", "gcn")
    predict(run).save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (run / "seed-0" / "predictions.csv").read_text()
    few = replace(split, train=split.train[::2])
    save_arrays(graph, few, tmp_path / "other")
    prediction = predict(run, tmp_path / "other")
    assert np.array_equal(prediction.loaded.split.train, few.train)
    save_arrays(replace(graph, class_names=graph.class_names[::-1]), split, tmp_path / "renamed")
    with pytest.raises(LCGNNError, match="other classes than the model"):
        predict(run, tmp_path / "renamed")


def test_features_made_from_the_edges_are_for_the_same_graph_only(graph: Path, tmp_path: Path) -> None:
    bare = Path(shutil.copytree(graph, tmp_path / "bare"))
    labelled = [{"id": row["id"], "label": row["label"]} for row in rows_of(bare / "nodes.csv") if row["label"]]
    write_rows(bare / "labels.csv", labelled)
    (bare / "nodes.csv").unlink()
    run = train(bare, tmp_path / "run")
    predict(run).save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (run / "seed-0" / "predictions.csv").read_text()
    change(bare, "edges.csv", lambda rows: rows[:-1])
    with pytest.raises(LCGNNError, match=r"made from the edges.*Train on this one: lcgnn train"):
        predict(run)


# What is done to a copy of the graph, further arguments, and what the one line says.
def without(column: str, rows: list[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != column} for row in rows]


def replaced(column: str, value: str, rows: list[Row]) -> list[Row]:
    return [{**row, column: value} for row in rows]


BAD_GRAPHS: dict[str, tuple[str, Callable[[list[Row]], list[Row]], list[str]]] = {
    "a missing feature column": ("nodes.csv", partial(without, "size"), ["no column 'size'", "'size', 'land'"]),
    "a missing id": ("nodes.csv", partial(without, "id"), ["nodes.csv", "no column 'id'", "--id-column"]),
    "a missing source": ("edges.csv", partial(without, "source"), ["edges.csv", "no column 'source'"]),
    "a missing target": ("edges.csv", partial(without, "target"), ["edges.csv", "no column 'target'"]),
    "missing weights": ("edges.csv", partial(without, "weight"), ["edges.csv", "no column 'weight'"]),
    "text for numbers": ("nodes.csv", partial(replaced, "size", "big"), ["'size'", "'big'", "is not a number"]),
    "a negative weight": ("edges.csv", partial(replaced, "weight", "-1"), ["line 2", "the weight is -1"]),
    "an edge to nobody": ("edges.csv", partial(replaced, "target", "x"), ["node 'x' is not in"]),
    "a node twice": ("nodes.csv", partial(replaced, "id", "n0"), ["node 'n0' was there before"]),
    "infinity": ("nodes.csv", partial(replaced, "size", "inf"), ["infinity", "cannot be a feature"]),
}


@pytest.fixture
def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., str]:
    """Give a command that must fail: the one line that it prints; it leaves nothing behind."""

    def call(*arguments: object) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["lcgnn", "predict", *map(str, arguments)])
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert printed.err.startswith("lcgnn: ")
        assert printed.err.count("\n") == 1
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        return printed.err

    return call


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_a_graph_of_another_form_is_refused(
    name: str, run: Path, other: Path, refused: Callable[..., str]
) -> None:
    file, edit, words = BAD_GRAPHS[name]
    change(other, file, edit)
    line = refused(run, other)
    assert all(word in line for word in words), line


def test_what_is_no_run_is_refused(run: Path, graph: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    assert "does not exist" in refused(tmp_path / "nowhere")
    assert "holds no model" in refused(graph)
    assert "holds no model" in refused(tmp_path)
    assert "is not a file of lcgnn" in refused(graph / "nodes.csv")
    shutil.copytree(run, tmp_path / "killed")
    (tmp_path / "killed" / "seed-0" / "model.safetensors").unlink()
    (tmp_path / "killed" / "config.json").write_text("{}")
    assert "the training did not end. Give its command again" in refused(tmp_path / "killed")


def test_models_of_two_runs_are_not_mixed(
    run: Path, other: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    change(other, "nodes.csv", lambda rows: rows[::-1])
    train(other, tmp_path / "mixed")
    shutil.copytree(run / "seed-0", tmp_path / "mixed" / "seed-1")
    assert "not of the same run" in refused(tmp_path / "mixed", other)


def test_a_model_that_was_cut_is_refused(run: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    content = (run / "seed-0" / "model.safetensors").read_bytes()
    (tmp_path / "model").write_bytes(content[: len(content) // 2])
    assert "model is not a file of lcgnn, or was cut" in refused(tmp_path / "model")


def test_tables_that_are_gone_are_asked_for(graph: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    own = Path(shutil.copytree(graph, tmp_path / "own"))
    run = train(own, tmp_path / "run")
    shutil.rmtree(own)
    assert "is not here. Say where it is: lcgnn predict RUN GRAPH" in refused(run)


def test_a_method_that_cannot_is_refused_with_what_to_do(
    graph: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    run = train(graph, tmp_path / "run", "lp")
    line = refused(run, graph)
    assert "lp classifies only the nodes that it is trained with. Train it again" in line
    assert "lc-gcn" in line


def test_a_place_that_cannot_be_written_is_refused(
    run: Path, graph: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    assert ".csv or .parquet" in refused(run, graph, "--out", "answers.xlsx")
    assert "what a table of a graph is called" in refused(run, graph, "--out", graph / "nodes.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "it is a folder" in refused(run, graph, "--out", "folder.csv")
    (tmp_path / "file").write_text("")
    assert "Cannot write file/answers.csv: File exists. Choose" in refused(run, graph, "--out", "file/answers.csv")


def test_an_odd_part_of_the_split_and_weights_that_were_not_trained_with_are_refused(
    other: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    parts = ("train", "")
    change(other, "nodes.csv", lambda rows: [{**row, "split": parts[i % 2]} for i, row in enumerate(rows)])
    change(other, "edges.csv", partial(without, "weight"))
    run = train(other, tmp_path / "run")
    change(other, "edges.csv", partial(replaced, "w", "2"))
    assert "trained without weights" in refused(run, other, "--weight-column", "w")
    change(other, "nodes.csv", partial(replaced, "split", "all"))
    assert "'all' is not train, validation or test. Correct it.\n" in refused(run, other)


def test_a_graph_in_parts_is_asked_for_as_a_whole(run: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / MANIFEST).write_text("{}")
    assert "parts is a graph in parts" in refused(run, tmp_path / "parts")


def test_columns_are_named_for_a_graph_only(run: Path, refused: Callable[..., str]) -> None:
    assert "Columns can be named for a graph" in refused(run, "--id-column", "id")


def test_tables_are_no_benchmark(run: Path, refused: Callable[..., str]) -> None:
    assert "cora has none. Name a folder" in refused(run, "cora")
