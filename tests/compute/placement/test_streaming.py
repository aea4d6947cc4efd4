"""Who holds which nodes, found without the graph in memory."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.compute.placement import cutting
from lcgnn.compute.placement.cutting import assign, checked_by, cut
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph
from lcgnn.sources.arrays import load_arrays
from lcgnn.sources.generated.blocks import Blocks
from lcgnn.sources.generated.writing import write_arrays


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated") / "graph"
    write_arrays(Blocks(20_000, 200_000, num_features=8, num_classes=4), folder)
    return load_arrays(folder)


def share_between(graph: Graph, assignment: np.ndarray) -> float:
    nodes, neighbours = graph.adjacency.nonzero()
    return float(np.mean(assignment[nodes] != assignment[neighbours]))


@pytest.mark.parametrize("num_parts", [2, 5])
def test_parts_have_equal_work_and_few_edges_between_them(generated, num_parts):
    graph, _ = generated
    assignment = assign(graph, num_parts, "stream")
    work = np.bincount(assignment, weights=np.diff(graph.adjacency.indptr) + 10, minlength=num_parts)
    assert work.max() < 1.05 * work.mean()
    at_random = np.random.default_rng(0).permutation(assignment)
    assert share_between(graph, assignment) < 0.6 * share_between(graph, at_random)
    assert np.array_equal(assignment, assign(graph, num_parts, "stream"))


def test_two_groups_with_one_edge_between_them_are_told_apart():
    group = 1 - np.eye(40)
    both = np.block([[group, np.zeros((40, 40))], [np.zeros((40, 40)), group]])
    both[0, 40] = both[40, 0] = 1
    shuffled = np.random.default_rng(1).permutation(80)
    graph = Graph("groups", csr_array(both[np.ix_(shuffled, shuffled)]), np.zeros(80, dtype=np.int64), ("a",))
    assignment = assign(graph, 2, "stream")
    assert len(set(assignment[shuffled < 40])) == len(set(assignment[shuffled >= 40])) == 1


def test_nodes_without_neighbours_are_shared_out():
    graph = Graph("alone", csr_array((90, 90), dtype=np.float32), np.zeros(90, dtype=np.int64), ("a",))
    assert np.bincount(assign(graph, 3, "stream")).tolist() == [30, 30, 30]


def test_what_metis_has_no_memory_for_is_streamed(generated, monkeypatch):
    graph, _ = generated
    monkeypatch.setattr(cutting, "available", lambda: 10**6)
    assert np.array_equal(assign(graph, 2), assign(graph, 2, "stream"))
    monkeypatch.setattr(cutting, "available", lambda: 10**12)
    assert np.array_equal(assign(graph, 2), assign(graph, 2, "metis"))


def test_parts_that_are_cut_in_pieces_are_those_that_are_cut_at_once(generated, monkeypatch):
    graph, split = generated
    assignment = assign(graph, 3, "stream")
    at_once = list(cut(graph, split, assignment))
    for name in ("_ROWS", "_ENTRIES"):
        monkeypatch.setattr(cutting, name, 1000)
    monkeypatch.setattr("lcgnn.compute.placement.rows.ENTRIES", 1000)
    for part, expected in zip(cut(graph, split, assignment), at_once, strict=True):
        for name in ("nodes", "labels", "uses", "features", "row_starts", "send_rows", "send_counts"):
            assert np.array_equal(getattr(part, name), getattr(expected, name)), name
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(part.adjacency, name), getattr(expected.adjacency, name)), name


def test_more_parts_than_nodes_and_unknown_ways_are_refused():
    graph = Graph("two", csr_array(np.array([[0, 1], [1, 0]])), np.array([0, 1]), ("a", "b"))
    with pytest.raises(DataError, match="2 nodes do not fall into 5 parts"):
        assign(graph, 5, "stream")
    with pytest.raises(ConfigError, match="can be cut by auto, metis, stream, not 'chance'"):
        checked_by("chance")
