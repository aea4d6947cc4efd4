"""Label propagation against a dense inverse, against propagation itself, and where no label can reach."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.edges_alone import class_mass_normalized
from lcgnn.methods.lp import harmonic_solution


def random_graph(seed: int = 0, num_nodes: int = 30) -> tuple[Graph, Split]:
    """A connected weighted graph: a ring and random chords."""
    generator = np.random.default_rng(seed)
    ring = np.stack([np.arange(num_nodes), np.roll(np.arange(num_nodes), 1)])
    links = np.concatenate([ring, generator.integers(num_nodes, size=(2, 20))], axis=1)
    graph = Graph.from_edges(
        "random",
        links,
        num_nodes,
        generator.integers(3, size=num_nodes),
        ["a", "b", "c"],
        weights=generator.uniform(0.5, 2.0, (links.shape[1],)),
    )
    return graph, Split(np.array([5, 0, 17, 9]), np.arange(20, 30), np.arange(0))


def path_and_island(train: list[int]) -> tuple[Graph, Split]:
    """Nodes 0-1-2-3 in a row, 4-5 apart from them, 6 alone."""
    links = np.array([[0, 1, 2, 4], [1, 2, 3, 5]])
    graph = Graph.from_edges("path", links, 7, np.array([0, 0, 1, 1, 0, 0, 0]), ["a", "b"])
    return graph, Split(np.array(train), np.arange(0), np.arange(0))


@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_the_dense_inverse(seed: int):
    graph, split = random_graph(seed)
    weights = graph.adjacency.toarray().astype(np.float64)
    free = np.setdiff1d(np.arange(graph.num_nodes), split.train)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    targets = np.eye(3)[graph.labels[split.train]]
    inverse = np.linalg.inv(laplacian[np.ix_(free, free)]) @ weights[np.ix_(free, split.train)] @ targets
    distribution, nodes = harmonic_solution(graph, split)
    assert np.array_equal(nodes, free)
    np.testing.assert_allclose(distribution[free], inverse, atol=1e-8)
    assert np.array_equal(distribution[split.train], targets)


def test_weights_may_be_of_another_scale_in_another_part_of_the_graph():
    graph, split = random_graph()
    scale = np.where(np.arange(graph.num_nodes) < 15, 1e6, 1e-3)
    weights = graph.adjacency.toarray().astype(np.float64) * np.minimum.outer(scale, scale)
    uneven = Graph("uneven", csr_array(weights.astype(np.float32)), graph.labels, graph.class_names)
    weights = uneven.adjacency.toarray().astype(np.float64)
    free = np.setdiff1d(np.arange(graph.num_nodes), split.train)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    targets = np.eye(3)[graph.labels[split.train]]
    expected = np.linalg.solve(laplacian[np.ix_(free, free)], weights[np.ix_(free, split.train)] @ targets)
    np.testing.assert_allclose(harmonic_solution(uneven, split)[0][free], expected, atol=1e-6)


def test_the_solution_is_where_clamping_and_propagating_ends():
    graph, split = random_graph()
    weights = graph.adjacency.toarray().astype(np.float64)
    step = weights / weights.sum(axis=1, keepdims=True)
    targets = np.eye(3)[graph.labels[split.train]]
    propagated = np.zeros((graph.num_nodes, 3))
    for _ in range(3000):
        propagated = step @ propagated
        propagated[split.train] = targets
    np.testing.assert_allclose(harmonic_solution(graph, split)[0], propagated, atol=1e-8)


def test_on_a_path_the_classes_mix_linearly():
    distribution, _ = harmonic_solution(*path_and_island([0, 3]))
    np.testing.assert_allclose(distribution[:4, 1], [0, 1 / 3, 2 / 3, 1])


def test_a_node_that_no_label_reaches_gets_the_class_prior_of_the_training_labels():
    fit = create("lp").fit(*path_and_island([0, 1, 3]))
    np.testing.assert_allclose(fit.label_distribution[4:], np.tile([2 / 3, 1 / 3], (3, 1)), rtol=1e-6)


def test_a_graph_whose_reached_nodes_are_all_labelled_has_nothing_to_solve():
    fit = create("lp").fit(*path_and_island([0, 1, 2, 3]))
    np.testing.assert_allclose(fit.label_distribution[:4], np.eye(2)[[0, 0, 1, 1]])


def test_class_mass_normalisation_gives_every_class_its_share():
    distribution = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [1.0, 0.0]])
    scaled = class_mass_normalized(distribution, np.arange(3), np.array([0.5, 0.5]))
    odds = (scaled[:3, 1] / scaled[:3, 0]) / (distribution[:3, 1] / distribution[:3, 0])
    np.testing.assert_allclose(odds, 2.3 / 0.7)
    assert np.array_equal(scaled[3], [1.0, 0.0])


def test_validation_chooses_class_mass_normalisation_and_nothing_else():
    graph, split = random_graph(seed=4)
    plain, scaled = (
        create("lp", class_mass=choice).fit(graph, split).label_distribution for choice in (False, True)
    )
    chosen = create("lp").fit(graph, split).label_distribution
    labels = graph.labels[split.validation]
    right = [(fit[split.validation].argmax(axis=1) == labels).sum() for fit in (plain, scaled)]
    assert right[0] != right[1]
    assert np.array_equal(chosen, (plain, scaled)[int(np.argmax(right))])


def test_without_validation_nodes_no_class_takes_nearly_everything():
    """One label has many neighbours and one has few: by the plain solution the former takes nearly all."""
    hub, far = 0, 40
    links = np.array([(hub, node) for node in range(1, 39)] + [(node, node + 1) for node in range(1, 40)]).T
    graph = Graph.from_edges("star", links, 41, np.arange(41) // 21, ["near", "far"])
    split = Split(np.array([hub, far]), np.arange(0), np.arange(0))
    plain, scaled, chosen = (
        create("lp", class_mass=choice).fit(graph, split).label_distribution.argmax(axis=1)
        for choice in (False, True, None)
    )
    assert np.array_equal(chosen, scaled)
    assert chosen.sum() > plain.sum()
