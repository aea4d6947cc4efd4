"""ChebyNet against PyTorch Geometric's ChebConv, and its recurrence against the polynomials themselves."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.nn import ChebConv

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.graph import Graph
from lcgnn.networks.cheby import Cheby, chebyshev_sum, scaled_laplacian

NUM_NODES, NUM_FEATURES, NUM_CLASSES = 30, 12, 4


def small_graph() -> Graph:
    """Sparse features, a node without neighbours (29), weights that are all 1."""
    generator = np.random.default_rng(3)
    edges = generator.integers(NUM_NODES - 1, size=(2, 60))
    features = csr_array(generator.random((NUM_NODES, NUM_FEATURES)) * (generator.random((30, 12)) < 0.4))
    return Graph.from_edges(
        "small", edges, NUM_NODES, generator.integers(NUM_CLASSES, size=NUM_NODES), list("abcd"), features=features
    )


def pyg_network(network: Cheby, order: int) -> tuple[ChebConv, ChebConv]:
    layers = ChebConv(NUM_FEATURES, 16, order), ChebConv(16, NUM_CLASSES, order)
    parameters = (network.weight_0, network.bias_0), (network.weight_1, network.bias_1)
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers, parameters, strict=True):
            layer.bias.copy_(bias)
            for linear, part in zip(layer.lins, weight, strict=True):
                linear.weight.copy_(part.T)
    return layers


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_logits_and_gradients_equal_those_of_pyg_with_the_same_weights(order):
    graph = small_graph()
    generator = torch.Generator().manual_seed(0)
    network = Cheby(NUM_FEATURES, NUM_CLASSES, order=order, generator=generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1)
    first, second = pyg_network(network, order)
    x = torch.tensor(csr_array(graph.features).toarray())
    edge_index = torch.tensor(np.stack(graph.adjacency.nonzero()))
    expected = second(torch.relu(first(x, edge_index)), edge_index)
    logits = network(GraphTensors(graph))
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)

    target = torch.randn(logits.shape, generator=generator)
    logits.backward(target)
    expected.backward(target)
    for layer, weight, bias in (
        (first, network.weight_0, network.bias_0),
        (second, network.weight_1, network.bias_1),
    ):
        ours = torch.stack([linear.weight.grad.T for linear in layer.lins])
        torch.testing.assert_close(weight.grad, ours, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(bias.grad, layer.bias.grad, atol=1e-5, rtol=1e-4)


def test_the_sum_equals_that_of_the_explicit_polynomials():
    generator = torch.Generator().manual_seed(1)
    laplacian = scaled_laplacian(GraphTensors(small_graph()))
    dense = laplacian.matrix.to_dense()
    identity = torch.eye(NUM_NODES)
    polynomials = [identity, dense, 2 * dense @ dense - identity, 4 * dense @ dense @ dense - 3 * dense]
    terms = [torch.randn(NUM_NODES, 3, generator=generator) for _ in polynomials]
    expected = sum(polynomial @ term for polynomial, term in zip(polynomials, terms, strict=True))
    torch.testing.assert_close(chebyshev_sum(laplacian, terms), expected, atol=1e-5, rtol=1e-5)


def test_the_scaled_laplacian_has_its_eigenvalues_between_minus_one_and_one():
    laplacian = scaled_laplacian(GraphTensors(small_graph()))
    assert isinstance(laplacian, SparseMatrix)
    eigenvalues = torch.linalg.eigvalsh(laplacian.matrix.to_dense())
    assert eigenvalues.abs().max() <= 1 + 1e-6


def test_a_graph_form_is_made_once_and_forgotten_with_its_graph():
    graph = GraphTensors(small_graph())
    assert scaled_laplacian(graph) is scaled_laplacian(graph)
    assert scaled_laplacian(graph) is not scaled_laplacian(GraphTensors(graph.graph))
