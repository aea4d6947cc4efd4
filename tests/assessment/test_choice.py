"""Choosing by held-out labels: the rule, the paired comparison, and what to expect of what is chosen."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.special import ndtri

from lcgnn.assessment.calibration import DEPENDENCE, HeldOut
from lcgnn.assessment.choice import (
    CLEAR,
    Difference,
    Experience,
    chosen,
    is_clearly_behind,
    optimism,
)
from lcgnn.assessment.trust import Assessment, Expected
from lcgnn.errors import ConfigError

RIGHT = st.tuples(st.integers(2, 40), st.integers(1, 6)).flatmap(lambda shape: arrays(np.bool_, shape))


def drawn(
    generator: np.random.Generator, labels: int, accuracies: list[float], alike: float = 0.6, alone: int = 0
) -> NDArray[np.bool_]:
    """(L, K) labels right or wrong in pairs, but for some, by answers that find the same labels difficult."""
    different = alone + -(-(labels - alone) // 2)
    shared, own = generator.normal(size=(different, 1)), generator.normal(size=(different, len(accuracies)))
    right = math.sqrt(alike) * shared + math.sqrt(1 - alike) * own < ndtri(accuracies)
    return np.concatenate((right[:alone], np.repeat(right[alone:], 2, axis=0)))[:labels]


def expected_of_chosen(right: NDArray[np.bool_], known: list[Experience]) -> Expected:
    """The share of right labels of the answer that is taken, less the optimism of it."""
    own = Expected.of(right[:, chosen(right, known)])
    return own.lowered(optimism(right, known), own.labels)


def assessment_of_chosen(held_out: HeldOut, right: NDArray[np.bool_], known: list[Experience]) -> Assessment:
    less = optimism(right, known)
    return Assessment.of(held_out, given=40, of_folds=4, optimism=less, chosen_among=right.shape[1])


def alike(answers: int, spread: float = 0.05) -> list[Experience]:
    """Experience that prefers none of the answers."""
    return [Experience(0.0, spread)] * answers


def hits(labels: int, *counts: int) -> NDArray[np.bool_]:
    """(L, K) answers of which each is right for the first so many labels."""
    return np.arange(labels)[:, None] < np.array(counts)


@given(RIGHT)
def test_without_experience_the_answer_with_most_hits_is_taken(right: NDArray[np.bool_]) -> None:
    counts = right.sum(axis=0)
    # Answers far apart from graph to graph, of which nothing is known.
    assert counts[chosen(right, alike(right.shape[1], spread=50.0))] == counts.max()


def test_of_answers_with_the_same_hits_experience_takes_the_better_one() -> None:
    right = hits(30, 24, 24, 24)
    for best in range(3):
        assert chosen(right, [Experience(0.05 * (place == best), 0.05) for place in range(3)]) == best


def test_experience_outweighs_a_label_or_two_but_not_many() -> None:
    known = [Experience(0.08, 0.05), Experience(-0.1, 0.08)]
    assert chosen(hits(30, 20, 22), known) == 0
    assert chosen(hits(30, 12, 28), known) == 1
    assert chosen(hits(3000, 2400, 2430), known) == 1


def test_what_is_expected_is_the_mean_of_experience_and_labels_weighed_by_how_sure_they_are() -> None:
    """Two answers that are right independently: the closed form of the difference of two normal numbers."""
    generator = np.random.default_rng(0)
    labels = 4000
    right = generator.random((labels, 2)) < [0.70, 0.72]
    seen = right[:, 1].mean() - right[:, 0].mean()
    noise = DEPENDENCE * right.astype(float).var(axis=0).sum() / labels
    for spread in (0.005, 0.02, 0.1):
        # The advantage of the first at which the two are level: what is seen times how much more sure that is.
        level = seen * 2 * spread**2 / noise
        for factor, expected in ((0.9, 1), (1.1, 0)):
            assert chosen(right, [Experience(factor * level, spread), Experience(0.0, spread)]) == expected


@given(RIGHT)
def test_a_difference_is_the_negative_of_its_mirror_and_holds_what_was_seen(right: NDArray[np.bool_]) -> None:
    first, second = right[:, 0], right[:, -1]
    there, back = Difference.between(first, second), Difference.between(second, first)
    assert there.mean == pytest.approx(first.mean() - second.mean())
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.low <= there.mean <= there.high


def test_answers_that_are_right_on_the_same_labels_cannot_be_told_apart() -> None:
    right = np.arange(30) % 3 > 0
    difference = Difference.between(right, right)
    assert difference.mean == 0
    assert difference.low < 0 < difference.high


def test_the_interval_of_a_difference_is_the_normal_one_where_labels_are_many() -> None:
    generator = np.random.default_rng(0)
    first, second = generator.random((2, 40_000)) < [[0.8], [0.75]]
    seen = first.astype(float) - second
    reach = CLEAR * math.sqrt(DEPENDENCE * seen.var() / seen.size)
    found = Difference.between(first, second)
    assert (found.low, found.high) == pytest.approx((seen.mean() - reach, seen.mean() + reach), abs=2e-4)
    assert found.low > 0


def test_a_difference_needs_the_same_labels() -> None:
    with pytest.raises(ConfigError, match="same held-out labels"):
        Difference.between(np.ones(3, bool), np.ones(4, bool))


def test_an_answer_that_is_as_good_is_hardly_ever_dropped() -> None:
    generator = np.random.default_rng(1)
    dropped = sum(
        is_clearly_behind(*drawn(generator, labels, [0.75, 0.75]).T)
        for labels, _ in product((9, 15, 21, 60), range(500))
    )
    assert dropped / 2000 < 0.01


def test_an_answer_by_chance_is_dropped_early() -> None:
    generator = np.random.default_rng(2)
    dropped = [is_clearly_behind(*drawn(generator, 30, [0.2, 0.85]).T) for _ in range(200)]
    assert np.mean(dropped) > 0.8


@given(RIGHT)
def test_choosing_is_never_a_reason_to_expect_more(right: NDArray[np.bool_]) -> None:
    known = alike(right.shape[1])
    own = Expected.of(right[:, chosen(right, known)])
    found = expected_of_chosen(right, known)
    assert 0 <= optimism(right, known) <= own.accuracy
    assert found.accuracy <= own.accuracy + 1e-12
    clipped = found.low == 0 or found.high == 1
    assert clipped or found.high - found.low >= own.high - own.low - 1e-9
    assert found.labels == right.shape[0]


def test_a_single_answer_is_expected_to_be_as_good_as_it_was() -> None:
    right = np.arange(40)[:, None] % 4 > 0
    assert optimism(right, alike(1)) == 0
    assert expected_of_chosen(right, alike(1)) == Expected.of(right[:, 0])


def test_answers_that_agree_on_every_label_have_no_optimism_and_clear_winners_little() -> None:
    right = np.tile((np.arange(200) % 4 > 0)[:, None], (1, 5))
    assert optimism(right, alike(5)) < 0.01
    clear = np.stack([np.arange(200) % 10 > 0, np.arange(200) % 2 > 0], axis=1)
    assert optimism(clear, alike(2)) < 0.01


@pytest.mark.parametrize("labels", [30, 60, 100])
def test_the_interval_holds_the_truth_of_equally_good_answers_where_the_winners_own_does_not(labels: int) -> None:
    """Eight answers that are right for 65 of 100 nodes each; the best of them looks better than that.

    The more labels, the more of them are in pairs: of 80 all are.
    """
    alone = labels - min(round(labels**2 / 80), labels)
    truth, held, held_by_own, known = 0.65, [], [], alike(8)
    generator = np.random.default_rng(labels)
    for _ in range(400):
        right = drawn(generator, labels, [truth] * 8, alone=alone)
        found, own = expected_of_chosen(right, known), Expected.of(right[:, chosen(right, known)])
        held.append(found.low <= truth <= found.high)
        held_by_own.append(own.low <= truth <= own.high)
    assert 0.92 <= np.mean(held) <= 0.98
    assert np.mean(held_by_own) < (0.92 if labels > 30 else np.mean(held))


def test_what_is_said_of_the_chosen_one_allows_for_the_choice() -> None:
    right = drawn(np.random.default_rng(3), 40, [0.7] * 6)
    known = alike(6)
    taken = chosen(right, known)
    labels = np.arange(40) % 2
    distribution = np.eye(2, dtype=np.float32)[np.where(right[:, taken], labels, 1 - labels)]
    held_out = HeldOut(labels, distribution, np.arange(40) % 4)
    found = assessment_of_chosen(held_out, right, known)
    plain = Assessment.of(held_out, given=40, of_folds=4)
    assert found.overall == expected_of_chosen(right, known).with_all_labels(3 / 4)
    assert found.majority.low < plain.majority.low
    assert found.calibration == plain.calibration
    less = plain.overall.accuracy - found.overall.accuracy
    for lowered, own in zip(found.by_class, plain.by_class, strict=True):
        assert lowered is not None
        assert own is not None
        assert lowered.accuracy == pytest.approx(own.accuracy - less)
        assert lowered.low < own.low
        assert lowered.high - lowered.low >= own.high - own.low
    assert "allowing for the choice among 6 answers" in found.sentences()[0]
    assert "allowing" not in plain.sentences()[0]
    assert assessment_of_chosen(held_out, right[:, [taken]], known[:1]) == plain
