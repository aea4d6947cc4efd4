"""Arrays become a graph: labels of every type, edges with weights, features as they are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array
from sklearn.preprocessing import StandardScaler, normalize

from lcgnn import from_arrays
from lcgnn.errors import ConfigError, DataError, InputError
from lcgnn.features.scaling import Scaling
from lcgnn.sources.in_memory import class_labels
from lcgnn.sources.links import links_of, links_of_edges

PATH = np.array([[0, 1, 2], [1, 2, 3]])


def test_features_labels_and_edges_become_a_graph() -> None:
    features = np.arange(8).reshape(4, 2)
    made = from_arrays(features, [3, 7, -1, -1], links_of(PATH, 4), node_names=list("abcd"), scaling="none")
    assert made.graph.class_names == ("3", "7")
    assert made.graph.labels.tolist() == [0, 1, -1, -1]
    assert made.graph.num_edges == 3
    np.testing.assert_array_equal(made.graph.features, features)
    assert made.split.train.tolist() == [0, 1]
    assert made.graph.node_names.tolist() == list("abcd")


def test_features_are_scaled_unless_they_are_to_be_taken_as_they_are() -> None:
    features = np.arange(8.0).reshape(4, 2)
    made = from_arrays(1000 * features, [3, 7, -1, -1], links_of(PATH, 4))
    np.testing.assert_allclose(made.graph.features, StandardScaler().fit_transform(features), rtol=1e-6)
    assert made.form is not None
    assert made.form.scaling == Scaling.fit(1000 * features)


def test_class_names_may_include_some_that_no_node_has() -> None:
    made = from_arrays(None, np.array([2, -1, 0]), np.ones((3, 3)), class_names=["a", "b", "c"])
    assert made.graph.class_names == ("a", "b", "c")
    assert made.graph.labels.tolist() == [2, -1, 0]
    with pytest.raises(InputError, match="numbers from 0 to 1"):
        from_arrays(None, np.array([2, -1, 0]), np.ones((3, 3)), class_names=["a", "b"])


def test_features_that_are_none_are_made_of_the_edges() -> None:
    made = from_arrays(None, [0, 1, -1], np.ones((3, 3)))
    assert made.graph.num_features == 65
    assert made.graph.num_edges == 3


@pytest.mark.parametrize("features", [np.array([["a"], ["b"], ["c"]]), np.arange(3)])
def test_features_that_are_no_table_of_numbers_are_refused(features: Any) -> None:
    with pytest.raises(InputError, match="features: "):
        from_arrays(features, [0, 1, -1], None)


def test_labels_are_numbered_in_order_whatever_their_type() -> None:
    for values in (["b", "", "a", "b"], [2.5, np.nan, 1.5, 2.5], [True, None, False, True], [9, -1, 3, 9]):
        labels, classes = class_labels(np.array(values, dtype=None if isinstance(values[1], str) else object))
        assert labels.tolist() == [1, -1, 0, 1]
        assert classes.tolist() == sorted({values[0], values[2]})


def test_the_largest_of_two_weights_counts_in_both_directions() -> None:
    links = links_of(np.array([[0, 2.0, 0], [1.0, 0, 0], [0, 3.0, 0]]), 3)
    assert "2 edges are there in one direction only, or with another weight" in links.notes[0]
    made = from_arrays(np.eye(3), [0, 1, -1], links)
    assert made.graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
    assert made.notes == links.notes


def test_a_symmetric_matrix_with_zeros_stored_has_nothing_to_tell() -> None:
    matrix = csr_array(([1.0, 1.0, 0.0], ([0, 1, 2], [1, 0, 0])), shape=(3, 3))
    links = links_of(matrix, 3)
    assert links.notes == ()
    assert links.weights is None
    assert links.edges.tolist() == [[0, 1], [1, 0]]


def test_an_edge_that_is_listed_twice_is_one_edge() -> None:
    links = links_of(np.array([[0, 0, 1, 1, 2], [1, 1, 0, 2, 1]]), 3)
    assert links.notes == ()
    assert from_arrays(np.eye(3), [0, 1, -1], links).graph.num_edges == 2


def test_entries_of_a_sparse_matrix_at_the_same_place_add_up() -> None:
    matrix = coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    links = links_of(matrix, 2)
    assert links.notes == ()
    assert links.weights.tolist() == [3.0, 3.0]
    assert matrix.nnz == 3


def test_edges_may_have_weights() -> None:
    links = links_of_edges(PATH, np.array([1, 2, 3]), 4)
    graph = from_arrays(np.eye(4), [0, 1, -1, -1], links).graph
    assert graph.adjacency[1, 2] == graph.adjacency[2, 1] == 2
    for weights in (np.ones(2), np.array([1, 0, 1]), np.array([1, np.nan, 1]), np.array(["1"] * 3)):
        with pytest.raises(InputError, match="edge_weight"):
            links_of_edges(PATH, weights, 4)


@pytest.mark.parametrize("sparse", [True, False])
def test_scaling_equals_that_of_scikit_learn(sparse: bool) -> None:
    values = np.random.default_rng(0).normal(3, 2, size=(20, 4))
    values[:, 1] = 5.0
    given = csr_array(values) if sparse else values
    columns = Scaling.fit(given, "columns")
    np.testing.assert_allclose(columns.apply(given), StandardScaler().fit_transform(values), atol=1e-6)
    rows: Any = Scaling.fit(given, "rows").apply(given)
    np.testing.assert_allclose(csr_array(rows).toarray(), normalize(values, "l1"), rtol=1e-6)
    norm: Any = Scaling.fit(given, "norm").apply(given)
    np.testing.assert_allclose(csr_array(norm).toarray(), normalize(values), rtol=1e-6)
    assert Scaling.fit(given, "none").apply(given) is given


def test_counts_are_scaled_by_row_and_other_numbers_by_column() -> None:
    counts = np.random.default_rng(0).poisson(0.1, size=(50, 20)).astype(float)
    assert Scaling.fit(counts).kind == Scaling.fit(csr_array(counts)).kind == "norm"
    assert Scaling.fit(-counts).kind == "norm"
    assert Scaling.fit(counts + 1).kind == "columns"
    with pytest.raises(ConfigError, match="auto, columns, rows, norm, none"):
        Scaling.fit(counts, "row")  # type: ignore[arg-type]


def test_a_scaling_is_plain_data_and_a_damaged_one_is_refused() -> None:
    values = np.random.default_rng(0).normal(size=(9, 3))
    scaling = Scaling.fit(values)
    again = Scaling.from_json(scaling.to_json())
    np.testing.assert_array_equal(again.apply(values), scaling.apply(values))
    content: Any
    for content in (
        None,
        [],
        {"kind": "columns"},
        {**scaling.to_json(), "mean": "x"},
        {**scaling.to_json(), "kind": 3},
    ):
        with pytest.raises(DataError, match="damaged"):
            Scaling.from_json(content)


@given(
    matrix=arrays(np.float64, (5, 5), elements=st.sampled_from([0.0, 0.0, 1.0, 0.5, 2.0])),
    form=st.sampled_from([np.asarray, csr_array, coo_array]),
)
def test_the_edges_of_any_matrix_are_the_larger_of_both_directions_without_the_diagonal(
    matrix: Any, form: Any
) -> None:
    links = links_of(form(matrix), 5)
    graph = from_arrays(np.eye(5), [0, 1, -1, -1, -1], links).graph
    expected = np.maximum(matrix, matrix.T) * (1 - np.eye(5))
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    assert bool(links.notes) == (not np.array_equal(matrix, matrix.T))
