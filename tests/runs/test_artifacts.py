"""One schema of predictions, for a benchmark and for a graph of one's own."""

import csv
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from lcgnn.graph import Graph, Split
from lcgnn.runs import artifacts
from lcgnn.runs.artifacts import save_predictions

DISTRIBUTION = np.array([[0.9, 0.1], [0.2, 0.8], [1 / 3, 2 / 3], [0.6, 0.4]], dtype=np.float32)


def line(names: list[str] | None = None, num_classes: int = 2) -> Graph:
    links, labels = np.array([[0, 1, 2], [1, 2, 3]]), np.array([1, 0, 1, -1])
    classes = [f"c{number}" for number in range(num_classes)]
    return Graph.from_edges(
        "line", links, 4, labels, classes, node_names=None if names is None else np.array(names)
    )


def split_of(train: Sequence[int], validation: Sequence[int] = (), test: Sequence[int] = ()) -> Split:
    parts = [np.array(part, dtype=np.int64) for part in (train, validation, test)]
    return Split(parts[0], parts[1], parts[2])


def written(path: Path, graph: Graph, split: Split, distribution: np.ndarray = DISTRIBUTION) -> list[dict]:
    save_predictions(path, distribution, graph, split)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_label_that_was_trained_on_stays_and_has_the_probability_it_was_given(tmp_path: Path) -> None:
    rows = written(tmp_path / "a.csv", line(["a", "b", "c", "d"]), split_of([0]))
    assert list(rows[0]) == ["id", "label", "probability", "origin", "p(c0)", "p(c1)"]
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"]
    assert [row["label"] for row in rows] == ["c1", "c1", "c1", "c0"]
    assert [row["probability"] for row in rows] == ["0.1", "0.8", "0.666667", "0.6"]
    assert [row["origin"] for row in rows] == ["given", "predicted", "predicted", "predicted"]
    assert [row["p(c0)"] for row in rows] == ["0.9", "0.2", "0.333333", "0.6"]


@pytest.mark.parametrize(("validation", "test"), [([1], []), ([], [1])])
def test_parts_are_told_where_there_are_any_to_choose_or_measure_by(
    validation: list[int], test: list[int], tmp_path: Path
) -> None:
    rows = written(tmp_path / "a.csv", line(), split_of([0], validation, test))
    assert list(rows[0]) == ["id", "label", "probability", "origin", "part", "p(c0)", "p(c1)"]
    assert [row["id"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["part"] for row in rows] == ["train", "validation" if validation else "test", "other", "other"]


def test_without_any_given_label_all_are_predicted(tmp_path: Path) -> None:
    rows = written(tmp_path / "a.csv", line(), split_of([]))
    assert "part" not in rows[0]
    assert {row["origin"] for row in rows} == {"predicted"}


@pytest.mark.parametrize(("num_classes", "columns"), [(50, 50), (51, 0)])
def test_very_many_classes_get_no_columns(num_classes: int, columns: int, tmp_path: Path) -> None:
    even = np.full((4, num_classes), 1 / num_classes, dtype=np.float32)
    rows = written(tmp_path / "a.csv", line(num_classes=num_classes), split_of([0]), even)
    assert sum(name.startswith("p(") for name in rows[0]) == columns


def test_parquet_has_the_same_columns_and_values(tmp_path: Path) -> None:
    graph, split = line(["a", "b", "c", "d"]), split_of([0], [1], [2])
    rows = written(tmp_path / "a.csv", graph, split)
    save_predictions(tmp_path / "a.parquet", DISTRIBUTION, graph, split)
    table = parquet.read_table(tmp_path / "a.parquet")
    assert [{name: str(value) for name, value in row.items()} for row in table.to_pylist()] == rows


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predictions_that_are_written_in_pieces_are_those_that_are_written_at_once(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, split = line(["=a", 'quoted "b"', "two\nlines", "d"]), split_of([0], [1])
    at_once, in_pieces = tmp_path / f"at-once{suffix}", tmp_path / f"in-pieces{suffix}"
    save_predictions(at_once, DISTRIBUTION, graph, split)
    monkeypatch.setattr(artifacts, "_ROWS", 3)
    save_predictions(in_pieces, DISTRIBUTION, graph, split)
    if suffix == ".csv":
        assert in_pieces.read_bytes() == at_once.read_bytes()
    else:
        assert parquet.read_table(in_pieces).equals(parquet.read_table(at_once))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_writing_that_fails_half_way_leaves_what_was_there(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{suffix}"
    save_predictions(path, DISTRIBUTION, line(), split_of([0]))
    before = path.read_bytes()
    monkeypatch.setattr(artifacts, "_ROWS", 2)
    made = artifacts._predictions

    def failing(*arguments: Any) -> Any:
        if arguments[-1] == slice(2, 4):
            raise KeyboardInterrupt
        return made(*arguments)

    monkeypatch.setattr(artifacts, "_predictions", failing)
    with pytest.raises(KeyboardInterrupt):
        save_predictions(path, 1 - DISTRIBUTION, line(), split_of([0]))
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


_KILLED = """
import os, signal, sys
from pathlib import Path
from typing import Any
from tests.runs import test_artifacts as here

here.artifacts._ROWS = 2
made = here.artifacts._predictions

def killing(*arguments):
    if arguments[-1] == slice(2, 4):
        os.kill(os.getpid(), signal.SIGKILL)
    return made(*arguments)

here.artifacts._predictions = killing
here.save_predictions(Path(sys.argv[1]), here.DISTRIBUTION, here.line(), here.split_of([0]))
"""


def test_a_writer_that_is_killed_leaves_no_half_file_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], cwd=root, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()
    assert not path.exists()
    assert len(list(tmp_path.iterdir())) == 1
    save_predictions(path, DISTRIBUTION, line(), split_of([0]))
    assert list(tmp_path.iterdir()) == [path]
