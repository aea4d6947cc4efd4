"""MoNet against PyTorch Geometric's GMMConv with the same weights and edges."""

import numpy as np
import torch
from scipy.sparse import csr_array
from torch_geometric.nn import GMMConv
from torch_geometric.utils import add_self_loops, degree

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph
from lcgnn.networks.monet import GaussianMixture, MoNet, degree_pairs

NUM_NODES, NUM_FEATURES, NUM_CLASSES, HIDDEN, KERNELS = 30, 12, 4, 8, 3


def small_graph() -> Graph:
    """Sparse features and a node without neighbours (29)."""
    generator = np.random.default_rng(4)
    edges = generator.integers(NUM_NODES - 1, size=(2, 60))
    features = csr_array(generator.random((NUM_NODES, NUM_FEATURES)) * (generator.random((30, 12)) < 0.4))
    return Graph.from_edges(
        "small", edges, NUM_NODES, generator.integers(NUM_CLASSES, size=NUM_NODES), list("abcd"), features=features
    )


def pyg_layer(layer: GaussianMixture, inputs: int, outputs: int) -> GMMConv:
    convolution = GMMConv(inputs, outputs, dim=2, kernel_size=KERNELS, root_weight=False)
    convolution.root = None  # GMMConv reads it even without a root weight.
    with torch.no_grad():
        convolution.g.copy_(layer.weight)
        convolution.mu.copy_(layer.mean)
        convolution.sigma.copy_(layer.width)
        convolution.bias.copy_(layer.bias)
    return convolution


def pseudo_coordinates(layer: GaussianMixture, edge_index: torch.Tensor) -> torch.Tensor:
    """Through copies of the layer's projection, so that their gradients stand apart from ours."""
    scale = degree(edge_index[1], NUM_NODES).rsqrt()
    ends = torch.stack([scale[edge_index[1]], scale[edge_index[0]]], dim=1)
    return torch.tanh(ends @ layer.projection.detach() + layer.shift.detach())


def test_logits_and_gradients_equal_those_of_pyg_with_the_same_weights():
    graph = small_graph()
    generator = torch.Generator().manual_seed(0)
    network = MoNet(NUM_FEATURES, NUM_CLASSES, kernels=KERNELS, hidden=HIDDEN, dropout=0.5, generator=generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    first = pyg_layer(network.layer_0, NUM_FEATURES, HIDDEN)
    second = pyg_layer(network.layer_1, HIDDEN, NUM_CLASSES)
    x = torch.tensor(csr_array(graph.features).toarray())
    edge_index, _ = add_self_loops(torch.tensor(np.stack(graph.adjacency.nonzero())), num_nodes=NUM_NODES)
    hidden = torch.relu(first(x, edge_index, pseudo_coordinates(network.layer_0, edge_index)))
    expected = second(hidden, edge_index, pseudo_coordinates(network.layer_1, edge_index))
    logits = network(GraphTensors(graph))
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)

    target = torch.randn(logits.shape, generator=generator)
    logits.backward(target)
    expected.backward(target)
    for ours, theirs in ((network.layer_0, first), (network.layer_1, second)):
        pairs = (
            (ours.weight, theirs.g),
            (ours.mean, theirs.mu),
            (ours.width, theirs.sigma),
            (ours.bias, theirs.bias),
        )
        for parameter, other in pairs:
            torch.testing.assert_close(parameter.grad, other.grad, atol=1e-5, rtol=1e-4)


def test_the_gradient_of_the_projection_is_right():
    graph = GraphTensors(small_graph())
    generator = torch.Generator().manual_seed(1)
    layer = GaussianMixture(NUM_FEATURES, HIDDEN, KERNELS, generator)
    products = torch.randn(NUM_NODES, KERNELS * HIDDEN, generator=generator)
    neighbours = degree_pairs(graph)

    def total() -> torch.Tensor:
        return layer(products, neighbours).sum()

    total().backward()
    step = 1e-2
    for entry in range(2):
        with torch.no_grad():
            layer.shift[entry] += step
            above = total()
            layer.shift[entry] -= 2 * step
            below = total()
            layer.shift[entry] += step
        torch.testing.assert_close(layer.shift.grad[entry], (above - below) / (2 * step), atol=5e-2, rtol=5e-2)


def test_degrees_count_the_node_itself():
    neighbours = degree_pairs(GraphTensors(small_graph()))
    assert neighbours.degree[29].item() == 1
    assert neighbours.coordinates.max().item() == 1
