"""Graphs with something taken away, and gradient times input without a gradient by the features."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from lcgnn.assessment.changes import blotted, feature_slopes, without_edges, without_features
from lcgnn.compute.sparse import normalized_adjacency
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.fitted import fitted_networks

Small = Callable[..., tuple[Graph, Split]]


def test_an_edge_that_is_taken_away_is_gone_in_both_directions_and_no_other_is(small_graph: Small) -> None:
    graph, _ = small_graph()
    node = 5  # has a self-loop, which stays
    others = [int(other) for other in graph.adjacency[[node]].indices if other != node][:2]
    expected = graph.adjacency.toarray()
    expected[node, others] = expected[others, node] = 0
    np.testing.assert_array_equal(without_edges(graph, node, others).adjacency.toarray(), expected)


@pytest.mark.parametrize("sparse", [True, False])
def test_features_that_are_blotted_out_are_zero_at_every_node(small_graph: Small, sparse: bool) -> None:
    graph, _ = small_graph(sparse=sparse)
    changed = without_features(graph, [2, 7]).features
    assert isinstance(changed, csr_array) == sparse
    dense, before = (item.toarray() if isinstance(item, csr_array) else item for item in (changed, graph.features))
    expected = np.array(before)
    expected[:, [2, 7]] = 0
    np.testing.assert_array_equal(dense, expected)
    assert blotted(None, [1]) is None


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", ["gcn", "lc-gcn"])
def test_slopes_by_the_weights_are_gradient_times_input_by_the_features(
    small_graph: Small, name: str, sparse: bool
) -> None:
    graph, split = small_graph(sparse=sparse)
    method = create(name, base_epochs=20, epochs=20)
    (fitted,) = fitted_networks(method, method.fit(graph, split).tensors, graph, "cpu")
    state = fitted.network.state()
    rows = graph.features.toarray() if isinstance(graph.features, csr_array) else np.array(graph.features)
    features = torch.tensor(rows, requires_grad=True)
    adjacency = torch.tensor(normalized_adjacency(graph.adjacency).toarray())
    hidden = torch.relu(adjacency @ features @ state["weight_0"] + state["bias_0"])
    logits = adjacency @ hidden @ state["weight_1"] + state["bias_1"]
    torch.logit(fitted.answer(logits)[7, 1]).backward()
    assert features.grad is not None
    expected = (features * features.grad).sum(dim=0).detach().numpy()
    np.testing.assert_allclose(feature_slopes([fitted], 7, 1), expected, rtol=1e-3, atol=1e-5)
