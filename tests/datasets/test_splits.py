import numpy as np
import pytest

from lcgnn.datasets.splits import first_per_class, random_split
from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split

NO_EDGES = np.empty((2, 0), dtype=np.int64)


def graph_with(labels) -> Graph:
    return Graph.from_edges("small", NO_EDGES, len(labels), np.array(labels), ("a", "b"))


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
