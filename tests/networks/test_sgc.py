"""Our SGC is PyTorch Geometric's with the same weights."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import SGConv

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph
from lcgnn.methods import create
from lcgnn.networks.sgc import SGC
from lcgnn.sources.pyg import to_pyg


def random_graph(*, sparse: bool) -> Graph:
    generator = np.random.default_rng(0)
    edges = generator.integers(0, 40, (2, 80))
    features = (generator.normal(size=(40, 9)) * (generator.random((40, 9)) < 0.5)).astype(np.float32)
    if sparse:
        from scipy.sparse import csr_array

        features = csr_array(features)
    return Graph.from_edges("random", edges, 40, generator.integers(0, 3, 40), tuple("abc"), features=features)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_logits_and_gradients_equal_pytorch_geometrics(steps, sparse):
    graph = random_graph(sparse=sparse)
    network = SGC(9, 3, steps=steps, generator=torch.Generator().manual_seed(0))
    peer = SGConv(9, 3, K=steps)
    with torch.no_grad():
        peer.lin.weight.copy_(network.weight.T)
        peer.lin.bias.copy_(network.bias)
    data = to_pyg(graph)
    outputs = network(GraphTensors(graph)), peer(data.x, data.edge_index)
    torch.testing.assert_close(*outputs, rtol=1e-5, atol=1e-5)
    for output in outputs:
        torch.nn.functional.cross_entropy(output, torch.tensor(graph.labels)).backward()
    torch.testing.assert_close(network.weight.grad, peer.lin.weight.grad.T, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.bias.grad, peer.lin.bias.grad, rtol=1e-4, atol=1e-5)


def test_dense_features_are_propagated_once(monkeypatch):
    graph = GraphTensors(random_graph(sparse=False))
    network = SGC(9, 3, generator=torch.Generator().manual_seed(0))
    first = network(graph)
    monkeypatch.setattr(type(graph.adjacency), "product", lambda *_: pytest.fail("an epoch touched the edges"))
    assert torch.equal(network(graph), first)


def test_at_least_one_step_is_needed():
    with pytest.raises(ConfigError, match="steps is 0"):
        create("sgc", steps=0)
