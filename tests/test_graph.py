import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split, row_normalized

PATH = np.array([[0, 1, 2], [1, 2, 3]])  # 0 - 1 - 2 - 3, and node 4 alone
LABELS = np.array([0, 1, -1, 0, 1])


def path_graph(edges=PATH, **options) -> Graph:
    return Graph.from_edges("path", edges, 5, options.pop("labels", LABELS), ("a", "b"), **options)


def test_edges_are_stored_in_both_directions():
    expected = np.zeros((5, 5))
    expected[[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]] = 1
    np.testing.assert_array_equal(path_graph().adjacency.toarray(), expected)


def test_directions_and_duplicates_are_merged_and_self_loops_dropped():
    links = np.array([[0, 1, 0, 1, 2, 2, 3], [1, 0, 1, 2, 2, 3, 2]])
    graph = path_graph(links)
    assert graph.num_edges == 3
    assert graph.checksum == path_graph().checksum


def test_of_several_weights_of_an_edge_the_largest_counts():
    graph = path_graph(np.array([[0, 1, 1], [1, 0, 2]]), weights=np.array([0.5, 2.0, 3.0]))
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 2.0
    assert graph.adjacency[2, 1] == 3.0


def test_a_self_loop_in_the_adjacency_matrix_counts_as_one_edge():
    graph = Graph("loop", csr_array(np.array([[1.0, 1.0], [1.0, 0.0]])), np.array([0, 0]), ("a",))
    assert graph.num_edges == 2


def test_the_known_labels_are_listed_in_node_order():
    np.testing.assert_array_equal(path_graph().labelled, [0, 1, 3, 4])


def test_the_arrays_of_a_graph_cannot_be_changed():
    graph = path_graph(features=np.eye(5, dtype=np.float32))
    for array in (graph.labels, graph.features, graph.adjacency.data, graph.adjacency.indices):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_graph_does_not_change_with_the_arrays_it_was_made_from():
    labels = LABELS.copy()
    graph = path_graph(labels=labels)
    labels[0] = 1
    assert graph.labels[0] == 0


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_the_checksum_does_not_depend_on_the_index_type_of_the_source(index_type):
    matrix = csr_array(path_graph().adjacency, copy=True)
    matrix.indices = matrix.indices.astype(index_type)
    matrix.indptr = matrix.indptr.astype(index_type)
    assert Graph("path", matrix, LABELS, ("a", "b")).checksum == path_graph().checksum


@pytest.mark.parametrize(
    "changed",
    [
        path_graph(np.array([[0, 1], [1, 2]])),
        path_graph(labels=np.array([1, 1, -1, 0, 1])),
        path_graph(weights=np.array([1.0, 1.0, 2.0])),
        path_graph(features=np.eye(5, dtype=np.float32)),
        Graph.from_edges("path", PATH, 5, LABELS, ("a", "c")),
    ],
)
def test_the_checksum_changes_with_whatever_can_change_a_result(changed):
    assert changed.checksum != path_graph().checksum


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": np.array([[0], [5]])}, "outside 0..4"),
        ({"edges": np.array([[0], [-1]])}, "outside 0..4"),
        ({"edges": np.array([0, 1])}, "shape"),
        ({"labels": np.array([0, 1, 2, 0, 0])}, "0..1"),
        ({"labels": np.array([0, -2, 0, 0, 0])}, "0..1"),
        ({"labels": np.array([0, 1])}, "for 5 nodes"),
        ({"features": np.ones((4, 2), dtype=np.float32)}, "for 5 nodes"),
        ({"features": np.full((5, 1), np.nan, dtype=np.float32)}, "NaN"),
        ({"node_names": np.array(["a", "b"])}, "node names for 5 nodes"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "positive"),
        ({"weights": np.array([1.0, np.inf, 1.0])}, "finite"),
    ],
)
def test_a_wrong_input_is_told_with_the_name_of_the_graph(options, message):
    with pytest.raises(DataError, match=f"path.*{message}"):
        path_graph(**options)


def test_a_matrix_that_is_not_symmetric_is_refused_with_what_to_do():
    with pytest.raises(DataError, match=r"not symmetric.*Graph\.from_edges"):
        Graph("one way", csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])), np.array([0, 0]), ("a",))


def test_two_classes_of_the_same_name_are_refused():
    with pytest.raises(DataError, match="same name"):
        Graph.from_edges("path", PATH, 5, LABELS, ("a", "a"))


def test_a_graph_without_nodes_is_refused():
    with pytest.raises(DataError, match="no nodes"):
        Graph("empty", csr_array((0, 0)), np.array([]), ("a",))


@pytest.mark.parametrize(
    "parts",
    [([0, 1], [1], []), ([0, 0], [], []), ([0], [2], [2])],
)
def test_a_node_may_be_in_a_split_only_once(parts):
    train, validation, test = map(np.array, parts)
    with pytest.raises(DataError, match="twice"):
        Split(train, validation, test)


def test_nothing_is_trained_by_a_split_without_a_training_node():
    with pytest.raises(DataError, match="training node"):
        Split(np.array([]), np.array([1]), np.array([2])).check(path_graph())


def test_a_split_may_only_name_labelled_nodes_of_the_graph():
    Split(np.array([0]), np.array([1]), np.array([3])).check(path_graph())
    with pytest.raises(DataError, match="node 2 of path, whose label is unknown"):
        Split(np.array([0]), np.array([2]), np.array([])).check(path_graph())
    with pytest.raises(DataError, match="names node 9; path has 5 nodes"):
        Split(np.array([9]), np.array([]), np.array([])).check(path_graph())


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_row_normalisation_makes_rows_sum_to_one_and_keeps_zero_rows(kind):
    features = kind(np.array([[1.0, 3.0], [0.0, 0.0], [0.0, 2.0]], dtype=np.float32))
    normalized = row_normalized(features)
    assert isinstance(normalized, type(features))
    assert normalized.dtype == np.float32
    dense = normalized.toarray() if kind is csr_array else normalized
    np.testing.assert_array_equal(dense, [[0.25, 0.75], [0, 0], [0, 1]])
