"""Graphs as folders of arrays: what comes back is what went in, and what is broken is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split
from lcgnn.sources.arrays import load_arrays, save_arrays
from lcgnn.sources.choice import source_of
from lcgnn.sources.tables.columns import Columns

SPLIT = Split(np.array([0, 3]), np.array([1]), np.array([4]))


def path_graph(features, weights=None) -> Graph:
    edges = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    labels = np.array([0, 1, -1, 1, 0])
    return Graph.from_edges("path", edges, 5, labels, ("no", "yes"), weights=weights, features=features)


DENSE = np.arange(15, dtype=np.float32).reshape(5, 3)
FORMS = {
    "dense": path_graph(DENSE),
    "sparse, last column empty": path_graph(csr_array(DENSE * [1, 1, 0])),
    "without features": path_graph(None),
    "weighted": path_graph(DENSE, np.array([0.5, 2, 1, 4])),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_comes_back_as_it_was(form, tmp_path):
    save_arrays(FORMS[form], SPLIT, tmp_path / "graph")
    graph, split = load_arrays(tmp_path / "graph")
    assert graph.checksum == FORMS[form].checksum
    assert graph.num_features == FORMS[form].num_features
    assert split.checksum == SPLIT.checksum
    assert (tmp_path / "graph" / "weights.npy").exists() == (form == "weighted")


def test_large_arrays_are_not_read_into_memory(tmp_path):
    save_arrays(FORMS["weighted"], SPLIT, tmp_path / "graph")
    graph, _ = load_arrays(tmp_path / "graph")
    for array in (graph.features, graph.adjacency.indices, graph.adjacency.indptr, graph.adjacency.data):
        while array.base is not None and not isinstance(array, np.memmap):
            array = array.base
        assert isinstance(array, np.memmap)


def test_a_folder_of_arrays_is_taken_where_tables_are(tmp_path):
    save_arrays(FORMS["dense"], SPLIT, tmp_path / "graph")
    assert source_of(tmp_path / "graph").load().graph.checksum == FORMS["dense"].checksum
    with pytest.raises(ConfigError, match="Columns can be named for a folder of tables"):
        source_of(tmp_path / "graph", Columns(label="topic"))


def cut(path):
    path.write_bytes(path.read_bytes()[:-4])


def refill(**arrays):
    def change(folder):
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: cut(folder / "indices.npy"), r"indices\.npy cannot be read"),
        (lambda folder: (folder / "labels.npy").unlink(), r"labels\.npy cannot be read"),
        (
            refill(labels=np.zeros(4, dtype=np.int32)),
            r"labels\.npy holds int32 of shape \(4,\); it should be \(5\)",
        ),
        (refill(labels=np.zeros(5)), r"labels\.npy holds float64"),
        (refill(labels=np.array([0, 1, 2, 1, 0])), "labels must lie in 0..1"),
        (refill(split=np.array([1, 0, 1, 0, 0], dtype=np.uint8)), "whose label is unknown"),
        (refill(features=np.full((5, 3), np.nan, dtype=np.float32)), "NaN"),
        (refill(features=np.zeros((5, 2), dtype=np.float32)), r"features\.npy holds"),
        (refill(indices=np.array([1, 0, 2, 1, 3, 2, 4, 9], dtype=np.int32)), r"indices\.npy"),
        (refill(indices=np.array([1, 0, 2, 1, 3, 2, 4, 2], dtype=np.int32)), "not symmetric"),
        (refill(indptr=np.array([0, 1, 3, 2, 7, 8], dtype=np.int32)), r"indices\.npy"),
        (lambda folder: (folder / "graph.json").write_text("{}"), r"graph\.json is not a description"),
        (lambda folder: (folder / "graph.json").write_text("{"), r"graph\.json cannot be read"),
        (lambda folder: np.save(folder / "labels.npy", np.array([None] * 5)), "cannot be read"),
        (lambda folder: (folder / "graph.json").write_text("[" * 10**5), "nested too deeply"),
        (
            lambda folder: (folder / "labels.npy").write_bytes(b"\x93NUMPY\x01\x00\x04\x00(((("),
            "header is damaged",
        ),
    ],
)
def test_a_broken_folder_is_refused_with_the_file_that_is_wrong(change, message, tmp_path):
    save_arrays(FORMS["dense"], SPLIT, tmp_path / "graph")
    change(tmp_path / "graph")
    with pytest.raises(DataError, match=message):
        load_arrays(tmp_path / "graph")


@pytest.mark.parametrize("field", ["name", "num_nodes", "num_features", "class_names"])
@pytest.mark.parametrize("value", [None, -1, 1.5, True, {}, [1], [["x"]]])
def test_a_description_of_other_types_is_refused_by_its_field(field, value, tmp_path):
    save_arrays(FORMS["dense"], SPLIT, tmp_path / "graph")
    path = tmp_path / "graph" / "graph.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(DataError, match=rf"graph\.json is damaged \('{field}' is not a? ?(text|list|whole)"):
        load_arrays(tmp_path / "graph")


def test_a_folder_of_another_format_is_refused(tmp_path):
    save_arrays(FORMS["dense"], SPLIT, tmp_path / "graph")
    path = tmp_path / "graph" / "graph.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": "lcgnn arrays 9"}))
    with pytest.raises(DataError, match="lcgnn arrays 1"):
        load_arrays(tmp_path / "graph")


def test_a_split_that_does_not_fit_is_not_written(tmp_path):
    with pytest.raises(DataError, match="names node 7"):
        save_arrays(FORMS["dense"], replace(SPLIT, test=np.array([7])), tmp_path / "graph")
    assert not list(tmp_path.iterdir())
