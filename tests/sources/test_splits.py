from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split
from lcgnn.sources.splits import (
    are_drawn,
    first_per_class,
    folds,
    handful,
    lost_labels,
    most_folds,
    random_split,
    with_validation,
)

NO_EDGES = np.empty((2, 0), dtype=np.int64)


def graph_with(labels) -> Graph:
    names = tuple("abcdef"[: max(2, *(label + 1 for label in labels))])
    return Graph.from_edges("small", NO_EDGES, len(labels), np.array(labels), names)


def test_the_first_training_nodes_of_every_class_are_kept_in_node_order():
    graph = graph_with([0, 0, 1, 0, 1, 1, 0, 1])
    split = Split(np.array([5, 4, 3, 2, 1, 0]), np.array([6]), np.array([7]), "public")
    fewer = first_per_class(graph, split, 2)
    np.testing.assert_array_equal(fewer.train, [0, 1, 2, 4])
    np.testing.assert_array_equal(fewer.validation, split.validation)
    np.testing.assert_array_equal(fewer.test, split.test)
    assert fewer.name == "public, first 2 per class"


@pytest.mark.parametrize("labels_per_class", [5, 10, 15, 20])
def test_cora_keeps_so_many_labels_of_each_of_its_seven_classes(cora, labels_per_class):
    graph, split = cora
    fewer = first_per_class(graph, split, labels_per_class)
    assert np.bincount(graph.labels[fewer.train]).tolist() == [labels_per_class] * 7
    assert set(fewer.train) <= set(split.train)


def test_fewer_labels_are_part_of_more_labels(cora):
    graph, split = cora
    five, ten = (first_per_class(graph, split, number) for number in (5, 10))
    assert set(five.train) < set(ten.train)


def test_more_labels_than_a_class_has_are_refused_with_the_class_and_both_numbers(cora):
    graph, split = cora
    with pytest.raises(DataError, match="class 'Theory' has 20 training labels, but 21 per class were asked"):
        first_per_class(graph, split, 21)
    with pytest.raises(DataError, match="class 'b' has 1 labels, but 2 per class were asked"):
        random_split(graph_with([0, 0, 0, 1]), labels_per_class=2, num_validation=0, num_test=0, seed=0)


@pytest.mark.parametrize("labels_per_class", [0, -1])
def test_less_than_one_label_per_class_is_refused(labels_per_class):
    with pytest.raises(DataError, match="Ask for 1 or more"):
        random_split(graph_with([0, 1]), labels_per_class=labels_per_class, seed=0)


def test_a_random_split_has_the_sizes_asked_for(cora):
    graph, _ = cora
    split = random_split(graph, labels_per_class=5, seed=1)
    assert np.bincount(graph.labels[split.train]).tolist() == [5] * 7
    assert (split.validation.size, split.test.size) == (500, 1000)
    assert split.name == "random, 5 per class, seed 1"
    split.check(graph)


def test_a_random_split_is_the_same_for_the_same_seed_and_another_for_another(cora):
    graph, _ = cora
    one, same, other = (random_split(graph, labels_per_class=5, seed=seed) for seed in (1, 1, 2))
    assert one.checksum == same.checksum
    assert one.checksum != other.checksum


def test_a_random_split_never_names_an_unlabelled_node(citeseer):
    graph, _ = citeseer
    everything = graph.labelled.size - 6 * 20 - 500
    split = random_split(graph, labels_per_class=20, num_test=everything, seed=0)
    together = np.sort(np.concatenate([split.train, split.validation, split.test]))
    np.testing.assert_array_equal(together, graph.labelled)


def test_too_few_labelled_nodes_for_validation_and_test_are_told_with_the_numbers():
    graph = graph_with([0, 0, 1, 1, -1, -1])
    with pytest.raises(DataError, match=r"1 validation and 2 test .* after 2 training nodes 2 labelled nodes"):
        random_split(graph, labels_per_class=1, num_validation=1, num_test=2, seed=0)


def test_a_random_split_may_do_without_validation_and_test():
    split = random_split(graph_with([0, 1]), labels_per_class=1, num_validation=0, num_test=0, seed=0)
    assert split.train.tolist() == [0, 1]
    assert split.validation.size == split.test.size == 0


def test_a_small_graph_has_a_third_of_the_rest_for_validation_and_the_others_for_test():
    split = random_split(graph_with([0, 1] * 50), labels_per_class=5, seed=0)
    assert (split.train.size, split.validation.size, split.test.size) == (10, 30, 60)


def test_a_handful_is_the_labels_of_the_random_split_and_all_others_are_tested_on(citeseer):
    graph, _ = citeseer
    few, usual = (draw(graph, labels_per_class=5, seed=3) for draw in (handful, random_split))
    np.testing.assert_array_equal(few.train, usual.train)
    assert few.validation.size == 0
    np.testing.assert_array_equal(np.union1d(few.train, few.test), graph.labelled)
    few.check(graph)
    assert few.name == "handful, 5 per class, seed 3"


@given(
    labels=st.lists(st.integers(-1, 1), min_size=2, max_size=40).filter(lambda labels: {0, 1} <= set(labels)),
    data=st.data(),
    seed=st.integers(0, 2**32),
)
def test_labels_drawn_anywhere_are_as_many_as_asked_for_of_two_classes_at_least(labels, data, seed):
    graph = graph_with(labels)
    count = data.draw(st.integers(2, graph.labelled.size))
    split = handful(graph, labels=count, seed=seed)
    assert np.unique(split.train).size == count
    assert set(graph.labels[split.train].tolist()) == {0, 1}
    np.testing.assert_array_equal(np.union1d(split.train, split.test), graph.labelled)
    assert split.checksum == handful(graph, labels=count, seed=seed).checksum


def test_labels_drawn_anywhere_come_as_often_as_their_class():
    graph = graph_with([0] * 300 + [1] * 100)
    shares = [np.mean(graph.labels[handful(graph, labels=40, seed=seed).train]) for seed in range(400)]
    # The mean of 400 draws of 40 of 400 has a standard deviation of 0.0033.
    assert abs(np.mean(shares) - 0.25) < 0.015


def test_a_class_without_a_label_stays_a_class_of_the_graph():
    graph = Graph.from_edges("small", NO_EDGES, 6, np.array([0, 0, 0, 1, 1, 2]), ("a", "b", "c"))
    trained_on = {tuple(np.unique(graph.labels[handful(graph, labels=2, seed=seed).train])) for seed in range(50)}
    assert trained_on == {(0, 1), (0, 2), (1, 2)}
    assert graph.num_classes == 3


@pytest.mark.parametrize("count", [-1, 0, 1, 5])
def test_labels_that_there_are_not_are_refused_with_how_many_there_are(count):
    with pytest.raises(DataError, match=rf"small: {count} labels asked for. Ask for 2 to 4"):
        handful(graph_with([0, 0, 1, 1, -1]), labels=count, seed=0)


def test_labels_of_one_class_alone_are_refused():
    with pytest.raises(DataError, match="at least two are needed"):
        handful(graph_with([0, 0, 0]), labels=2, seed=0)


NONE = np.empty(0, dtype=np.int64)


def test_every_suggested_label_is_held_out_once_and_classes_are_spread_evenly():
    graph = graph_with([0] * 13 + [1] * 8 + [-1] * 4)
    whole = Split(np.arange(21), NONE, NONE, "all", chosen=True)
    parts = folds(graph, whole, 5)
    assert sorted(np.concatenate([part.test for part in parts]).tolist()) == list(range(21))
    for part in parts:
        assert sorted([*part.train, *part.test]) == list(range(21))
    held_out = [np.bincount(graph.labels[part.test]).tolist() for part in parts]
    assert held_out == [[3, 2], [3, 2], [3, 2], [2, 1], [2, 1]]
    assert [part.name for part in parts][:2] == ["all, fold 1 of 5", "all, fold 2 of 5"]


def test_the_only_label_of_a_class_is_always_trained_on():
    graph = graph_with([0, 0, 0, 1])
    parts = folds(graph, Split(np.arange(4), NONE, NONE), 10)
    assert len(parts) == 3
    assert all(3 in part.train for part in parts)


@st.composite
def drawn_labels(draw):
    """Labels of two classes or more, some of which no label is of, and how many folds are asked for."""
    counts = draw(
        st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(lambda some: np.count_nonzero(some) > 1)
    )
    return np.repeat(np.arange(len(counts)), counts), draw(st.integers(2, 12)), draw(st.integers(0, 99))


@given(drawn_labels())
def test_drawn_labels_are_dealt_by_chance_and_no_fold_takes_a_whole_class(drawn):
    labels, count, seed = drawn
    graph = graph_with(labels.tolist())
    split = Split(np.arange(labels.size), NONE, NONE)
    parts = folds(graph, split, count, seed)
    often = np.bincount(labels)[labels] > 1
    if often.any():
        held_out = np.concatenate([part.test for part in parts])
        assert sorted(held_out.tolist()) == np.flatnonzero(often).tolist()
        assert len(parts) == min(count, most_folds(graph, split))
    for part in parts:
        assert part.test.size
        assert sorted([*part.train, *part.test]) == list(range(labels.size))
        assert np.array_equal(np.unique(labels[part.train]), np.unique(labels))
    if are_drawn(graph, split) and parts:
        # By chance, but for the one label that a fold may pass on for each class.
        sizes = [part.test.size for part in parts]
        assert max(sizes) - min(sizes) <= 1 + np.unique(labels).size


def test_held_out_labels_are_as_far_from_the_others_as_labels_that_are_not_there_yet():
    """A model that answers with a label drawn from those it has seen is right for c with a chance of n_c / n.

    Of labels drawn with chances p it is right for sum(p^2) of all nodes on average, and sum(n_c (n_c - 1)) /
    (n (n - 1)) has just that as its mean. Folds with the same of every class say sum((n_c / n)^2), which is more.
    """
    counts = np.array([9, 5, 3, 2])
    labels = np.repeat(np.arange(4), counts)
    graph, total = graph_with(labels.tolist()), labels.size

    def found(split: Split) -> float:
        parts = folds(graph, split, total)
        right = [(labels[part.train][:, None] == labels[part.test]).mean(axis=0) for part in parts]
        return float(np.concatenate(right).mean())

    drawn = Split(np.arange(total), NONE, NONE)
    # One passed on in 19 folds of one label each would be a fold without any.
    assert found(drawn) == pytest.approx((counts * (counts - 1)).sum() / (total * (total - 1)))
    assert found(replace(drawn, chosen=True)) > found(drawn) + 0.02


@pytest.mark.parametrize(
    ("counts", "drawn"),
    [
        ([5, 5, 5], False),
        ([5, 4, 5], False),
        ([5, 3, 5], True),
        ([1, 1, 1], False),
        ([2, 1, 1], True),
        # None of the second class: a draw that happened to take none.
        ([3, 0, 3], True),
        ([5, 5, 5, 5, 3], False),
        ([4, 3, 2, 2, 1, 1], True),
    ],
)
def test_as_many_labels_of_every_class_were_not_drawn(counts, drawn):
    graph = graph_with(np.repeat(np.arange(len(counts)), counts).tolist())
    split = Split(np.arange(sum(counts)), NONE, NONE)
    assert are_drawn(graph, split) is drawn
    assert lost_labels(graph, split) == (counts.count(1) if drawn else 0)
    assert not are_drawn(graph, replace(split, chosen=True))
    assert lost_labels(graph, replace(split, chosen=True)) == 0


def test_labels_that_cannot_be_held_out_make_no_folds():
    assert folds(graph_with([0, 1]), Split(np.array([0, 1]), NONE, NONE), 10) == []


def test_folds_depend_on_the_labels_and_not_on_their_order():
    graph = graph_with([0, 1] * 10)
    one = folds(graph, Split(np.arange(20), NONE, NONE), 4)
    other = folds(graph, Split(np.arange(20)[::-1], NONE, NONE), 4)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.test, second.test)


def test_validation_nodes_stay_what_they_are_in_every_fold():
    graph = graph_with([0, 1] * 6)
    parts = folds(graph, Split(np.arange(8), np.arange(8, 12), NONE), 2)
    assert all(part.validation.tolist() == [8, 9, 10, 11] for part in parts)


def test_a_single_fold_is_refused():
    with pytest.raises(ConfigError, match="at least 2"):
        folds(graph_with([0, 1]), Split(np.array([0, 1]), NONE, NONE), 1)


def test_a_validation_part_has_its_share_of_every_class():
    graph = graph_with([0] * 20 + [1] * 10)
    split = with_validation(graph, Split(np.arange(30), NONE, NONE, "all given labels"), 0.2)
    assert np.bincount(graph.labels[split.validation]).tolist() == [4, 2]
    assert sorted([*split.train, *split.validation]) == list(range(30))
    assert split.name == "all given labels, 20% of them for validation"


def test_labels_of_which_some_validate_are_dealt_out_as_all_of_them_would_be():
    even = with_validation(graph_with([0] * 3 + [1] * 2 + [2] * 2), Split(np.arange(7), NONE, NONE), 0.3)
    assert even.train.size == 4
    assert even.chosen
    graph = graph_with([0] * 9 + [1] * 4 + [2])
    drawn = with_validation(graph, Split(np.arange(14), NONE, NONE), 0.75)
    assert np.bincount(graph.labels[drawn.train]).tolist() == [2, 1, 1]
    assert not drawn.chosen
    # The second class has labels for validation.
    assert lost_labels(graph, drawn) == 1


def test_a_validation_part_leaves_every_class_a_label():
    graph = graph_with([0] * 20 + [1])
    assert 20 in with_validation(graph, Split(np.arange(21), NONE, NONE), 0.9).train


@pytest.mark.parametrize(
    ("share", "validation", "message"),
    [(1.0, NONE, "between 0 and 1"), (0.1, np.array([3]), "already"), (0.1, NONE, "less than one of any class")],
)
def test_an_impossible_validation_part_is_refused(share, validation, message):
    graph = graph_with([0, 0, 1, 1])
    with pytest.raises(ConfigError, match=message):
        with_validation(graph, Split(np.array([0, 1, 2]), validation, NONE), share)
