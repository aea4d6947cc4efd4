"""Manifold regularisation against the textbook forms of the same solution."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create

NUM_NODES, NUM_FEATURES, NUM_CLASSES = 25, 6, 3
AMBIENT, RATIO = 1e-2, 0.5


def random_graph(*, sparse: bool = False) -> tuple[Graph, Split]:
    generator = np.random.default_rng(0)
    features = generator.random((NUM_NODES, NUM_FEATURES)) * (generator.random((NUM_NODES, NUM_FEATURES)) < 0.6)
    features[7] = 0
    graph = Graph.from_edges(
        "random",
        generator.integers(NUM_NODES, size=(2, 50)),
        NUM_NODES,
        generator.integers(NUM_CLASSES, size=NUM_NODES),
        ["a", "b", "c"],
        weights=generator.uniform(0.5, 2.0, 50),
        features=csr_array(features) if sparse else features,
    )
    return graph, Split(train=np.arange(1, 16, 2), validation=np.arange(16, 25), test=np.arange(0))


def textbook(graph: Graph, split: Split) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Unit rows X, Laplacian L, targets Y with zeros at unlabelled nodes, and Belkin's gamma_I."""
    features = np.asarray(graph.features, dtype=np.float64)
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    features = features / np.where(lengths > 0, lengths, 1)
    weights = graph.adjacency.toarray().astype(np.float64)
    targets = np.zeros((NUM_NODES, NUM_CLASSES))
    targets[split.train] = np.eye(NUM_CLASSES)[graph.labels[split.train]]
    return features, np.diag(weights.sum(axis=1)) - weights, targets, RATIO * AMBIENT * NUM_NODES**2


def fitted_scores(graph: Graph, split: Split) -> np.ndarray:
    fit = create("manireg", ambient=AMBIENT, ratio=RATIO).fit(graph, split)
    return textbook(graph, split)[0] @ fit.tensors["weight"].numpy()


def test_the_weight_solves_the_normal_equations():
    graph, split = random_graph()
    features, laplacian, targets, intrinsic = textbook(graph, split)
    train, num_train = split.train, split.train.size
    system = (
        features[train].T @ features[train]
        + AMBIENT * num_train * np.eye(NUM_FEATURES)
        + intrinsic * num_train / NUM_NODES**2 * features.T @ laplacian @ features
    )
    weight = np.linalg.solve(system, features[train].T @ targets[train])
    np.testing.assert_allclose(fitted_scores(graph, split), features @ weight, atol=1e-10)


def test_the_solution_is_that_of_the_kernel_form_over_all_pairs_of_nodes():
    """The representer theorem: f = K alpha, alpha = (J K + gamma_A l I + gamma_I l / n^2 L K)^-1 Y."""
    graph, split = random_graph()
    features, laplacian, targets, intrinsic = textbook(graph, split)
    num_train = split.train.size
    kernel = features @ features.T
    labelled = np.zeros((NUM_NODES, NUM_NODES))
    labelled[split.train, split.train] = 1
    system = (
        labelled @ kernel
        + AMBIENT * num_train * np.eye(NUM_NODES)
        + intrinsic * num_train / NUM_NODES**2 * laplacian @ kernel
    )
    np.testing.assert_allclose(fitted_scores(graph, split), kernel @ np.linalg.solve(system, targets), atol=1e-10)


def test_sparse_and_dense_features_give_the_same():
    dense, sparse = (create("manireg").fit(*random_graph(sparse=sparse)) for sparse in (False, True))
    np.testing.assert_allclose(dense.label_distribution, sparse.label_distribution, atol=1e-6)


def test_the_scale_of_the_features_does_not_matter():
    graph, split = random_graph()
    larger = Graph(graph.name, graph.adjacency, graph.labels, graph.class_names, graph.features * 100)
    fits = [create("manireg").fit(each, split).label_distribution for each in (graph, larger)]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-5)


def test_the_largest_score_is_the_most_likely_class():
    graph, split = random_graph()
    fit = create("manireg", ambient=AMBIENT, ratio=RATIO).fit(graph, split)
    known = np.arange(NUM_NODES) != 7  # a node without features has no score at all
    predicted = fit.label_distribution.argmax(axis=1)
    assert (predicted == fitted_scores(graph, split).argmax(axis=1))[known].all()
    np.testing.assert_allclose(fit.label_distribution[7], 1 / NUM_CLASSES, rtol=1e-6)


def test_validation_chooses_from_the_grid_and_without_it_the_defaults_hold():
    graph, split = random_graph()
    unchosen = Split(split.train, np.arange(0), np.arange(0))
    default = create("manireg", ambient=1e-3, ratio=1.0).fit(graph, unchosen)
    assert np.array_equal(create("manireg").fit(graph, unchosen).label_distribution, default.label_distribution)
    labels = graph.labels[split.validation]

    def right(distribution: np.ndarray) -> int:
        return int((distribution[split.validation].argmax(axis=1) == labels).sum())

    chosen = create("manireg").fit(graph, split)
    assert right(chosen.label_distribution) >= right(default.label_distribution)


def test_a_graph_without_features_is_refused():
    graph, split = random_graph()
    bare = Graph(graph.name, graph.adjacency, graph.labels, graph.class_names)
    with pytest.raises(DataError, match="random has no node features"):
        create("manireg").fit(bare, split)
