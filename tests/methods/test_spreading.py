"""Label spreading against a dense inverse, against scikit-learn's, and where no label can reach."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array
from sklearn.semi_supervised import LabelSpreading
from tests.methods.test_lp import path_and_island, random_graph

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create, spreading
from lcgnn.methods.spreading import spread_labels


def dense_solution(graph: Graph, split: Split, alpha: float) -> np.ndarray:
    weights = graph.adjacency.toarray().astype(np.float64)
    degree = weights.sum(axis=1)
    labels = np.zeros((graph.num_nodes, graph.num_classes))
    labels[split.train] = np.eye(graph.num_classes)[graph.labels[split.train]]
    spread = np.linalg.solve(np.eye(graph.num_nodes) - alpha * weights / np.sqrt(np.outer(degree, degree)), labels)
    return spread / spread.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", [0.3, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_is_the_dense_inverse(seed: int, alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, split = random_graph(seed)
    expected = dense_solution(graph, split, alpha)
    distribution, reached = spread_labels(graph, split, alpha)
    assert reached.size == graph.num_nodes
    np.testing.assert_allclose(distribution, expected, atol=1e-9)
    monkeypatch.setattr(spreading, "_COLUMNS", 2)
    np.testing.assert_allclose(spread_labels(graph, split, alpha)[0], expected, atol=1e-9)


def test_an_edge_from_a_node_to_itself_spreads_nothing() -> None:
    graph, split = random_graph()
    looped = csr_array(graph.adjacency + diags_array(np.arange(graph.num_nodes) % 3, dtype=np.float32))
    with_loops = Graph("looped", looped, graph.labels, graph.class_names)
    np.testing.assert_allclose(
        spread_labels(with_loops, split, 0.9)[0], spread_labels(graph, split, 0.9)[0], atol=1e-9
    )


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_it_ends_where_that_of_scikit_learn_ends(alpha: float) -> None:
    graph, split = random_graph(seed=1)
    weights = graph.adjacency.toarray().astype(np.float64)
    labels = np.where(np.isin(np.arange(graph.num_nodes), split.train), graph.labels, -1)
    theirs = LabelSpreading(kernel=lambda *_: weights, alpha=alpha, max_iter=100_000, tol=1e-11)
    theirs.fit(np.arange(graph.num_nodes)[:, None], labels)
    ours = create("spreading", alpha=alpha, class_mass=False).fit(graph, split).label_distribution
    np.testing.assert_allclose(ours[:, theirs.classes_], theirs.label_distributions_, atol=1e-6)


def test_without_spreading_only_the_labels_themselves_are_known() -> None:
    graph, split = path_and_island([0, 3])
    distribution, reached = spread_labels(graph, split, 0.0)
    assert reached.tolist() == [0, 3]
    np.testing.assert_allclose(distribution, np.array([[1, 0], *[[0.5, 0.5]] * 2, [0, 1], *[[0.5, 0.5]] * 3]))


def test_a_node_that_no_label_reaches_gets_the_class_prior_of_the_training_labels() -> None:
    fit = create("spreading").fit(*path_and_island([0, 1, 3]))
    np.testing.assert_allclose(fit.label_distribution[4:], np.tile([2 / 3, 1 / 3], (3, 1)), rtol=1e-6)


def test_a_node_too_far_away_for_rounding_gets_the_prior_too() -> None:
    nodes = np.arange(2000)
    graph = Graph.from_edges("path", np.stack([nodes[:-1], nodes[1:]]), 2000, nodes // 1000, ["a", "b"])
    distribution, reached = spread_labels(graph, Split(np.array([0, 1100]), nodes[:0], nodes[:0]), 0.9)
    assert reached.size < 2000
    assert np.isfinite(distribution).all()
    np.testing.assert_allclose(distribution[-1], [0.5, 0.5])
    assert distribution[1090, 1] > 0.99


def test_validation_chooses_class_mass_normalisation_and_without_it_is_done() -> None:
    graph, split = random_graph(seed=4)
    plain, scaled = (
        create("spreading", class_mass=choice).fit(graph, split).label_distribution for choice in (False, True)
    )
    chosen = create("spreading").fit(graph, split).label_distribution
    assert np.array_equal(chosen, plain) or np.array_equal(chosen, scaled)
    alone = Split(split.train, np.arange(0), np.arange(0))
    assert np.array_equal(create("spreading").fit(graph, alone).label_distribution, scaled)


def test_more_steps_than_make_sense_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "_MOST_STEPS", 2)
    with pytest.raises(DataError, match="Give a smaller one"):
        create("spreading").fit(*random_graph())
