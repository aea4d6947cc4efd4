"""Polynomials of the adjacency against dense matrices, in value and gradient."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.nn import APPNP as Steps

from lcgnn.compute.kernels import use
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph
from lcgnn.networks import propagation
from lcgnn.sources.pyg import to_pyg

NUM_NODES = 30


def random_graph() -> Graph:
    """Weighted, with self-loops, and node 29 alone."""
    generator = np.random.default_rng(4)
    upper = np.triu(generator.random((NUM_NODES, NUM_NODES)) * (generator.random((NUM_NODES, NUM_NODES)) < 0.1))
    upper[:, -1] = 0
    adjacency = csr_array(upper + np.triu(upper, 1).T)
    return Graph("random", adjacency, np.zeros(NUM_NODES, dtype=int), ("a", "b"))


GRAPH = random_graph()
ADJACENCY = GraphTensors(GRAPH).adjacency
DENSE = ADJACENCY.matrix.to_dense().double()


def raised(steps: int) -> torch.Tensor:
    return torch.linalg.matrix_power(DENSE, steps)


def pagerank(steps: int, teleport: float) -> torch.Tensor:
    """The steps one after the other, from the identity on."""
    result = torch.eye(NUM_NODES, dtype=torch.float64)
    for _ in range(steps):
        result = (1 - teleport) * DENSE @ result + teleport * torch.eye(NUM_NODES, dtype=torch.float64)
    return result


def mean_from_one(steps: int, teleport: float) -> torch.Tensor:
    mean = torch.stack([raised(step) for step in range(1, steps + 1)]).mean(dim=0)
    return (1 - teleport) * mean + teleport * torch.eye(NUM_NODES, dtype=torch.float64)


# Each by its name: what is tested, and the (N, N) matrix that it stands for.
POLYNOMIALS = {
    "personalized": (propagation.personalized, pagerank),
    "powers_mean": (
        lambda matrix, rows, steps, _: propagation.powers_mean(matrix, rows, steps),
        lambda steps, _: torch.stack([raised(step) for step in range(steps + 1)]).mean(dim=0),
    ),
    "smoothed by the mean": (
        lambda matrix, rows, steps, teleport: propagation.smoothed(matrix, rows, "mean", steps, teleport),
        mean_from_one,
    ),
    "smoothed by the power": (
        lambda matrix, rows, steps, teleport: propagation.smoothed(matrix, rows, "power", steps, teleport),
        lambda steps, _: raised(steps),
    ),
    "smoothed by PageRank": (
        lambda matrix, rows, steps, teleport: propagation.smoothed(matrix, rows, "personalized", steps, teleport),
        pagerank,
    ),
    "powers": (
        lambda matrix, rows, steps, _: propagation.powers(matrix, rows, steps).sum(dim=0),
        lambda steps, _: torch.stack([raised(step) for step in range(steps + 1)]).sum(dim=0),
    ),
}


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("columns", [1, 3, 16, 70])
@pytest.mark.parametrize("steps", [1, 2, 10])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_values_and_gradients_are_those_of_the_dense_matrix(name, steps, columns, choice):
    propagate, matrix = POLYNOMIALS[name]
    generator = torch.Generator().manual_seed(columns)
    rows = torch.randn(NUM_NODES, columns, generator=generator, requires_grad=True)
    upstream = torch.randn(NUM_NODES, columns, generator=generator)
    dense = matrix(steps, 0.1)
    with use(choice):
        result = propagate(ADJACENCY, rows, steps, 0.1)
        (gradient,) = torch.autograd.grad(result, rows, upstream)
    torch.testing.assert_close(result.detach().double(), dense @ rows.detach().double(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient.double(), dense.T @ upstream.double(), rtol=1e-5, atol=1e-5)


def test_personalised_pagerank_is_pytorch_geometrics():
    data = to_pyg(GRAPH)
    start = torch.randn(NUM_NODES, 3, generator=torch.Generator().manual_seed(0))
    for steps, teleport in ((1, 0.3), (10, 0.1), (5, 1.0)):
        expected = Steps(K=steps, alpha=teleport)(start, data.edge_index, data.edge_weight)
        torch.testing.assert_close(
            propagation.personalized(ADJACENCY, start, steps, teleport), expected, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_one_step_has_the_gradient_of_both_its_matrices(choice):
    generator = torch.Generator().manual_seed(1)
    dense, added, upstream = (torch.randn(NUM_NODES, 5, generator=generator) for _ in range(3))
    dense.requires_grad_(), added.requires_grad_()
    with use(choice):
        result = propagation.blended(ADJACENCY, dense, 0.9, added, 0.1)
        gradients = torch.autograd.grad(result, (dense, added), upstream)
    expected = 0.9 * DENSE.float() @ dense + 0.1 * added
    torch.testing.assert_close(result, expected)
    for gradient, wanted in zip(gradients, torch.autograd.grad(expected, (dense, added), upstream), strict=True):
        torch.testing.assert_close(gradient, wanted)


def test_a_matrix_that_no_cache_holds_gives_the_same(monkeypatch):
    rows = torch.randn(NUM_NODES, 20, generator=torch.Generator().manual_seed(0))
    usual = propagation.personalized(ADJACENCY, rows, 3, 0.2)
    monkeypatch.setattr("lcgnn.compute.kernels.csr._LARGE", 0)
    torch.testing.assert_close(propagation.personalized(ADJACENCY, rows, 3, 0.2), usual)


@pytest.mark.parametrize("columns", [3, 32, 70])
@pytest.mark.parametrize("times", [0, 1, 2, 7])
def test_several_steps_in_one_call_are_the_single_ones_to_the_bit(times, columns):
    start = torch.randn(NUM_NODES, columns, generator=torch.Generator().manual_seed(2))
    expected = start
    for _ in range(times):
        expected = ADJACENCY.blended(expected, 0.8, start, 0.3)
    assert torch.equal(ADJACENCY.repeated(start, 0.8, 0.3, times), expected)
