"""The same numbers as a table and as arrays become the same features, in the same form."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lcgnn import LCGNNClassifier, create
from lcgnn.features.scaling import Scaling
from lcgnn.graph import Features
from lcgnn.runs.predict import predict
from lcgnn.runs.run import Run, execute
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.choice import source_of
from lcgnn.sources.frames import table_of
from lcgnn.sources.npz import Npz, load_npz
from lcgnn.sources.tables.source import Tables

ROWS = 60
GENERATOR = np.random.default_rng(3)
COUNTS = GENERATOR.poisson(0.1, (ROWS, 40)).astype(np.float64)
MEASURED = GENERATOR.normal(20, 5, (ROWS, 3)).round(3)
MATRICES = {
    "counts": COUNTS,
    "measurements": MEASURED,
    "counts beside measurements": np.column_stack([MEASURED[:, 0], COUNTS, MEASURED[:, 1:]]),
    "mostly ones": (COUNTS == 0).astype(float),
    "a third ones": (GENERATOR.random((ROWS, 30)) < 0.35).astype(float),
    "counts below zero": -COUNTS,
    "counts, one of them frequent": np.column_stack([COUNTS, GENERATOR.poisson(3, ROWS)]),
}
LABELS = np.where(np.arange(ROWS) % 3 == 0, np.arange(ROWS) % 2, -1)
RING = np.stack([np.arange(ROWS), (np.arange(ROWS) + 1) % ROWS])


def as_tables(folder: Path, matrix: np.ndarray) -> Tables:
    folder.mkdir(exist_ok=True)
    with (folder / "nodes.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "label", *(f"x{column}" for column in range(matrix.shape[1]))])
        for row in range(ROWS):
            label = "" if LABELS[row] < 0 else LABELS[row]
            writer.writerow([row, label, *(f"{value:g}" for value in matrix[row])])
    lines = [f"{one},{two}" for one, two in RING.T]
    (folder / "edges.csv").write_text("\n".join(["source,target", *lines]) + "\n")
    return Tables(str(folder))


def as_npz(folder: Path, matrix: np.ndarray, **more: Any) -> Path:
    np.savez(folder / "graph.npz", features=matrix, labels=LABELS, edge_index=RING, **more)
    return folder / "graph.npz"


def assert_same(one: Features, other: Features) -> None:
    assert type(one) is type(other)
    dense = [part.toarray() if isinstance(part, csr_array) else part for part in (one, other)]
    np.testing.assert_array_equal(dense[0], dense[1])


@pytest.mark.parametrize("kind", MATRICES)
def test_a_table_an_npz_file_and_the_classifier_make_the_same_features(kind: str, tmp_path: Path) -> None:
    matrix = MATRICES[kind]
    of_table = as_tables(tmp_path / "tables", matrix).load().graph.features
    of_file = load_npz(as_npz(tmp_path, matrix)).graph.features
    scaling = Scaling.fit(matrix)
    assert_same(of_table, of_file)
    assert_same(of_file, scaling.apply(matrix))
    sparse = Scaling.fit(csr_array(matrix))
    assert sparse == scaling
    assert_same(of_file, sparse.apply(csr_array(matrix)))
    assert_same(of_file, Scaling.from_json(scaling.to_json()).apply(matrix))
    assert isinstance(of_table, csr_array) == kind.startswith("counts")


def test_measurements_among_counts_are_standardised_and_take_no_part_in_the_norm() -> None:
    matrix = MATRICES["counts beside measurements"]
    features = csr_array(Scaling.fit(matrix).apply(matrix)).toarray()
    sums = COUNTS.sum(axis=1)
    np.testing.assert_allclose(np.linalg.norm(features[:, 1:41], axis=1), np.where(sums > 0, 2, 0), rtol=1e-6)
    np.testing.assert_allclose(features[:, [0, 41, 42]].std(axis=0), 1, rtol=1e-5)


def test_a_frequent_word_is_a_word_and_an_age_among_marks_is_not() -> None:
    words, marks = np.column_stack([COUNTS, GENERATOR.poisson(3, ROWS)]), (COUNTS > 0).astype(float)
    assert Scaling.fit(words).kind == "norm"
    aged = np.column_stack([marks, MEASURED[:, 0]])
    assert np.flatnonzero(~Scaling.fit(aged).counted).tolist() == [40]
    # Whether the rows were divided before does not matter.
    for divided in (
        words / words.sum(axis=1, keepdims=True),
        words / np.linalg.norm(words, axis=1, keepdims=True),
    ):
        np.testing.assert_allclose(
            csr_array(Scaling.fit(divided).apply(divided)).toarray(),
            csr_array(Scaling.fit(words).apply(words)).toarray(),
            atol=1e-6,
        )


@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_standardised_measurements_beside_marks_are_measurements_in_any_unit(factor: float) -> None:
    measured = (MEASURED - MEASURED.mean(axis=0)) / MEASURED.std(axis=0)
    marks = (COUNTS > 0).astype(float)
    matrix = np.column_stack([factor * measured, marks])
    scaling = Scaling.fit(matrix)
    assert np.flatnonzero(~scaling.counted).tolist() == [0, 1, 2]
    np.testing.assert_allclose(csr_array(scaling.apply(matrix)).toarray()[:, :3], measured, atol=1e-5)


def test_marks_of_which_a_third_is_set_are_divided_and_more_are_standardised() -> None:
    kinds = [Scaling.fit((GENERATOR.random((400, 50)) < share).astype(float)).kind for share in (0.35, 0.5)]
    assert kinds == ["norm", "columns"]


@pytest.mark.parametrize(("width", "length"), [(1, 1), (4, 2), (7, 2), (200, 2)])
def test_rows_of_measurements_are_two_long_on_average_or_less(width: int, length: float) -> None:
    measured = np.column_stack([GENERATOR.normal(5, 3, (ROWS, width)), np.full(ROWS, 0.1)])
    features = np.asarray(Scaling.fit(measured).apply(measured))
    assert np.square(features).sum(axis=1).mean() == pytest.approx(length**2, rel=1e-5)
    assert not features[:, -1].any()


@pytest.mark.parametrize("kind", MATRICES)
@given(exponent=st.integers(-12, 12), digits=st.floats(1, 10))
@settings(max_examples=10)
def test_the_unit_of_the_features_changes_nothing(kind: str, exponent: int, digits: float) -> None:
    matrix, factor = MATRICES[kind], digits * 10.0**exponent
    one, other = Scaling.fit(matrix).apply(matrix), Scaling.fit(factor * matrix).apply(factor * matrix)
    assert type(one) is type(other)
    dense = [part.toarray() if isinstance(part, csr_array) else part for part in (one, other)]
    np.testing.assert_allclose(dense[0], dense[1], atol=1e-6)


@pytest.mark.parametrize("factor", [1000.0, 0.001])
@pytest.mark.parametrize("kind", ["counts", "measurements", "counts beside measurements"])
def test_features_times_a_number_change_no_prediction(kind: str, factor: float, tmp_path: Path) -> None:
    quick: dict[str, Any] = {"base_epochs": 20, "epochs": 20, "selection": "last"}
    answers = []
    for name, matrix in (("one", MATRICES[kind]), ("other", factor * MATRICES[kind])):
        (tmp_path / name).mkdir()
        loaded = [as_tables(tmp_path / name / "tables", matrix).load(), load_npz(as_npz(tmp_path / name, matrix))]
        frame = pd.DataFrame(matrix, columns=[f"x{column}" for column in range(matrix.shape[1])])
        answers.append(
            [
                *(create("lc-gcn", **quick).fit(made.graph, made.split).label_distribution for made in loaded),
                *(
                    LCGNNClassifier(base_epochs=20, epochs=20, random_state=0)
                    .fit(rows, LABELS, adjacency=RING)
                    .label_distributions_
                    for rows in (matrix, csr_array(matrix), frame)
                ),
            ]
        )
    for one, other in zip(*answers, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
        assert np.array_equal(one.argmax(axis=1), other.argmax(axis=1))


def test_a_scaling_of_version_0_2_does_what_it_did() -> None:
    matrix = MATRICES["counts beside measurements"]
    zeros, ones = [0.0] * 43, [1.0] * 43
    by_sum = Scaling.from_json({"kind": "rows", "mean": zeros, "scale": ones}).apply(matrix)
    np.testing.assert_allclose(
        csr_array(by_sum).toarray(), matrix / abs(matrix).sum(axis=1, keepdims=True), rtol=1e-6
    )
    described = {"kind": "mixed", "mean": zeros, "scale": [2.0] * 43, "counted": list(range(1, 41))}
    mixed = csr_array(Scaling.from_json(described).apply(matrix)).toarray()
    sums = np.maximum(COUNTS.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(mixed[:, 1:41], COUNTS / sums, rtol=1e-6)
    np.testing.assert_allclose(mixed[:, [0, 41, 42]], MEASURED / 2, rtol=1e-6)


def test_features_that_are_ready_are_taken_as_they_are(tmp_path: Path) -> None:
    path = as_npz(tmp_path, MEASURED, scaling=np.array("none"))
    np.testing.assert_array_equal(load_npz(path).graph.features, MEASURED.astype(np.float32))


@pytest.mark.parametrize("kind", MATRICES)
def test_a_model_scales_a_file_as_the_one_that_it_was_trained_on(kind: str, tmp_path: Path) -> None:
    path = as_npz(tmp_path, MATRICES[kind])
    settings = {"base_epochs": 2, "epochs": 2, "selection": "last"}
    source = Npz(str(path))
    execute(Run(RunSpec(source, "lc-gcn", 0, settings), source.load()), tmp_path / "run")
    whole = predict(tmp_path / "run")
    assert whole.trained_on_it
    # Half of the rows alone have another mean, and other neighbours at the cut only.
    half = ROWS // 2
    inner = RING[:, (half > RING).all(axis=0)]
    np.savez(tmp_path / "half.npz", features=MATRICES[kind][:half], labels=LABELS[:half], edge_index=inner)
    alone = predict(tmp_path / "run", tmp_path / "half.npz")
    far = slice(8, half - 8)
    np.testing.assert_allclose(alone.distribution[far], whole.distribution[far], atol=1e-5)


@pytest.mark.parametrize("kind", ["counts", "measurements"])
def test_the_data_of_pytorch_geometric_is_scaled_and_a_model_scales_other_data_alike(
    kind: str, tmp_path: Path
) -> None:
    data = pytest.importorskip("torch_geometric.data")
    import torch

    def given_as(factor: float, rows: int = ROWS) -> Any:
        ends = RING[:, (rows > RING).all(axis=0)]
        x, y = torch.tensor(factor * MATRICES[kind][:rows]).float(), torch.tensor(LABELS[:rows])
        return data.Data(x=x, y=y, edge_index=torch.tensor(np.concatenate([ends, ends[::-1]], axis=1)))

    quick = {"base_epochs": 5, "epochs": 5, "selection": "last"}
    whole = []
    for factor in (1.0, 1000.0):
        source = source_of(given_as(factor))
        folder = tmp_path / str(factor)
        execute(Run(RunSpec(source, "lc-gcn", 0, quick), source.load()), folder)
        whole.append(predict(folder, given_as(factor)).distribution)
    np.testing.assert_allclose(whole[0], whole[1], atol=1e-4)
    half = ROWS // 2
    alone = predict(tmp_path / "1000.0", given_as(1000.0, half)).distribution
    np.testing.assert_allclose(alone[8 : half - 8], whole[1][8 : half - 8], atol=1e-5)


def test_a_frame_of_counts_is_scaled_as_a_matrix_of_counts() -> None:
    frame = pd.DataFrame(COUNTS, columns=[f"x{column}" for column in range(40)])
    quick: dict[str, Any] = {"base_epochs": 3, "epochs": 2, "random_state": 0}
    of_frame = LCGNNClassifier(**quick).fit(frame, LABELS, adjacency=RING)
    of_matrix = LCGNNClassifier(**quick).fit(COUNTS, LABELS, adjacency=RING)
    np.testing.assert_array_equal(of_frame.label_distributions_, of_matrix.label_distributions_)
    assert table_of(frame, "X").num_rows == ROWS
