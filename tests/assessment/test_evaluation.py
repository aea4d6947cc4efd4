import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from lcgnn.assessment.evaluation import (
    PairedDifference,
    Summary,
    accuracy,
    accuracy_by_consistency,
    are_unequal,
    balanced_accuracy,
    bootstrap_interval,
    calibration_error,
    confusion,
)
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph

accuracies = st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), min_size=3, max_size=20)


def test_accuracy_counts_the_given_nodes_only() -> None:
    distribution = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], dtype=np.float32)
    labels = np.array([0, 1, 1])
    assert accuracy(distribution, labels, np.array([0, 1, 2])) == pytest.approx(2 / 3)
    assert accuracy(distribution, labels, np.array([2])) == 0


def test_accuracy_of_no_nodes_is_not_a_number() -> None:
    assert math.isnan(
        accuracy(np.ones((1, 1), dtype=np.float32), np.zeros(1, dtype=np.int64), np.array([], dtype=np.int64))
    )


def test_the_spread_is_the_sample_standard_deviation() -> None:
    assert Summary.of([1.0, 2.0, 3.0]) == Summary(2.0, 1.0, 3)
    assert Summary.of([5.0]).std == 0


def test_nothing_cannot_be_summarised() -> None:
    with pytest.raises(ConfigError, match="no seed"):
        Summary.of([])


@given(accuracies)
def test_the_paired_test_and_interval_are_scipys(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    difference = np.subtract(first, second)
    if difference.std() < 1e-6:
        return
    ours, theirs = PairedDifference.between(first, second), ttest_rel(first, second)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-6)
    interval = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-12)
    assert ours.wins == sum(a > b for a, b in pairs)


def test_equal_results_are_no_difference() -> None:
    assert PairedDifference.between([0.5, 0.6], [0.5, 0.6]).p_value == 1


def test_one_seed_has_no_interval() -> None:
    alone = PairedDifference.between([0.8], [0.7])
    assert alone.mean == pytest.approx(0.1)
    assert math.isnan(alone.p_value)


def test_different_seeds_cannot_be_paired() -> None:
    with pytest.raises(ConfigError, match="same seeds"):
        PairedDifference.between([0.8], [0.7, 0.6])


def test_confusion_counts_as_scikit_learn_does():
    generator = np.random.default_rng(0)
    distribution = generator.dirichlet(np.ones(4), size=50).astype(np.float32)
    labels, nodes = generator.integers(4, size=50), np.arange(10, 45)
    expected = confusion_matrix(labels[nodes], distribution[nodes].argmax(axis=1), labels=range(4))
    np.testing.assert_array_equal(confusion(distribution, labels, nodes), expected)


def test_calibration_error_of_a_constant_confidence_is_its_distance_from_the_accuracy():
    distribution = np.tile(np.array([0.8, 0.2], dtype=np.float32), (10, 1))
    labels = np.array([0] * 5 + [1] * 5)
    assert calibration_error(distribution, labels, np.arange(10)) == pytest.approx(0.3, abs=1e-6)
    assert calibration_error(distribution, labels, np.arange(5)) == pytest.approx(0.2, abs=1e-6)


def test_calibration_error_weighs_its_bins_by_their_nodes():
    distribution = np.array([[1.0, 0.0]] * 3 + [[0.6, 0.4]], dtype=np.float32)
    # Three certain nodes of which two are right, one of 60 % that is wrong.
    assert calibration_error(distribution, np.array([0, 0, 1, 1]), np.arange(4)) == pytest.approx(
        3 / 4 * 1 / 3 + 1 / 4 * 0.6, abs=1e-6
    )


def test_calibration_error_at_the_edges_of_confidence():
    ones = np.ones((4, 1), dtype=np.float32)
    assert calibration_error(ones, np.zeros(4, dtype=np.int64), np.arange(4)) == 0
    assert np.isnan(calibration_error(ones, np.zeros(4, dtype=np.int64), np.empty(0, dtype=np.int64)))


def star() -> Graph:
    """A centre of class 0 with two neighbours of class 0, one of class 1, and a node on its own."""
    edges = np.array([[0, 0, 0], [1, 2, 3]])
    return Graph.from_edges("star", edges, 5, np.array([0, 0, 0, 1, 1]), ("a", "b"))


def test_label_consistency_is_the_share_of_equally_labelled_neighbours():
    np.testing.assert_allclose(star().label_consistency, [2 / 3, 1, 1, 0, np.nan])


def test_accuracy_by_consistency_counts_every_node_with_neighbours_once():
    distribution = np.array([[1, 0]] * 5, dtype=np.float32)  # everything is said to be class 0
    bins = accuracy_by_consistency(distribution, star(), np.arange(5))
    assert [(item.nodes, item.correct) for item in bins] == [(1, 0), (0, 0), (0, 0), (1, 1), (2, 2)]
    assert [item.low for item in bins] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])


def test_the_bootstrap_interval_holds_the_mean_and_shrinks_with_the_spread() -> None:
    values = [0.70, 0.72, 0.74, 0.76, 0.78]
    low, high = bootstrap_interval(values)
    assert 0.70 < low < np.mean(values) < high < 0.78
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval([0.7, 0.7]) == pytest.approx((0.7, 0.7))


def test_nothing_cannot_be_resampled() -> None:
    with pytest.raises(ConfigError, match="no seed"):
        bootstrap_interval([])


@pytest.mark.parametrize("seed", range(3))
def test_balanced_accuracy_is_that_of_scikit_learn(seed: int) -> None:
    generator = np.random.default_rng(seed)
    labels, distribution = generator.integers(4, size=60) ** 2 % 7, generator.random((60, 7), dtype=np.float32)
    confused = confusion(distribution, labels, np.arange(60))
    with warnings.catch_warnings():
        # Classes that are predicted but not there.
        warnings.simplefilter("ignore")
        expected = balanced_accuracy_score(labels, distribution.argmax(axis=1))
    assert balanced_accuracy(confused.diagonal(), confused.sum(axis=1)) == pytest.approx(expected)


def test_classes_are_unequal_if_one_is_twice_as_large_as_another() -> None:
    assert are_unequal(np.array([10, 5, 0]))
    assert not are_unequal(np.array([9, 5, 0]))
    assert not are_unequal(np.array([9]))
    assert np.isnan(balanced_accuracy(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)))
