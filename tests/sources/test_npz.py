"""An .npz file is the graph that its arrays describe, and nothing in it is ever executed."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.runs.predict import predict
from lcgnn.runs.run import Run, execute
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.npz import Npz, load_npz, save_npz

RING = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
LABELS = np.array([0, 1, -1, -1, 0, 1])
PARTS = ("data", "indices", "indptr", "shape")


def sparse(name: str, matrix: Any) -> dict[str, Any]:
    return {f"{name}_{part}": np.array(getattr(csr_array(matrix), part)) for part in PARTS}


def written(folder: Path, **arrays: Any) -> Path:
    path = folder / "ring.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    "edges",
    [
        {"adjacency": RING},
        sparse("adjacency", RING),
        sparse("adj", RING),
        {"edge_index": np.stack(RING.nonzero())},
        {"edge_index": np.stack(np.triu(RING).nonzero())},
        {"edge_index": np.stack(RING.nonzero()), "edge_weight": np.ones(12)},
    ],
    ids=["dense", "sparse", "other names", "edges", "edges in one direction", "weighted edges"],
)
@pytest.mark.parametrize("features", [{"features": np.eye(6)}, sparse("attr", np.eye(6))], ids=["dense", "sparse"])
def test_every_form_gives_the_same_graph(edges: Any, features: Any, tmp_path: Path) -> None:
    graph = load_npz(written(tmp_path, labels=LABELS, **edges, **features)).graph
    assert graph.name == "ring"
    assert graph.labels.tolist() == LABELS.tolist()
    np.testing.assert_array_equal(graph.adjacency.toarray(), RING)
    # Rows of what counts something have the length 2.
    np.testing.assert_array_equal(csr_array(graph.features).toarray(), 2 * np.eye(6))


def test_a_saved_graph_is_the_same_graph_again(tmp_path: Path, cora: tuple[Graph, Split]) -> None:
    graph, split = cora
    save_npz(tmp_path / "cora.npz", graph, split)
    made = load_npz(tmp_path / "cora.npz")
    assert made.graph.checksum == graph.checksum
    assert made.split.checksum == split.checksum
    assert [path.name for path in tmp_path.iterdir()] == ["cora.npz"]


def test_labels_may_be_text_and_masks_say_what_they_are_for(tmp_path: Path) -> None:
    mask = np.arange(6) < 3
    names = np.array(["x", "", "y", "x", "y", ""])
    made = load_npz(written(tmp_path, adjacency=RING, labels=names, train_mask=mask, test_mask=~mask))
    assert made.graph.class_names == ("x", "y")
    assert made.split.train.tolist() == [0, 2]
    assert made.split.test.tolist() == [3, 4]
    assert made.notes[-1] == "ring.npz: 6 nodes, 6 edges; labels 2 for train, 2 for test."


def test_the_command_line_trains_on_it(tmp_path: Path) -> None:
    written(tmp_path, adjacency=RING, labels=LABELS, node_names=np.array(list("abcdef")))
    command = [sys.executable, "-m", "lcgnn", "train", "ring.npz", "--method", "lp", "--out", "run", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dataset"] == "ring"
    answers = (tmp_path / "run" / "seed-0" / "predictions.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in answers] == ['"id"', *(f'"{name}"' for name in "abcdef")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on the ring, with features that are its own."""
    folder = tmp_path_factory.mktemp("ring")
    path = written(folder, adjacency=RING, labels=LABELS, features=np.eye(6))
    settings = {"base_epochs": 5, "epochs": 5, "selection": "last"}
    execute(Run(RunSpec(Npz(str(path)), "lc-gcn", 0, settings), Npz(str(path)).load()), folder / "run")
    return folder / "run"


def test_a_model_predicts_on_the_file_that_it_was_trained_on(run: Path) -> None:
    prediction = predict(run)
    assert prediction.trained_on_it
    assert prediction.loaded.split.train.tolist() == [0, 1, 4, 5]


def test_a_model_predicts_on_a_file_without_labels_or_with_others(run: Path, tmp_path: Path) -> None:
    alone = predict(run, written(tmp_path, adjacency=RING, features=np.eye(6)))
    assert alone.loaded.split.train.size == 0
    np.testing.assert_array_equal(alone.distribution, predict(run).distribution)
    arrays = {"adjacency": RING, "features": np.eye(6), "train_mask": np.arange(6) < 4}
    labels, names = np.array([2, 1, -1, 0, 1, 0]), np.array(["1", "0", "unheard of"])
    known = predict(run, written(tmp_path, labels=labels, class_names=names, **arrays))
    assert known.loaded.graph.labels.tolist() == [-1, 0, -1, 1, 0, 1]
    assert known.loaded.split.train.tolist() == [1, 3]
    np.testing.assert_array_equal(known.distribution, alone.distribution)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"adjacency": RING}, "mean nothing in a graph"),
        ({"adjacency": RING, "features": np.ones((6, 2))}, "has 2 features"),
        ({"edge_index": np.array([[0], [1]])}, "how many nodes there are is not known"),
        ({"adjacency": RING, "labels": LABELS, "class_names": np.array(["a"])}, "with 1 class names"),
    ],
)
def test_a_file_that_a_model_cannot_use_is_refused(
    run: Path, tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        predict(run, written(tmp_path, **arrays))


class Trap:
    """Would leave a file if anybody unpickled it."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("sprung"),)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no labels": ({"adjacency": RING}, "no array 'labels'"),
    "no edges": ({"labels": LABELS}, "neither 'adjacency' nor 'edge_index'"),
    "nothing known": ({"x": LABELS}, "it has no array of a name that is known (there are 'x')."),
    "one class": ({"adjacency": RING, "labels": np.minimum(LABELS, 0)}, "one class"),
    "no label": ({"adjacency": RING, "labels": np.full(6, -1)}, "no row has one"),
    "too few labels": ({"adjacency": RING, "labels": LABELS[:5]}, "(6, 6) for 5 rows"),
    "a part is missing": ({"labels": LABELS, "adjacency_data": np.ones(3)}, "adjacency_indices is missing"),
    "no CSR matrix": ({"labels": LABELS, **sparse("adj", RING), "adj_indptr": np.arange(3)}, "no CSR matrix"),
    "indices outside": ({"labels": LABELS, **sparse("adj", RING), "adj_indices": np.full(12, 9)}, "no CSR matrix"),
    "NaN": ({"adjacency": RING, "labels": LABELS, "features": np.full((6, 1), np.nan)}, "NaN"),
    "features of others": ({"adjacency": RING, "labels": LABELS, "features": np.eye(5)}, "for 6 nodes"),
    "a mask of numbers": ({"adjacency": RING, "labels": LABELS, "train_mask": LABELS}, "True or False"),
    "names of others": ({"adjacency": RING, "labels": LABELS, "node_names": np.array(["a"])}, "node names"),
    "edges in two forms": (
        {"adjacency": RING, "edge_index": np.array([[0], [1]]), "labels": LABELS},
        "both 'adjacency' and 'edge_index'",
    ),
    "weights of no edges": (
        {"adjacency": RING, "edge_weight": np.ones(6), "labels": LABELS},
        "both 'adjacency' and 'edge_weight'",
    ),
    "edges dense and sparse": (
        {"adjacency": RING, **sparse("adjacency", RING), "labels": LABELS},
        "both 'adjacency' and its CSR form",
    ),
    "one matrix by two names": (
        {**sparse("adj", RING), **sparse("adjacency", RING), "labels": LABELS},
        "both 'adj_data' and 'adjacency_data'",
    ),
    "features dense and sparse": (
        {"adjacency": RING, "labels": LABELS, "features": np.eye(6), **sparse("attr", np.eye(6))},
        "both 'features' and its CSR form",
    ),
    "a negative label": ({"adjacency": RING, "labels": LABELS - 1}, "-2 is negative, which only -1 may be"),
    "a table of labels": ({"adjacency": RING, "labels": np.eye(6)}, "labels: shape (6, 6)"),
    "a column of labels": ({"adjacency": RING, "labels": LABELS[:, None]}, "labels.ravel()"),
    "two nodes of one name": (
        {"adjacency": RING, "labels": LABELS, "node_names": np.array(list("abcdea"))},
        "node 5 is called 'a', as one before it",
    ),
    "a scale that is none": (
        {"adjacency": RING, "labels": LABELS, "scaling": np.array("row")},
        "'scaling' is 'row'",
    ),
    "an adjacency in one dimension": ({"adjacency": RING[0], "labels": LABELS}, "shape (6,) for 6 rows"),
    "objects": ({"adjacency": RING, "labels": np.array([Trap()] * 6, dtype=object)}, "never loaded"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_gets_one_line_that_names_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arrays, message = BAD[kind]
    with pytest.raises(DataError) as caught:
        load_npz(written(tmp_path, **arrays))
    assert message in str(caught.value)
    assert "ring.npz" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "sprung").exists()


def test_a_benchmark_as_it_is_published_is_said_to_be_had_by_its_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "acm.npz", adj_matrix=RING, node_label=LABELS)
    with pytest.raises(DataError, match=r"'adj_matrix', 'node_label'\).*'labels'.*lcgnn inspect acm$"):
        load_npz(tmp_path / "acm.npz")


def test_what_is_no_npz_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ring.npz"
    with pytest.raises(DataError, match="does not exist"):
        load_npz(path)
    np.save(tmp_path / "one.npy", LABELS)
    for content in (b"", b"PK\x03\x04", b"\x80\x04N.", (tmp_path / "one.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(DataError, match="cannot be read"):
            load_npz(path)


def loaded_or_refused(path: Path) -> tuple[Graph | None, str]:
    """The graph in a file, or why there is none."""
    try:
        return load_npz(path).graph, ""
    except DataError as error:
        return None, str(error)


def test_what_may_be_a_mistake_is_told(tmp_path: Path) -> None:
    names = np.array(["1", "1.0", "?", "Unknown", "01", ""])
    made = load_npz(written(tmp_path, adjacency=RING, labels=names, colours=LABELS))
    assert made.graph.num_classes == 5
    told = " ".join(made.notes)
    assert "'?', 'Unknown' are taken as classes. If they mean that the label is unknown, give -1 or None" in told
    assert "'01', '1', '1.0' are kept apart, though they are one number" in told
    assert "no such array is known: 'colours'" in told
    amounts = load_npz(written(tmp_path, adjacency=RING, labels=np.array([0.5, 1.25, -1, np.nan, 0.5, 2])))
    assert "'0.5', '1.25' are taken as classes, though they look like amounts" in " ".join(amounts.notes)


@pytest.mark.parametrize(
    "content", [b"\x93NUMPY\x01\x00", b"{'descr': '<f8', 'shape': (9999999999,)}", b"((((" * 900]
)
def test_a_damaged_header_of_an_array_is_refused(content: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, adjacency=RING, labels=LABELS)
    with zipfile.ZipFile(path, "a") as archive:
        header = b"\x93NUMPY\x01\x00" + len(content).to_bytes(2, "little") + content
        archive.writestr("features.npy", header)
    with pytest.raises(DataError, match=r"no \.npy file, or its header is damaged"):
        load_npz(path)


def test_a_header_that_promises_more_than_there_is_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, adjacency=RING, labels=LABELS)
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (6, 10**9)}
    np.lib.format.write_array_header_1_0(buffer, header)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("features.npy", buffer.getvalue())
    with pytest.raises(DataError, match="tells of 48,000,000,000 bytes, and there are 0: it was cut short"):
        load_npz(path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(1, 255), cut=st.booleans())
def test_broken_bytes_give_a_graph_or_one_clear_error(tmp_path: Path, place: float, byte: int, cut: bool) -> None:
    path = written(tmp_path, **sparse("adjacency", RING), labels=LABELS, features=np.eye(6))
    content = bytearray(path.read_bytes())
    position = int(place * len(content))
    content[position] ^= byte
    path.write_bytes(bytes(content[:position] if cut else content))
    graph, error = loaded_or_refused(path)
    if graph is None:
        assert error.startswith(str(path))
        assert "\n" not in error
    else:
        np.testing.assert_array_equal(graph.labels, LABELS)
        np.testing.assert_array_equal(graph.adjacency.toarray(), RING)
