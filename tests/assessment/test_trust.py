"""Expected accuracy: closed forms, the majority, classes that cannot be tested, and what is said of it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from lcgnn.assessment.calibration import HeldOut
from lcgnn.assessment.evaluation import ClassCount
from lcgnn.assessment.trust import Assessment, Expected, Majority, wilson_interval
from lcgnn.errors import ConfigError
from lcgnn.runs.fields import Place
from lcgnn.runs.records.assessment import read_assessment


def held_out(confidence: float, right: int, wrong: int, folds: int = 5) -> HeldOut:
    """Labels of two classes, each predicted with the same confidence, so many right and so many wrong."""
    count = right + wrong
    labels = np.arange(count) % 2
    predicted = np.where(np.arange(count) < right, labels, 1 - labels)
    distribution = np.full((count, 2), 1 - confidence, dtype=np.float32)
    distribution[np.arange(count), predicted] = confidence
    return HeldOut(labels, distribution, np.arange(count)[::-1] % folds)


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (0, 20), (20, 20), (13, 20), (52, 60), (900, 1000)])
def test_the_interval_is_wilsons(hits: int, count: int) -> None:
    reference = binomtest(hits, count).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, count) == pytest.approx((reference.low, reference.high), abs=1e-6)


def test_the_upper_end_allows_for_the_labels_that_were_held_out() -> None:
    right = np.arange(40) < 30
    of_two, of_ten, asked = (Expected.of(right).with_all_labels(share) for share in (0.5, 0.9, 1.0))
    assert asked == Expected.of(right)
    assert of_two.accuracy == of_ten.accuracy == asked.accuracy
    assert of_two.low == of_ten.low == asked.low
    assert asked.high < of_ten.high < of_two.high < 1
    # Half as many errors by four times as many labels, of which a quarter was there.
    assert 1 - asked.with_all_labels(0.25).high == pytest.approx((1 - asked.high) / 2)
    always = Expected.of(np.ones(10, dtype=bool))
    assert always.with_all_labels(0.5) == always


@pytest.mark.parametrize("labels", range(1, 400, 7))
def test_what_is_always_or_never_right_is_within_the_interval(labels: int) -> None:
    always, never = (Expected.of(np.full(labels, right)) for right in (True, False))
    assert always.high == 1
    assert never.low == 0
    assert always.low > 0.0
    assert never.high < 1.0


@pytest.mark.parametrize(("labels", "paired"), [(10, 2), (30, 12), (60, 44), (80, 80), (150, 150)])
def test_the_interval_holds_the_truth_in_nine_of_ten_samples_with_pairs_that_are_right_together(
    labels: int, paired: int
) -> None:
    """Exactly, by summing over all outcomes, on average over the shares from 0.3 to 0.99.

    The more labels, the more of them are in pairs, each about as probably as there are labels: of 80 all are.
    """
    expected = [Expected.of(np.arange(labels) < hits) for hits in range(labels + 1)]
    coverage = []
    for share in np.linspace(0.3, 0.99, 70):
        of_pairs = np.zeros(paired + 1)
        of_pairs[::2] = binom.pmf(np.arange(paired // 2 + 1), paired // 2, share)
        alone = labels - paired
        chances = np.convolve(of_pairs, binom.pmf(np.arange(alone + 1), alone, share))
        held = [found.low <= share <= found.high for found in expected]
        coverage.append(chances[held].sum())
    assert np.mean(coverage) > 0.94
    assert np.mean(np.array(coverage) > 0.9) > 0.9


def test_labels_of_a_class_depend_on_each_other_as_all_labels_do() -> None:
    right = np.arange(20) < 15
    alone, among_many = Expected.of(right), Expected.of(right, 200)
    assert among_many.low < alone.low < alone.accuracy < alone.high < among_many.high
    reference = wilson_interval(15 / 2, 20 / 2)
    assert (among_many.low, among_many.high) == pytest.approx(reference)


@pytest.mark.parametrize(("hits", "count"), [(0, 0), (3, 2), (-1, 4)])
def test_what_is_not_a_share_has_no_interval(hits: int, count: int) -> None:
    with pytest.raises(ConfigError, match="not a share"):
        wilson_interval(hits, count)


def test_an_assessment_says_in_words_what_it_found() -> None:
    found = Assessment.of(held_out(0.99, right=52, wrong=8, folds=10), given=60, of_folds=10)
    # 60 labels vary 1 + 60 / 80 times as much as if they were independent.
    of_share = Expected(52 / 60, *wilson_interval(52 / 60 * (60 / 1.75), 60 / 1.75), 60)
    assert found.overall == of_share.with_all_labels(9 / 10)
    accuracy, calibration = found.sentences()
    assert accuracy == (
        "Of 100 predicted labels about 87 should be right (between 72 and 95; estimated from 60 given labels by "
        "10-fold cross-validation, assuming that they are a fair sample of all nodes)."
    )
    assert calibration.startswith("Probabilities are calibrated (temperature 2.")
    off = found.calibration
    assert calibration.endswith(
        "): judged by labels that they were not calibrated on, they may still be off by about "
        f"{100 * off.error_after:.0f} percentage points on average, by {np.ceil(100 * off.at_most):.0f} at most "
        "as far as these labels tell, and some by more "
        f"(before: about {100 * off.error_before:.0f} percentage points)."
    )
    assert off.error_after < off.at_most < 0.3
    assert json.loads(json.dumps(found.to_json_in_words()))["words"] == [accuracy, calibration]


def test_probabilities_that_stay_as_they_are_are_said_to() -> None:
    calibration = Assessment.of(held_out(0.8, right=48, wrong=12), given=60, of_folds=5).sentences()[-1]
    assert calibration.startswith("Probabilities are as the model gives them, because the held-out labels do not")


def test_what_was_not_held_out_is_told() -> None:
    found = Assessment.of(held_out(0.8, right=8, wrong=1, folds=3), given=60, of_folds=10)
    accuracy, *_, calibration = found.sentences()
    assert "estimated from 9 of 60 given labels by 3 of 10 folds of cross-validation" in accuracy
    assert "9 held-out labels are too few to calibrate by" in calibration
    assert found.by_class == (None, None)


def two_of_four() -> HeldOut:
    """Classes a and b are found for sure; c and d have one label each, which cannot be held out."""
    labels = np.arange(40) % 2
    distribution = np.zeros((40, 4), dtype=np.float32)
    distribution[np.arange(40), np.where(np.arange(40) < 36, labels, 1 - labels)] = 1
    return HeldOut(labels, distribution, np.arange(40) % 4)


def with_untested(predicted: tuple[int, ...]) -> tuple[Assessment, list[ClassCount]]:
    found = Assessment.of(two_of_four(), given=42, of_folds=4)
    return found, [ClassCount(name, 1, count) for name, count in zip("abcd", predicted, strict=True)]


def test_classes_that_could_not_be_tested_count_as_wrong_in_a_lower_figure() -> None:
    found, classes = with_untested((400, 400, 150, 50))
    assert found.untested == (2, 3)
    told = found.sentences(classes)[1]
    # 36 of 40 held-out labels are right; 200 of 1,000 predicted nodes are of the other classes.
    assert told == (
        "The estimate does not speak of 'c', 'd' (200 predicted nodes), of which no label could be held out: if "
        "all of these are wrong, about 72 of 100 are right."
    )
    assert found.sentences()[1] == "The estimate does not speak of 2 classes of which no label could be held out."


def test_classes_that_could_not_be_tested_and_are_not_predicted_lower_nothing() -> None:
    found, classes = with_untested((500, 500, 0, 0))
    assert found.sentences(classes)[1].endswith("(0 predicted nodes), of which no label could be held out.")


def test_the_only_labels_of_classes_count_as_wrong_where_labels_are_drawn() -> None:
    found, classes = with_untested((400, 400, 150, 50))
    lost = Assessment.of(two_of_four(), given=42, of_folds=4, alone=2)
    # As if all 42 had been held out, 36 of them predicted right.
    assert lost.overall.accuracy == pytest.approx(36 / 42)
    assert lost.overall.low < found.overall.low
    assert lost.overall.high < found.overall.high
    assert lost.overall.high - lost.overall.low >= found.overall.high - found.overall.low - 1e-12
    assert lost.sentences(classes)[1] == (
        "The only labels of 'c', 'd' (200 predicted nodes) count as wrong: no model without them could know these "
        "classes."
    )
    assert lost.sentences()[1].startswith("The only labels of 2 classes count as wrong")
    assert read_assessment(lost.to_json(), Place("here")) == lost
    one = Assessment.of(two_of_four(), given=41, of_folds=4, alone=1)
    # Of the fourth class there is no label at all.
    only, silent = one.sentences([*classes[:3], replace(classes[3], given=0)])[1:3]
    assert only == (
        "The only label of 'c' (150 predicted nodes) counts as wrong: no model without it could know the class."
    )
    assert silent.startswith("The estimate does not speak of 'd' (50 predicted nodes), of which no label could be")
    assert one.sentences()[2] == "The estimate does not speak of 1 class of which no label could be held out."


def test_all_that_is_said_allows_for_the_only_labels_of_classes() -> None:
    right = np.arange(40) < 36
    labels = np.where(np.arange(40) < 30, 0, 1)
    distribution = np.zeros((40, 3), dtype=np.float32)
    distribution[np.arange(40), np.where(right, labels, 1 - labels)] = 1
    found = Assessment.of(HeldOut(labels, distribution, np.arange(40) % 4), given=50, of_folds=4, alone=10)
    # Of all 50: always answering the first class would be right for 30, the method is for 36.
    assert found.majority.accuracy == pytest.approx(30 / 50)
    assert found.overall.accuracy == pytest.approx(36 / 50)
    assert found.majority.low < 6 / 50 < found.majority.high
    assert found.of_tested == pytest.approx(36 / 40)
    assert any("if each that has two labels counts the same" in sentence for sentence in found.sentences())


def test_a_class_of_which_no_label_happened_to_be_held_out_is_not_said_to_be_left_out() -> None:
    found, classes = with_untested((400, 400, 150, 50))
    several = [*classes[:2], *(replace(item, given=4) for item in classes[2:])]
    assert not any("does not speak" in sentence for sentence in found.sentences(several))
    assert any("does not speak" in sentence for sentence in found.sentences(classes))


def of_held_out(right_of_first: int, right_of_second: int) -> HeldOut:
    """80 labels of class x and 20 of class y, so many of which are predicted right."""
    labels = np.repeat([0, 1], [80, 20])
    predicted = np.concatenate([np.arange(80) >= right_of_first, np.arange(20) < right_of_second]).astype(int)
    distribution = np.full((100, 2), 0.1, dtype=np.float32)
    distribution[np.arange(100), predicted] = 0.9
    return HeldOut(labels, distribution, np.arange(100) % 5)


def of_majority(right_of_first: int, right_of_second: int) -> Assessment:
    return Assessment.of(of_held_out(right_of_first, right_of_second), given=100, of_folds=5)


NAMES = (ClassCount("x", 80, 800), ClassCount("y", 20, 200))


def test_the_most_frequent_class_stands_beside_the_estimate() -> None:
    found = of_majority(78, 20)
    assert (found.majority.label, found.majority.accuracy) == (0, 0.8)
    assert found.sentences(NAMES)[1] == "Always answering 'x' would be right for about 80 of 100."


@pytest.mark.parametrize(("right_of_first", "right_of_second"), [(80, 0), (79, 3), (60, 15)])
def test_a_method_that_is_no_better_than_the_most_frequent_class_is_said_to_be_so(
    right_of_first: int, right_of_second: int
) -> None:
    told = of_majority(right_of_first, right_of_second).sentences(NAMES)[1]
    better = "clearly better" if right_of_first + right_of_second > 80 else "better"
    assert told.startswith(f"That is not {better} than always answering 'x', which would be right for about 80")
    assert told.endswith(": compare methods (lcgnn compare), or label more nodes, of the other classes above all.")


def test_who_has_compared_methods_is_not_told_to_compare_them() -> None:
    told = replace(of_majority(80, 0), chosen_among=6).sentences(NAMES)[1]
    assert told.endswith(": label more nodes, of the other classes above all.")


def test_where_classes_have_as_many_labels_none_of_them_is_to_be_labelled_above_all() -> None:
    equal = HeldOut(
        labels=np.repeat([0, 1], 20),
        distribution=np.tile(np.array([[0.6, 0.4]], dtype=np.float32), (40, 1)),
        fold=np.arange(40) % 5,
    )
    told = Assessment.of(equal, given=40, of_folds=5).sentences(NAMES)[1]
    assert told.endswith(": compare methods (lcgnn compare), or label more nodes.")


def test_the_gain_over_the_most_frequent_class_is_paired() -> None:
    """18 labels are won and 2 lost of 100: the difference's variance is that of so many ones and minus ones."""
    found = Majority.of(of_held_out(78, 18))
    difference = np.repeat([1.0, -1.0, 0.0], [18, 2, 80])
    reach = 1.959964 * np.sqrt(2 * difference.var() / 100)
    assert (found.low, found.high) == pytest.approx((0.16 - reach, 0.16 + reach), abs=1e-9)


def test_equal_classes_need_no_word_on_the_most_frequent_one() -> None:
    found = Assessment.of(held_out(0.9, right=57, wrong=3), given=60, of_folds=5)
    assert not any("lways answering" in sentence for sentence in found.sentences())


def test_classes_are_told_apart_where_they_have_enough_labels() -> None:
    labels = np.array([0] * 12 + [1] * 9)
    distribution = np.tile(np.array([[0.9, 0.1]], dtype=np.float32), (21, 1))
    found = Assessment.of(HeldOut(labels, distribution, np.arange(21) % 3), given=21, of_folds=3)
    independent = 12 / (1 + 21 / 80)
    assert found.by_class == (Expected(1.0, *wilson_interval(independent, independent), 12), None)


def test_unequal_classes_are_also_counted_alike() -> None:
    labels = np.repeat([0, 1], [40, 10])
    predicted = np.where(np.arange(50) < 45, 0, 1)  # Every label of class 0 is right, half of those of class 1.
    distribution = np.eye(2, dtype=np.float32)[predicted] * 0.8 + 0.1
    found = Assessment.of(HeldOut(labels, distribution, np.arange(50) % 5), given=50, of_folds=5)
    assert (found.overall.accuracy, found.balanced) == (0.9, 0.75)
    said = (
        "The classes differ in size: if each counts the same, about 75 of 100 should be right (balanced accuracy)."
    )
    assert said in found.sentences()
    equal = Assessment.of(held_out(0.9, right=40, wrong=10), given=50, of_folds=5)
    assert equal.balanced is None
    assert not any("balanced" in sentence for sentence in equal.sentences())
