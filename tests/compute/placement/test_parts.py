"""Cutting a graph, without any other process: what the parts hold is what the graph holds."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.compute.sparse import normalized_adjacency
from lcgnn.errors import DataError, OutputError
from lcgnn.graph import Graph, Split
from lcgnn.sources.parts.files import read_manifest, read_nodes, read_part, write_parts
from lcgnn.sources.parts.part import Part
from lcgnn.sources.parts.parted import holds_parts, load_parted

DESCRIBED = {"name": "small", "checksum": "abc", "split": "small"}


def cut_into(graph: Graph, split: Split, num_parts: int) -> list[Part]:
    return list(cut(graph, split, assign(graph, num_parts)))


def boundary_nodes(parts: list[Part], receiver: int) -> np.ndarray:
    """The global numbers of the rows that a part gets, if every other part sends what it says."""
    received = []
    for sender, part in enumerate(parts):
        ends = np.cumsum(part.send_counts)
        rows = part.send_rows[ends[receiver] - part.send_counts[receiver] : ends[receiver]]
        assert rows.size == parts[receiver].receive_counts[sender]
        received.append(part.nodes[rows])
    return np.concatenate(received)


@pytest.mark.parametrize("num_parts", [1, 2, 3, 4])
def test_the_parts_rows_are_the_rows_of_the_normalised_adjacency(small_graph, num_parts):
    graph, split = small_graph()
    parts = cut_into(graph, split, num_parts)
    whole = normalized_adjacency(graph.adjacency)
    assert np.array_equal(np.sort(np.concatenate([part.nodes for part in parts])), np.arange(graph.num_nodes))
    for number, part in enumerate(parts):
        columns = np.concatenate([part.nodes, boundary_nodes(parts, number)])
        for row, node in enumerate(part.nodes):
            entries = slice(part.adjacency.indptr[row], part.adjacency.indptr[row + 1])
            expected = slice(whole.indptr[node], whole.indptr[node + 1])
            # In the whole matrix's order, which is what the masks of attention are numbered by.
            assert np.array_equal(columns[part.adjacency.indices[entries]], whole.indices[expected])
            assert np.array_equal(part.adjacency.data[entries], whole.data[expected])
            assert part.row_starts[row] == whole.indptr[node]


@pytest.mark.parametrize("sparse", [False, True])
def test_features_labels_and_split_go_with_their_nodes(small_graph, sparse):
    graph, split = small_graph(sparse=sparse)
    parts = cut_into(graph, split, 3)
    for part in parts:
        assert np.array_equal(part.labels, graph.labels[part.nodes])
        difference = part.features - graph.features[part.nodes]
        assert abs(difference).max() == 0
        for use in ("train", "validation", "test"):
            expected = np.intersect1d(part.nodes, getattr(split, use))
            assert np.array_equal(part.nodes[part.used_for(use)], expected)


def test_the_work_is_balanced_and_the_cut_is_smaller_than_a_random_one(small_graph):
    graph, _ = small_graph()
    assignment = assign(graph, 2)
    work = np.bincount(assignment, weights=np.diff(graph.adjacency.indptr) + 10)
    assert work.max() / work.sum() < 0.55
    rows, columns = graph.adjacency.nonzero()
    assert np.mean(assignment[rows] != assignment[columns]) < 0.3
    assert np.array_equal(assignment, assign(graph, 2))


def test_self_loops_of_arrays_that_nobody_may_write_to_do_not_count():
    along = np.arange(39)
    chain = csr_array((np.ones(39, dtype=np.float32), (along, along + 1)), shape=(40, 40))
    looped = csr_array(chain + chain.T + eye_array(40, dtype=np.float32))
    for array in (looped.data, looped.indices, looped.indptr):
        array.flags.writeable = False
    graph = Graph("looped", looped, np.zeros(40, dtype=np.int64), ("a",))
    parts = assign(graph, 2, "metis")
    assert int((np.diff(parts) != 0).sum()) == 1
    assert np.array_equal(graph.adjacency.diagonal(), np.ones(40))


def test_more_parts_than_nodes_are_refused():
    graph = Graph("two", csr_array(np.array([[0, 1], [1, 0]])), np.array([0, 1]), ("a", "b"))
    with pytest.raises(DataError, match="2 nodes do not fall into 5 parts"):
        assign(graph, 5)
    with pytest.raises(DataError, match="1 part or more, not 0"):
        assign(graph, 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_part_comes_back_from_disk_as_it_was(tmp_path: Path, small_graph, sparse):
    graph, split = small_graph(sparse=sparse)
    parts = cut_into(graph, split, 3)
    write_parts(tmp_path / "parts", graph, split, parts, DESCRIBED)
    manifest = read_manifest(tmp_path / "parts")
    for number, part in enumerate(parts):
        again = read_part(tmp_path / "parts", manifest, number)
        for name in ("nodes", "labels", "uses", "row_starts", "send_rows", "send_counts", "receive_counts"):
            assert np.array_equal(getattr(again, name), getattr(part, name)), name
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(again.adjacency, name), getattr(part.adjacency, name)), name
        assert abs(again.features - part.features).max() == 0
    cut_entries = sum(int((part.adjacency.indices >= part.num_nodes).sum()) for part in parts)
    assert manifest.cut_edges == cut_entries / 2


def test_the_rank_that_reports_knows_every_node_without_edges_and_features(tmp_path: Path, small_graph):
    graph, split = small_graph(named=True)
    write_parts(
        tmp_path / "parts", graph, split, cut_into(graph, split, 2), {**DESCRIBED, "checksum": graph.checksum}
    )
    assert holds_parts(tmp_path / "parts")
    assert not holds_parts(tmp_path)
    parted, same = load_parted(tmp_path / "parts")
    assert (parted.checksum, parted.num_edges, parted.num_features) == (graph.checksum, graph.num_edges, 10)
    assert np.array_equal(parted.labels, graph.labels)
    assert np.array_equal(parted.node_names, graph.node_names)
    assert np.array_equal(parted.label_consistency, graph.label_consistency, equal_nan=True)
    for use in ("train", "validation", "test"):
        assert np.array_equal(getattr(same, use), np.sort(getattr(split, use)))


def test_a_damaged_folder_is_told_from_a_whole_one(tmp_path: Path, small_graph):
    graph, split = small_graph()
    folder = tmp_path / "parts"
    manifest = write_parts(folder, graph, split, cut_into(graph, split, 2), DESCRIBED)
    with pytest.raises(OutputError, match="is there already"):
        write_parts(folder, graph, split, cut_into(graph, split, 2), DESCRIBED)

    part = folder / "part-1.safetensors"
    content = part.read_bytes()
    os.truncate(part, 1000)
    with pytest.raises(
        DataError, match=r"part-1.safetensors has 1000 bytes and should have \d+: it was cut short"
    ):
        read_part(folder, manifest, 1)
    part.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DataError, match="its checksum differs"):
        read_part(folder, manifest, 1)
    part.unlink()
    with pytest.raises(DataError, match=r"part-1\.safetensors is missing"):
        read_part(folder, manifest, 1)
    assert read_part(folder, manifest, 0).num_nodes == manifest.parts[0].nodes

    (folder / "nodes.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"nodes\.parquet has 4 bytes"):
        read_nodes(folder, manifest)
    told = json.loads((folder / "parts.json").read_text())
    (folder / "parts.json").write_text(json.dumps({**told, "parts": [{}]}))
    with pytest.raises(DataError, match=r"parts.json is damaged .* Cut the graph again"):
        read_manifest(folder)
    (folder / "parts.json").write_text(json.dumps({**told, "format": "lcgnn parts 0"}))
    with pytest.raises(DataError, match="another version of lcgnn"):
        read_manifest(folder)
