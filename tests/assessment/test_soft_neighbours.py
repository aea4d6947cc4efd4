"""Soft neighbours: a row of P, without P."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lcgnn.assessment.soft_neighbours import soft_neighbours, soft_weights
from lcgnn.consistency import aggregate, agreement, balanced


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 50), st.integers(1, 6), st.booleans())
def test_the_weights_are_the_row_of_the_dense_matrix(seed: int, nodes: int, classes: int, even: bool) -> None:
    z = np.random.default_rng(seed).dirichlet(np.ones(classes), nodes)
    dense = z @ np.diag(1 / z.sum(axis=0)) @ z.T if even else z @ z.T
    dense /= dense.sum(axis=1, keepdims=True)
    for node in (0, nodes - 1):
        np.testing.assert_allclose(soft_weights(z, node, balanced=even), dense[node], atol=1e-12)
        found = soft_neighbours(z, node, 5, balanced=even)
        others = np.delete(np.arange(nodes), node)
        expected = others[np.argsort(-soft_weights(z, node, balanced=even)[others], kind="stable")[:5]]
        assert found.nodes.tolist() == expected.tolist()
        assert found.own == pytest.approx(dense[node, node])
        assert found.by_class.sum() == pytest.approx(1)


@pytest.mark.parametrize("even", [True, False])
def test_averaging_with_the_weights_is_the_papers_aggregation(even: bool) -> None:
    z = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    matrix = agreement(torch.tensor(z))
    aggregated = aggregate(torch.tensor(z), balanced(matrix) if even else matrix).numpy()
    averaged = np.stack([soft_weights(z, node, balanced=even) @ z for node in range(30)])
    np.testing.assert_allclose(averaged, aggregated, atol=1e-12)


def test_of_nodes_that_weigh_the_same_the_first_are_listed() -> None:
    z = np.eye(2)[[0, 0, 0, 1, 0, 0]]
    found = soft_neighbours(z, 1, 3)
    assert found.nodes.tolist() == [0, 2, 4]
    assert found.by_class.tolist() == [1.0, 0.0]
