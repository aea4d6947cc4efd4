"""The temperature of probabilities and how far off they are: closed forms, invariants, simulated labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import foldnorm

from lcgnn.assessment.calibration import Calibration, HeldOut, at_temperature, fit_temperature
from lcgnn.assessment.evaluation import calibration_error
from lcgnn.errors import ConfigError


def held_out(confidence: float, right: int, wrong: int, folds: int = 5) -> HeldOut:
    """Labels of two classes, each predicted with the same confidence, so many right and so many wrong."""
    count = right + wrong
    labels = np.arange(count) % 2
    predicted = np.where(np.arange(count) < right, labels, 1 - labels)
    distribution = np.full((count, 2), 1 - confidence, dtype=np.float32)
    distribution[np.arange(count), predicted] = confidence
    return HeldOut(labels, distribution, np.arange(count)[::-1] % folds)


def drawn(count: int, sharpness: float, seed: int, num_classes: int = 3) -> HeldOut:
    """Labels drawn from distributions that are then sharpened: the temperature that repairs them is known."""
    generator = np.random.default_rng(seed)
    honest = generator.dirichlet(np.ones(num_classes), count).astype(np.float32)
    labels = np.array([generator.choice(num_classes, p=row / row.sum()) for row in honest.astype(np.float64)])
    return HeldOut(labels, at_temperature(honest, 1 / sharpness), np.arange(count) % 5)


@given(
    st.lists(st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=8),
    st.floats(0.05, 20),
)
def test_a_temperature_keeps_distributions_distributions_and_their_order(
    rows: list[list[float]], t: float
) -> None:
    raw = np.array(rows, dtype=np.float32) + np.float32(1e-3)
    distribution = raw / raw.sum(axis=1, keepdims=True)
    changed = at_temperature(distribution, t)
    np.testing.assert_allclose(changed.sum(axis=1), 1, rtol=1e-5)
    best = distribution.argmax(axis=1)[:, None]
    assert (np.take_along_axis(changed, best, 1)[:, 0] >= changed.max(axis=1) * (1 - 1e-6)).all()


def test_a_temperature_is_a_power_of_the_distribution() -> None:
    distribution = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5]], dtype=np.float32)
    power = distribution.astype(np.float64) ** (1 / 2.5)
    np.testing.assert_allclose(at_temperature(distribution, 2.5)[0], power[0] / power[0].sum(), rtol=1e-6)
    # A probability of zero is as good as none at any temperature near 1.
    np.testing.assert_allclose(at_temperature(distribution, 0.8)[1], [0, 0.5, 0.5], atol=1e-6)
    assert at_temperature(distribution, 1.0) is distribution


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ConfigError, match="must be positive and finite"):
        at_temperature(np.array([[0.5, 0.5]], dtype=np.float32), temperature)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0, 4.0])
def test_the_temperature_that_repairs_the_probabilities_is_found(sharpness: float) -> None:
    assert fit_temperature(drawn(4000, sharpness, seed=1)) == pytest.approx(sharpness, rel=0.1)


@settings(max_examples=60)
@given(st.integers(2, 60), st.floats(0.2, 6), st.integers(0, 1000))
def test_calibrated_probabilities_never_have_a_higher_loss(count: int, sharpness: float, seed: int) -> None:
    labels = drawn(count, sharpness, seed)
    assert labels.log_loss(fit_temperature(labels)) <= labels.log_loss() + 1e-9


def test_a_handful_of_right_answers_makes_nothing_certain() -> None:
    all_right = held_out(0.8, right=20, wrong=0)
    confident = at_temperature(all_right.distribution, fit_temperature(all_right)).max()
    assert 0.8 < confident < 0.99


def test_the_log_loss_is_that_of_the_labels_probability() -> None:
    labels = held_out(0.8, right=3, wrong=1)
    assert labels.log_loss() == pytest.approx(-(3 * np.log(0.8) + np.log(0.2)) / 4, rel=1e-6)
    calibrated = HeldOut(labels.labels, at_temperature(labels.distribution, 3.0), labels.fold)
    assert labels.log_loss(3.0) == pytest.approx(calibrated.log_loss(), rel=1e-5)


def test_overconfidence_is_measured_and_mended() -> None:
    found = Calibration.of(held_out(0.9, right=2400, wrong=1600))
    assert found.error_before == pytest.approx(0.3, abs=0.01)
    assert found.error_after < 0.06
    # 0.9 becomes 0.6: ln(0.9 / 0.1) / T = ln(0.6 / 0.4).
    assert found.temperature == pytest.approx(np.log(9) / np.log(1.5), rel=0.1)


def test_the_error_of_one_bin_is_the_mean_of_a_folded_normal() -> None:
    """Its mean is the gap that is seen, its variance twice that of the share of independent labels."""
    labels = held_out(0.9, right=20, wrong=8)
    share = (20 + 1) / (28 + 2)
    deviation = np.sqrt(2 * share * (1 - share) / 28)
    gap = 0.9 - 20 / 28
    assert labels.calibration_error() == pytest.approx(foldnorm.mean(gap / deviation, scale=deviation), rel=1e-5)


@pytest.mark.parametrize(("right", "wrong"), [(20, 8), (25, 3), (28, 0)])
def test_the_bound_is_the_quantile_of_a_folded_normal_and_never_below_the_mean(right: int, wrong: int) -> None:
    labels = held_out(0.9, right=right, wrong=wrong)
    share = (right + 1) / (28 + 2)
    deviation = np.sqrt(2 * share * (1 - share) / 28)
    bound = foldnorm.ppf(0.95, abs(0.9 - right / 28) / deviation, scale=deviation)
    assert labels.largest_calibration_error() == pytest.approx(bound, rel=1e-5)
    assert labels.largest_calibration_error() > labels.calibration_error()


def test_of_many_labels_the_bound_is_the_error_itself() -> None:
    labels = drawn(200_000, 2.5, seed=3)
    assert labels.largest_calibration_error() == pytest.approx(labels.calibration_error(), abs=0.01)


def test_of_many_labels_the_error_is_the_usual_one() -> None:
    labels = drawn(200_000, 2.5, seed=3)
    usual = calibration_error(labels.distribution, labels.labels, np.arange(200_000))
    assert labels.calibration_error() == pytest.approx(usual, abs=0.002)


def test_what_is_said_of_few_labels_is_seldom_lower_than_the_truth() -> None:
    """30 labels, right or wrong in pairs, of probabilities that are too sure by half."""
    too_low, beyond = [], []
    for seed in range(200):
        few, others = drawn(15, 1.5, seed), drawn(2000, 1.5, 1000 + seed)
        pairs = HeldOut(np.repeat(few.labels, 2), np.repeat(few.distribution, 2, axis=0), np.arange(30) % 10)
        found = Calibration.of(pairs)
        calibrated = at_temperature(others.distribution, found.temperature)
        true = calibration_error(calibrated, others.labels, np.arange(2000))
        too_low.append(true - found.error_after)
        beyond.append(true - found.at_most)
    assert np.mean(too_low) < 0
    assert np.mean(np.array(too_low) > 0.02) < 0.1
    assert np.mean(np.array(beyond) > 0) <= 0.05


def test_each_fold_is_measured_at_the_temperature_of_the_others() -> None:
    """Two folds that ask for different temperatures: each is judged at the other's."""
    first, second = held_out(0.95, right=30, wrong=10, folds=1), held_out(0.95, right=22, wrong=18, folds=1)
    both = joined(first, second)
    mended = joined(
        HeldOut(first.labels, at_temperature(first.distribution, fit_temperature(second)), first.fold),
        HeldOut(second.labels, at_temperature(second.distribution, fit_temperature(first)), second.fold),
    )
    assert 1 < fit_temperature(first) < fit_temperature(second)
    assert Calibration.of(both).error_after == pytest.approx(mended.calibration_error(), abs=1e-6)


def joined(first: HeldOut, second: HeldOut) -> HeldOut:
    return HeldOut(
        np.concatenate((first.labels, second.labels)),
        np.concatenate((first.distribution, second.distribution)),
        np.concatenate((first.fold, second.fold + 1)),
    )


def test_a_temperature_that_does_not_help_labels_it_has_not_seen_is_not_used() -> None:
    """One fold all right, the other all wrong: what either asks for harms the other."""
    right, wrong = held_out(0.7, right=80, wrong=0, folds=1), held_out(0.7, right=0, wrong=40, folds=1)
    found = Calibration.of(joined(right, wrong))
    assert fit_temperature(joined(right, wrong)) != 1
    assert (found.temperature, found.error_after) == (1.0, found.error_before)


def test_underconfidence_is_mended_by_thirty_labels() -> None:
    """A mean of several answers is less sure than it may be."""
    found = Calibration.of(held_out(0.6, right=27, wrong=3))
    assert found.temperature < 1
    assert 0.75 < at_temperature(np.array([[0.6, 0.4]], dtype=np.float32), found.temperature).max() < 0.9


@pytest.mark.parametrize(("count", "folds"), [(9, 3), (60, 1)])
def test_nothing_is_calibrated_on_too_few_labels_or_a_single_fold(count: int, folds: int) -> None:
    found = Calibration.of(held_out(0.99, right=count // 2, wrong=count - count // 2, folds=folds))
    assert found.temperature == 1.0
    assert found.error_after == found.error_before


def test_no_label_is_refused() -> None:
    nothing: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    with pytest.raises(ConfigError, match="no held-out label"):
        HeldOut(nothing, np.empty((0, 2), dtype=np.float32), nothing)
