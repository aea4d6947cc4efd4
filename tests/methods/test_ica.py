"""Iterative classification: what the second classifier sees, how a sweep proceeds, what is chosen."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.compute.kernels import Choice, use
from lcgnn.compute.kernels.sweeps import sweep
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.classical import logistic_regression
from lcgnn.methods.ica import (
    AGGREGATORS,
    Aggregator,
    RelationalClassifier,
    Task,
    neighbour_evidence,
    relational_inputs,
)


def kite() -> Graph:
    """0 has the neighbours 1, 2 and 3; 2 and 3 are joined; 4 is alone and has a self-loop."""
    links = np.array([[0, 0, 0, 2], [1, 2, 3, 3]])
    graph = Graph.from_edges("kite", links, 5, np.array([0, 1, 2, 1, 0]), ["a", "b", "c"], features=np.eye(5))
    adjacency = graph.adjacency.tolil()
    adjacency[4, 4] = 1
    return Graph("kite", csr_array(adjacency), graph.labels, graph.class_names, graph.features)


def noisy_clusters(seed: int = 0, num_nodes: int = 60) -> tuple[Graph, Split]:
    generator = np.random.default_rng(seed)
    labels = np.arange(num_nodes) % 3
    same = labels[:, None] == labels[None, :]
    links = np.array(np.nonzero(generator.random((num_nodes, num_nodes)) < np.where(same, 0.1, 0.01)))
    features = np.eye(3)[labels] + generator.normal(0, 0.8, (num_nodes, 3))
    graph = Graph.from_edges("clusters", links, num_nodes, labels, ["a", "b", "c"], features=features)
    return graph, Split(train=np.arange(12), validation=np.arange(12, 36), test=np.arange(36, num_nodes))


@pytest.mark.parametrize(
    ("aggregator", "expected"),
    [
        ("count", [[0, 2, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]]),
        ("proportion", [[0, 2 / 3, 1 / 3], [1, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0, 0]]),
        ("exists", [[0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]]),
    ],
)
def test_the_second_classifier_sees_the_features_and_the_neighbours_classes(
    aggregator: Aggregator, expected: list[list[float]]
):
    graph = kite()
    task = Task.of(graph, Split(np.array([0]), np.arange(0), np.arange(0)))
    inputs = relational_inputs(task, graph.labels, aggregator)
    np.testing.assert_allclose(inputs, np.hstack([np.eye(5), expected]))


def test_unlabelled_neighbours_count_with_their_bootstrapped_class():
    task = Task.of(kite(), Split(np.array([0, 1]), np.arange(0), np.arange(0)))
    labels = task.clamped(np.array([2, 2, 2, 2, 2]))
    assert labels.tolist() == [0, 1, 2, 2, 2]
    assert neighbour_evidence(task.adjacency, labels, 3, "count")[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("kernels", ["fused", "plain"])
@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_a_sweep_replaces_labels_one_after_the_other(aggregator: Aggregator, kernels: Choice):
    graph, _ = noisy_clusters()
    generator = np.random.default_rng(0)
    feature_logits = generator.normal(size=(graph.num_nodes, 3))
    neighbour_weight = generator.normal(size=(3, 3)) + 2 * np.eye(3)
    labels = generator.integers(3, size=graph.num_nodes)
    order = generator.permutation(graph.num_nodes)[:50]

    slow = labels.copy()
    for node in order:
        evidence = neighbour_evidence(graph.adjacency, slow, 3, aggregator)[node]
        slow[node] = (feature_logits[node] + evidence @ neighbour_weight).argmax()
    at_once = neighbour_evidence(graph.adjacency, labels, 3, aggregator) @ neighbour_weight + feature_logits

    swept = labels.copy()
    adjacency = graph.adjacency
    with use(kernels):
        sweep(
            adjacency.indptr,
            adjacency.indices,
            adjacency.data,
            feature_logits,
            neighbour_weight,
            AGGREGATORS.index(aggregator),
            order,
            swept,
        )
    assert np.array_equal(swept, slow)
    assert not np.array_equal(swept[order], at_once.argmax(axis=1)[order])


def test_features_and_neighbours_add_up_to_the_classifiers_own_logits():
    graph, split = noisy_clusters()
    task = Task.of(graph, split)
    relational = RelationalClassifier.trained(task, graph.labels, 1.0, "count")
    evidence = neighbour_evidence(task.adjacency, graph.labels, 3, "count")
    together = relational.feature_logits + evidence @ relational.classifier.weight[-3:]
    inputs = relational_inputs(task, graph.labels, "count")
    np.testing.assert_allclose(together, relational.classifier.logits(inputs))


def test_neighbours_help_where_features_are_noisy():
    graph, split = noisy_clusters()
    task = Task.of(graph, split)
    alone = logistic_regression(task.features[split.train], graph.labels[split.train], 3, 1.0)
    right_alone = (alone.distribution(task.features).argmax(axis=1) == graph.labels)[split.test].mean()
    fit = create("ica").fit(graph, split)
    assert (fit.label_distribution.argmax(axis=1) == graph.labels)[split.test].mean() > right_alone


def test_training_nodes_keep_their_label():
    graph, split = noisy_clusters()
    distribution = create("ica").fit(graph, split).label_distribution
    assert np.array_equal(distribution[split.train], np.eye(3)[graph.labels[split.train]].astype(np.float32))


def test_the_seed_decides_the_order_and_repeats_to_the_bit():
    graph, split = noisy_clusters()
    one, other = (create("ica", trials=2).fit(graph, split, seed=3).label_distribution for _ in range(2))
    assert np.array_equal(one, other)


def test_without_validation_nodes_the_defaults_hold():
    graph, split = noisy_clusters()
    unchosen = Split(split.train, np.arange(0), np.arange(0))
    default = create("ica", inverse_penalty=1.0, aggregator="proportion").fit(graph, unchosen)
    assert np.array_equal(create("ica").fit(graph, unchosen).label_distribution, default.label_distribution)


def test_sparse_and_dense_features_give_the_same():
    graph, split = noisy_clusters()
    sparse = Graph(graph.name, graph.adjacency, graph.labels, graph.class_names, csr_array(graph.features))
    fits = [create("ica").fit(each, split).label_distribution for each in (graph, sparse)]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-3)


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 0, 1], [0, 2, 0, 2]])
def test_logistic_regression_gives_absent_classes_no_probability(labels: list[int]):
    features = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 1.0], [1.0, 0.1]])
    classifier = logistic_regression(features, np.array(labels), 3, 100.0)
    distribution = classifier.distribution(features)
    assert (distribution.argmax(axis=1) == labels).all()
    absent = np.setdiff1d(np.arange(3), labels)
    assert (distribution[:, absent] == 0).all()
    np.testing.assert_allclose(distribution.sum(axis=1), 1)


def test_a_graph_without_features_is_refused():
    graph, split = noisy_clusters()
    bare = Graph(graph.name, graph.adjacency, graph.labels, graph.class_names)
    with pytest.raises(DataError, match="clusters has no node features"):
        create("ica").fit(bare, split)


def test_an_unknown_aggregator_is_refused():
    with pytest.raises(ConfigError, match="aggregator is 'mode'"):
        create("ica", aggregator="mode").fit(*noisy_clusters())
