"""Benchmarks in one published file, on small files of the same two layouts that are made here."""

import hashlib
import io
import pickle
import urllib.request
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from lcgnn.errors import DataError, DownloadError
from lcgnn.experiments.statistics import measured_or_published
from lcgnn.sources.benchmarks import BENCHMARKS, Benchmark, benchmark
from lcgnn.sources.benchmarks.graph_data import GraphData
from lcgnn.sources.benchmarks.heterophilous import Heterophilous
from lcgnn.sources.benchmarks.npz_file import NpzFile, scaled

NUM_NODES, NUM_FEATURES = 90, 12
RANDOM = np.random.default_rng(0)
LABELS = np.arange(NUM_NODES) % 3
LINKS = RANDOM.integers(0, NUM_NODES, (2, 300))
WORDS = RANDOM.poisson(0.2, (NUM_NODES, NUM_FEATURES)).astype(np.float32)


def as_published(what: Any) -> bytes:
    """An array of one object as numpy wrote it years ago, when its and scipy's modules had other names."""
    array = np.empty((), dtype=object)
    array[()] = what
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": ()})
    pickled = pickle.dumps(array, protocol=3)
    for today, then in ((b"numpy._core.", b"numpy.core."), (b"scipy.sparse._csr\n", b"scipy.sparse.csr\n")):
        pickled = pickled.replace(today, then)
    return file.getvalue() + pickled


def graph_data_file(adjacency: Any, features: Any, labels: Any = LABELS) -> bytes:
    plain = io.BytesIO()
    np.save(plain, labels.astype(np.int32))
    members = {"adj_matrix": as_published(adjacency), "node_attr": as_published(features)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {**members, "node_label": plain.getvalue()}.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def heterophilous_file(features: Any = WORDS) -> bytes:
    file = io.BytesIO()
    np.savez(file, edges=LINKS.T, node_labels=LABELS, node_features=features, train_masks=np.ones((10, 3), bool))
    return file.getvalue()


def matrix(links: Any) -> csr_matrix:
    entries = csr_matrix((np.ones(links.shape[1], np.float32), tuple(links)), shape=(NUM_NODES, NUM_NODES))
    entries.data[:] = 1
    return entries


CONTENTS: dict[type[NpzFile], bytes] = {
    GraphData: graph_data_file(matrix(LINKS), csr_matrix(WORDS)),
    Heterophilous: heterophilous_file(),
}


def made(kind: type[NpzFile], content: bytes, **others: Any) -> NpzFile:
    facts: dict[str, Any] = {
        "num_nodes": NUM_NODES,
        "num_links": 300,
        "num_classes": 3,
        "num_features": NUM_FEATURES,
    }
    sha256 = hashlib.sha256(content).hexdigest()
    address = "https://example.org/raw/small.npz"
    return kind("small", "Small", **facts, label_rate=0.667, address=address, sha256=sha256, **others)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where LCGNN_DATA points, with nothing in it, in the cache or at any address."""

    def urlopen(url: str, timeout: float) -> Any:
        raise URLError("no route to host")

    monkeypatch.setenv("LCGNN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


LAYOUTS = pytest.mark.parametrize("kind", CONTENTS)


@LAYOUTS
def test_a_published_file_becomes_an_undirected_graph_without_self_loops(
    kind: type[NpzFile], folder: Path
) -> None:
    (folder / "small.npz").write_bytes(CONTENTS[kind])
    graph, split = made(kind, CONTENTS[kind]).read()
    expected = np.zeros((NUM_NODES, NUM_NODES))
    for one, other in LINKS.T:
        if one != other:
            expected[one, other] = expected[other, one] = 1
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.labels, LABELS)
    norms = np.maximum(np.linalg.norm(WORDS, axis=1, keepdims=True), 1e-9)
    assert isinstance(graph.features, csr_array)
    np.testing.assert_allclose(graph.features.toarray(), WORDS / norms, rtol=1e-6)
    assert np.bincount(graph.labels[split.train]).tolist() == [20, 20, 20]
    assert (split.validation.size, split.test.size, split.name) == (10, 20, "random, 20 per class, seed 0")


def test_a_symmetric_matrix_lists_every_link_twice_and_a_directed_one_once(folder: Path) -> None:
    directed = matrix(LINKS)
    both = ((directed + directed.T) != 0).astype(np.float32)
    both.setdiag(0)
    both.eliminate_zeros()
    for adjacency, expected in ((directed, directed.nnz), (both, both.nnz // 2)):
        content = graph_data_file(adjacency, csr_matrix(WORDS))
        (folder / "small.npz").write_bytes(content)
        graph, _ = made(GraphData, content).read()
        assert graph.num_source_links == expected


def test_labels_may_start_at_any_number_and_classes_are_called_by_theirs_unless_they_have_names(
    folder: Path,
) -> None:
    content = graph_data_file(matrix(LINKS), csr_matrix(WORDS), LABELS + 1)
    (folder / "small.npz").write_bytes(content)
    graph, _ = made(GraphData, content).read()
    assert graph.class_names == ("1", "2", "3")
    np.testing.assert_array_equal(graph.labels, LABELS)
    named, _ = made(GraphData, content, class_names=("a", "b", "c")).read()
    assert named.class_names == ("a", "b", "c")


def test_what_measures_something_is_standardised(folder: Path) -> None:
    measured = RANDOM.normal(3, 5, (NUM_NODES, 4)).astype(np.float32)
    content = heterophilous_file(measured)
    (folder / "small.npz").write_bytes(content)
    graph, _ = made(Heterophilous, content, scaling="columns").read()
    assert isinstance(graph.features, np.ndarray)
    np.testing.assert_allclose(graph.features.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(graph.features.std(axis=0), 1, rtol=1e-6)


@pytest.mark.parametrize("factor", [0.001, 1000])
def test_counts_are_scaled_the_same_whatever_they_are_multiplied_by(factor: float) -> None:
    one, other = scaled(WORDS, "norm"), scaled(factor * WORDS, "norm")
    assert isinstance(one, csr_array)
    assert isinstance(other, csr_array)
    np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=1e-6)


@LAYOUTS
def test_a_file_is_fetched_from_its_address_once_and_kept(
    kind: type[NpzFile], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def urlopen(url: str, timeout: float) -> Any:
        asked.append(url)
        response: Any = io.BytesIO(CONTENTS[kind])
        response.headers = {}
        return response

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    found = made(kind, CONTENTS[kind])
    assert not found.is_here()
    first, again = found.read()[0], found.read()[0]
    assert asked == ["https://example.org/raw/small.npz"]
    assert first.checksum == again.checksum
    assert found.is_here()
    assert [file.name for file in folder.iterdir()] == ["small.npz"]


def test_a_wrong_file_at_the_address_is_neither_parsed_nor_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def urlopen(url: str, timeout: float) -> Any:
        response: Any = io.BytesIO(b"<html>Please log in</html>")
        response.headers = {}
        return response

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    with pytest.raises(DownloadError, match="what is there has a wrong checksum"):
        made(GraphData, CONTENTS[GraphData]).read()
    assert not list(folder.iterdir())


def test_offline_one_line_says_which_file_to_get_from_where_and_where_to_put_it(folder: Path) -> None:
    with pytest.raises(DownloadError) as raised:
        benchmark("acm").read()
    message = str(raised.value)
    assert "\n" not in message
    assert "https://github.com/EdisonLeeeee/GraphData/raw/" in message
    assert "no route to host" in message
    assert "Put acm.npz from there into a folder and set LCGNN_DATA to it." in message


@LAYOUTS
def test_a_file_that_is_not_the_published_one_is_named_and_not_read(kind: type[NpzFile], folder: Path) -> None:
    (folder / "small.npz").write_bytes(CONTENTS[kind] + b"\0")
    with pytest.raises(DataError, match=r"small\.npz: not the published file"):
        made(kind, CONTENTS[kind]).read()


@pytest.mark.parametrize("target", ["os system", "builtins eval", "numpy load"])
def test_a_pickle_that_names_anything_but_arrays_is_refused(target: str, folder: Path, tmp_path: Path) -> None:
    module, name = target.split()
    proof = tmp_path / "proof"
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": ()})
    evil = file.getvalue() + f"c{module}\n{name}\n(S'touch {proof}'\ntR.".encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("adj_matrix.npy", evil)
    (folder / "small.npz").write_bytes(content.getvalue())
    with pytest.raises(DataError, match=rf"small\.npz, adj_matrix: names {module}\.{name}"):
        made(GraphData, content.getvalue()).read()
    assert not proof.exists()


def test_a_matrix_with_an_entry_beyond_its_end_is_refused(folder: Path) -> None:
    beyond = matrix(LINKS)
    beyond.indices[0] = NUM_NODES + 5
    content = graph_data_file(beyond, csr_matrix(WORDS))
    (folder / "small.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"small\.npz, adj_matrix is no CSR matrix"):
        made(GraphData, content).read()


def test_a_benchmark_that_is_not_here_is_listed_as_published_and_nothing_is_fetched(folder: Path) -> None:
    found = made(Heterophilous, CONTENTS[Heterophilous])
    row = measured_or_published(found)
    assert (row["name"], row["nodes"], row["raw_links"], row["edges"]) == ("small", NUM_NODES, 300, None)
    (folder / "small.npz").write_bytes(CONTENTS[Heterophilous])
    assert measured_or_published(found)["edges"] == found.read()[0].num_edges


# As their sources count them, each once.
NUM_EDGES = {
    "acm": 13_128,
    "amazon_photo": 119_081,
    "amazon_cs": 245_861,
    "coauthor_cs": 81_894,
    "dblp": 52_867,
    "blogcatalog": 171_743,
    "chameleon_filtered": 8_854,
    "tolokers": 519_000,
}


@pytest.mark.parametrize("name", NUM_EDGES)
def test_a_benchmark_has_as_many_edges_as_its_source_says(name: str) -> None:
    if not benchmark(name).is_here():
        pytest.skip(f"{name} is not on this machine: LCGNN_DATA may name a folder that holds its file")
    assert benchmark(name).read()[0].num_edges == NUM_EDGES[name]


IN_ONE_FILE = [found for found in BENCHMARKS.values() if isinstance(found, NpzFile)]


@pytest.mark.parametrize("found", IN_ONE_FILE, ids=lambda found: found.key)
def test_a_published_file_has_an_address_of_one_commit_and_a_checksum(found: NpzFile) -> None:
    owner_and_file = found.address.removeprefix("https://github.com/").split("/")
    assert found.address.startswith("https://github.com/")
    assert len(owner_and_file[3]) == len("f8022c26b917346f2a461ffec0ec5ae24b36de68")
    assert len(bytes.fromhex(found.sha256)) == 32
    assert found.file_name == f"{found.key}.npz"
    assert found.class_names == () or len(found.class_names) == found.num_classes


def test_a_benchmark_is_the_same_if_its_settings_are() -> None:
    found: Benchmark = benchmark("tolokers")
    assert replace(found) == found
    assert found != benchmark("acm")
