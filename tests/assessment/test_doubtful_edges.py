"""Doubtful edges: equal to dense computation, and those that were drawn at random are found."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.assessment.doubtful_edges import doubtful_edges, edge_likelihood
from lcgnn.graph import Graph


def blocks(
    *, alike: bool, wrong: int = 40, sparse: bool = False
) -> tuple[Graph, NDArray[np.float64], set[tuple[int, int]]]:
    """Two classes of 100 nodes joined within themselves, or to the other only; some edges of the other kind."""
    random = np.random.default_rng(1)
    labels = np.repeat([0, 1], 100)
    ends = random.integers(0, 200, (2, 12_000))
    same = labels[ends[0]] == labels[ends[1]]
    usual, unusual = ends[:, same == alike][:, :1200], ends[:, same != alike]
    unusual = unusual[:, unusual[0] != unusual[1]][:, :wrong]
    features = random.normal(size=(200, 8)) + 2.0 * np.eye(8)[labels]
    kept = csr_array(np.where(features > 1, features, 0)) if sparse else features
    graph = Graph.from_edges("blocks", np.hstack([usual, unusual]), 200, labels, ("a", "b"), features=kept)
    distribution = np.where(np.eye(2)[labels] > 0, 0.9, 0.1)
    return graph, distribution, {(int(min(pair)), int(max(pair))) for pair in unusual.T}


@pytest.mark.parametrize("alike", [True, False], ids=["neighbours are alike", "neighbours differ"])
def test_edges_of_the_unusual_kind_are_found_whether_neighbours_are_alike_or_differ(alike: bool) -> None:
    graph, distribution, wrong = blocks(alike=alike)
    found = doubtful_edges(graph, distribution, len(wrong))
    right = sum((edge.source, edge.target) in wrong for edge in found)
    # By chance it would be one in thirty; features say nothing where neighbours differ.
    assert right >= 0.9 * len(found) > 0
    assert all(edge.likelihood < 1 for edge in found)


@pytest.mark.parametrize("sparse", [True, False])
def test_what_is_said_of_every_edge_is_that_of_dense_matrices(sparse: bool) -> None:
    graph, distribution, _ = blocks(alike=True, sparse=sparse)
    found = edge_likelihood(graph, distribution)
    adjacency = graph.adjacency.toarray().astype(np.float64)
    assert found.ends.shape[1] == graph.num_edges
    assert (adjacency[found.ends[0], found.ends[1]] > 0).all()
    features = np.asarray(graph.features.toarray() if isinstance(graph.features, csr_array) else graph.features)
    norms = np.maximum(np.linalg.norm(features, axis=1), 1e-12)
    cosines = (features @ features.T) / np.outer(norms, norms)
    np.testing.assert_allclose(found.cosines, cosines[found.ends[0], found.ends[1]], atol=1e-5)
    in_common = (adjacency @ adjacency)[found.ends[0], found.ends[1]] > 0
    np.testing.assert_array_equal(found.in_common, in_common)
    degrees = adjacency.sum(axis=1)
    mixing, mass = distribution.T @ adjacency @ distribution, distribution.T @ degrees
    lift = (mixing + 0.5) / (np.outer(mass, mass) / degrees.sum() + 0.5)
    pairwise = distribution @ lift @ distribution.T
    np.testing.assert_allclose(found.classes, np.log(pairwise[found.ends[0], found.ends[1]]), atol=1e-9)


def test_that_an_edge_has_no_neighbour_in_common_counts_where_most_pairs_at_random_have_none() -> None:
    # Fifty groups of eight that all know each other and one hub: mean square degrees would say that any two meet.
    groups = np.arange(400).reshape(50, 8)
    within = np.array([[a, b] for group in groups for a in group for b in group if a < b]).T
    hub = np.stack([np.full(60, 400), np.arange(60)])
    graph = Graph.from_edges(
        "groups", np.hstack([within, hub, [[100], [300]]]), 401, np.arange(401) % 2, ("a", "b")
    )
    found = edge_likelihood(graph, np.full((401, 2), 0.5))
    wrong = int(np.flatnonzero((found.ends[0] == 100) & (found.ends[1] == 300))[0])
    assert found.total.argmin() == wrong
    assert found.neighbours[wrong] < 0
    several = (found.ends[1] < 400) & (np.arange(found.ends.shape[1]) != wrong)
    assert (found.neighbours[several] > 0).all()


def test_a_graph_without_features_or_edges_has_no_reason_that_it_cannot_have() -> None:
    graph, distribution, wrong = blocks(alike=True)
    bare = Graph("bare", graph.adjacency, graph.labels, graph.class_names)
    found = doubtful_edges(bare, distribution, len(wrong))
    assert found
    assert not any("features" in edge.reason for edge in found)
    lonely = Graph.from_edges("lonely", np.empty((2, 0)), 200, graph.labels, graph.class_names)
    assert doubtful_edges(lonely, distribution) == ()
