"""Expected accuracy and calibration: closed forms, invariants, and the truth of simulated labels."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, binomtest

from lcgnn.assessment.trust import (
    Assessment,
    Calibration,
    Expected,
    HeldOut,
    at_temperature,
    fit_temperature,
    wilson_interval,
)
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


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (0, 20), (20, 20), (13, 20), (52, 60), (900, 1000)])
def test_the_interval_is_wilsons(hits: int, count: int) -> None:
    reference = binomtest(hits, count).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, count) == pytest.approx((reference.low, reference.high), abs=1e-6)


@pytest.mark.parametrize("pairs", [5, 15, 30, 75])
def test_the_interval_holds_the_truth_in_nine_of_ten_samples_of_pairs_that_are_right_together(pairs: int) -> None:
    """Exactly, by summing over all outcomes, on average over the shares from 0.3 to 0.99."""
    expected = [Expected.of(np.arange(2 * pairs) < 2 * hits) for hits in range(pairs + 1)]
    coverage = [
        sum(
            binom.pmf(hits, pairs, share)
            for hits, found in enumerate(expected)
            if found.low <= share <= found.high
        )
        for share in np.linspace(0.3, 0.99, 70)
    ]
    assert np.mean(coverage) > 0.94
    assert np.mean(np.array(coverage) > 0.9) > 0.9


@pytest.mark.parametrize(("hits", "count"), [(0, 0), (3, 2), (-1, 4)])
def test_what_is_not_a_share_has_no_interval(hits: int, count: int) -> None:
    with pytest.raises(ConfigError, match="not a share"):
        wilson_interval(hits, count)


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


@settings(max_examples=60, deadline=None)
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
    found = Calibration.of(held_out(0.9, right=240, wrong=160))
    assert found.error_before == pytest.approx(0.3, abs=0.01)
    assert found.error_after < 0.06
    # 0.9 becomes 0.6: ln(0.9 / 0.1) / T = ln(0.6 / 0.4).
    assert found.temperature == pytest.approx(np.log(9) / np.log(1.5), rel=0.1)


def test_each_fold_is_measured_at_the_temperature_of_the_others() -> None:
    """One fold all right, the other all wrong: each is mended by what the other says, so neither is."""
    right, wrong = held_out(0.7, right=28, wrong=0, folds=1), held_out(0.7, right=0, wrong=10, folds=1)
    both = HeldOut(
        np.concatenate((right.labels, wrong.labels)),
        np.concatenate((right.distribution, wrong.distribution)),
        np.concatenate((right.fold, wrong.fold + 1)),
    )
    at_the_others = np.concatenate(
        [
            at_temperature(right.distribution, fit_temperature(wrong)).max(axis=1),
            at_temperature(wrong.distribution, fit_temperature(right)).max(axis=1),
        ]
    )
    assert fit_temperature(right) < 1 < fit_temperature(wrong)
    # So few labels have a single bin.
    assert Calibration.of(both).error_after == pytest.approx(abs(28 / 38 - at_the_others.mean()), abs=1e-5)


@pytest.mark.parametrize(("count", "folds"), [(19, 5), (60, 1)])
def test_nothing_is_calibrated_on_too_few_labels_or_a_single_fold(count: int, folds: int) -> None:
    found = Calibration.of(held_out(0.99, right=count // 2, wrong=count - count // 2, folds=folds))
    assert found.temperature == 1.0
    assert found.error_after == found.error_before


def test_no_label_is_refused() -> None:
    nothing: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    with pytest.raises(ConfigError, match="no held-out label"):
        HeldOut(nothing, np.empty((0, 2), dtype=np.float32), nothing)


def test_an_assessment_says_in_words_what_it_found() -> None:
    found = Assessment.of(held_out(0.8, right=52, wrong=8, folds=10), given=60, of_folds=10)
    assert found.overall == Expected(52 / 60, *wilson_interval(26, 30), 60)
    accuracy, calibration = found.sentences()
    assert accuracy == (
        "Of 100 predicted labels about 87 should be right (between 70 and 95; estimated from 60 given labels by "
        "10-fold cross-validation, assuming that they are a fair sample of all nodes)."
    )
    assert calibration.startswith("Probabilities are calibrated on these labels (temperature 0.")
    assert json.loads(json.dumps(found.to_json()))["words"] == [accuracy, calibration]


def test_what_was_not_held_out_is_told() -> None:
    found = Assessment.of(held_out(0.8, right=14, wrong=4, folds=3), given=60, of_folds=10)
    accuracy, calibration = found.sentences()
    assert "estimated from 18 of 60 given labels by 3 of 10 folds of cross-validation" in accuracy
    assert "18 held-out labels are too few to calibrate by" in calibration
    assert found.by_class == (None, None)


def test_classes_that_could_not_be_tested_are_told() -> None:
    labels = HeldOut(np.array([0, 1]), np.full((2, 4), 0.25, dtype=np.float32), np.array([0, 1]))
    found = Assessment.of(labels, given=4, of_folds=2)
    assert found.untested == 2
    assert found.sentences()[2].startswith("Of 2 classes no label could be held out")


def test_classes_are_told_apart_where_they_have_enough_labels() -> None:
    labels = np.array([0] * 12 + [1] * 9)
    distribution = np.tile(np.array([[0.9, 0.1]], dtype=np.float32), (21, 1))
    found = Assessment.of(HeldOut(labels, distribution, np.arange(21) % 3), given=21, of_folds=3)
    assert found.by_class == (Expected(1.0, *wilson_interval(6, 6), 12), None)
