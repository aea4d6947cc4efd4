"""Doubtful labels: the confident joint by hand and by plain loops, and what is listed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lcgnn.assessment.doubt import (
    NONE,
    confident_classes,
    confident_joint,
    doubtful_labels,
    estimated_wrong,
    soft_classes,
    suspicion,
    thresholds,
)
from lcgnn.errors import InputError
from lcgnn.graph import Graph

# Two labels of class 0 that look it, one that looks like 1; two of class 1, one of them hardly sure of anything.
GIVEN = np.array([0, 0, 0, 1, 1])
HELD_OUT = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7], [0.45, 0.55]])


def drawn(seed: int, count: int, num_classes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    return random.integers(0, num_classes, count), random.dirichlet(np.ones(num_classes), count)


def joint_by_loops(labels: NDArray[np.int64], held_out: NDArray[np.float64]) -> NDArray[np.int64]:
    """The definition in the paper, a node and a class at a time."""
    num_classes = held_out.shape[1]
    joint = np.zeros((num_classes, num_classes), dtype=np.int64)
    limits = {
        c: np.mean([row[c] for row, own in zip(held_out, labels, strict=True) if own == c]) for c in set(labels)
    }
    for row, own in zip(held_out, labels, strict=True):
        able = [c for c in limits if row[c] >= limits[c] - 1e-9]
        if able:
            joint[own, max(able, key=lambda c: row[c])] += 1
    return joint


def test_a_threshold_is_the_mean_probability_of_a_class_over_its_own_labels() -> None:
    np.testing.assert_allclose(thresholds(GIVEN, HELD_OUT), [0.6, 0.625])
    assert np.isinf(thresholds(np.zeros(5, dtype=np.int64), HELD_OUT)[1])


def test_the_confident_joint_of_five_labels_is_what_it_is_by_hand() -> None:
    assert confident_classes(GIVEN, HELD_OUT).tolist() == [0, 0, 1, 1, NONE]
    assert confident_joint(GIVEN, HELD_OUT).tolist() == [[2, 1], [0, 1]]
    # A third of the three labels of class 0, none of the two of class 1.
    assert estimated_wrong(GIVEN, HELD_OUT) == pytest.approx(1.0)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(2, 6))
def test_the_confident_joint_is_that_of_the_definition(seed: int, count: int, num_classes: int) -> None:
    labels, held_out = drawn(seed, count, num_classes)
    np.testing.assert_array_equal(confident_joint(labels, held_out), joint_by_loops(labels, held_out))


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 6))
def test_what_is_listed_holds_for_any_predictions(seed: int, count: int, num_classes: int) -> None:
    labels, held_out = drawn(seed, count, num_classes)
    nodes = np.random.default_rng(seed).permutation(3 * count)[:count]
    every = np.full(3 * count, -1)
    every[nodes] = labels
    doubts = doubtful_labels(every, nodes, held_out)
    row_of = {int(node): row for row, node in enumerate(nodes)}
    assert len(doubts) <= np.ceil(0.2 * count)
    for doubt in doubts:
        row = held_out[row_of[doubt.node]]
        assert doubt.given == every[doubt.node] != doubt.instead
        assert row.argmax() != doubt.given
        assert (doubt.probability, doubt.of_given) == (row[doubt.instead], row[doubt.given])
    order = [suspicion(labels, held_out)[row_of[doubt.node]] for doubt in doubts]
    assert order == sorted(order, reverse=True)
    # The order in which labels were held out tells nothing.
    turned = doubtful_labels(every, nodes[::-1], held_out[::-1])
    assert {doubt.node for doubt in turned} == {doubt.node for doubt in doubts}


def test_predictions_that_agree_with_the_labels_doubt_nothing() -> None:
    labels = np.array([0, 1, 2, 0, 1, 2])
    assert doubtful_labels(labels, np.arange(6), np.eye(3)[labels]) == ()


def test_soft_classes_are_the_classes_of_the_other_labels_by_the_pairwise_product() -> None:
    labels, held_out = drawn(3, 30, 4)
    pairwise = held_out @ held_out.T
    np.fill_diagonal(pairwise, 0)
    pairwise /= pairwise.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(soft_classes(labels, held_out), pairwise @ np.eye(4)[labels], atol=1e-12)


def test_a_reason_names_both_classes_and_counts_the_labelled_neighbours() -> None:
    edges = np.array([[2, 2, 2, 0], [3, 4, 0, 1]])
    graph = Graph.from_edges("five", edges, 5, GIVEN, ("cat", "dog"), node_names=np.array(list("abcde")))
    (doubt,) = doubtful_labels(GIVEN, np.arange(5), HELD_OUT, graph=graph)
    assert doubt.reason.startswith("Without this label it is dog by 90 %, cat by 10 %.")
    assert "Of its 3 labelled neighbours 2 are dog, 1 is cat." in doubt.reason
    # A label that is not to be known is not read from the graph.
    hidden = np.where(np.arange(5) == 4, -1, GIVEN)
    (doubt,) = doubtful_labels(hidden, np.arange(4), HELD_OUT[:4], graph=graph)
    assert "Of its 2 labelled neighbours 1 is cat, 1 is dog." in doubt.reason
    assert doubt.to_json(graph)["id"] == "c"
    assert doubt.to_json(graph)["instead"] == "dog"


@pytest.mark.parametrize(
    ("labels", "held_out"), [([0, -1], np.eye(2)), ([0, 2], np.eye(2)), ([0, 1], np.eye(3)), ([0, 1], np.ones(2))]
)
def test_labels_and_predictions_that_do_not_belong_together_are_refused(
    labels: list[int], held_out: object
) -> None:
    with pytest.raises(InputError):
        doubtful_labels(np.array(labels), np.arange(2), np.asarray(held_out))
