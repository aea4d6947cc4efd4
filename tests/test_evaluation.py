import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from lcgnn.errors import ConfigError
from lcgnn.evaluation import PairedDifference, Summary, accuracy, bootstrap_interval

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


def test_the_bootstrap_interval_holds_the_mean_and_shrinks_with_the_spread() -> None:
    values = [0.70, 0.72, 0.74, 0.76, 0.78]
    low, high = bootstrap_interval(values)
    assert 0.70 < low < np.mean(values) < high < 0.78
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval([0.7, 0.7]) == pytest.approx((0.7, 0.7))


def test_nothing_cannot_be_resampled() -> None:
    with pytest.raises(ConfigError, match="no seed"):
        bootstrap_interval([])
