"""Our GCN is PyTorch Geometric's with the same weights."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.networks.strong import assert_passes_are_autograds
from torch_geometric.nn import GCNConv

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph
from lcgnn.networks.gcn import GCN
from lcgnn.sources.pyg import to_pyg


def random_graph(*, weighted: bool = False, sparse: bool = True) -> Graph:
    """30 nodes, some alone, some with a self-loop."""
    generator = np.random.default_rng(0)
    upper = np.triu(generator.random((30, 30)) * (generator.random((30, 30)) < 0.06))
    adjacency = upper + np.triu(upper, 1).T
    adjacency = adjacency if weighted else (adjacency > 0).astype(np.float32)
    features = (generator.normal(size=(30, 12)) * (generator.random((30, 12)) < 0.4)).astype(np.float32)
    labels = generator.integers(4, size=30)
    return Graph(
        "random", csr_array(adjacency), labels, tuple("abcd"), csr_array(features) if sparse else features
    )


GRAPHS = {
    "random": random_graph(),
    "weighted": random_graph(weighted=True),
    "dense features": random_graph(sparse=False),
}


def network_for(graph: Graph) -> GCN:
    generator = torch.Generator().manual_seed(1)
    network = GCN(graph.num_features, graph.num_classes, generator=generator)
    with torch.no_grad():
        for bias in (network.bias_0, network.bias_1):
            bias.uniform_(-0.1, 0.1, generator=generator)
    return network


class Peer(torch.nn.Module):
    """Two GCNConv layers with a network's weights."""

    def __init__(self, network: GCN) -> None:
        super().__init__()
        num_features, hidden = network.weight_0.shape
        layers: Any = torch.nn.ModuleList(
            [GCNConv(num_features, hidden), GCNConv(hidden, network.weight_1.shape[1])]
        )
        self.layers = layers
        with torch.no_grad():
            for position, layer in enumerate(layers):
                layer.lin.weight.copy_(getattr(network, f"weight_{position}").T)
                layer.bias.copy_(getattr(network, f"bias_{position}"))

    def forward(self, data) -> torch.Tensor:
        hidden = self.layers[0](data.x, data.edge_index, data.edge_weight).relu()
        return self.layers[1](hidden, data.edge_index, data.edge_weight)

    def gradients(self) -> dict[str, torch.Tensor]:
        """By our names, in our layout."""
        found = {f"weight_{i}": layer.lin.weight.grad.T for i, layer in enumerate(self.layers)}
        return found | {f"bias_{i}": layer.bias.grad for i, layer in enumerate(self.layers)}


def assert_equals_pyg(graph: Graph) -> None:
    network = network_for(graph)
    peer = Peer(network)
    labels = torch.tensor(graph.labels)
    logits = network(GraphTensors(graph))
    expected = peer(to_pyg(graph))
    torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-5 * expected.abs().max().item())
    for output in (logits, expected):
        torch.nn.functional.cross_entropy(output, labels).backward()
    for name, wanted in peer.gradients().items():
        gradient = getattr(network, name).grad
        torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-5 * wanted.abs().max().item())


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("name", GRAPHS)
def test_logits_and_gradients_equal_pytorch_geometrics_on_small_graphs(name, choice):
    with use(choice):
        assert_equals_pyg(GRAPHS[name])


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_logits_and_gradients_equal_pytorch_geometrics_on_cora(cora, choice):
    with use(choice):
        assert_equals_pyg(cora[0])


@pytest.mark.parametrize("key", [None, 5])
def test_embedding_and_readout_make_the_forward_pass(key):
    graph = GraphTensors(GRAPHS["random"])
    network = network_for(graph.graph)
    assert torch.equal(network.readout(graph, network.embed(graph), key), network(graph, key))


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_dropout_acts_on_the_hidden_layer_alone(choice):
    graph = GraphTensors(GRAPHS["random"])
    network = network_for(graph.graph)
    with use(choice), torch.no_grad():
        hidden = (network.embed(graph) + network.bias_0).relu()
        dropped = hidden * Dropout(0.5, 9).mask_like(hidden)
        torch.testing.assert_close(
            network(graph, 9), graph.adjacency @ (dropped @ network.weight_1) + network.bias_1
        )


def test_the_same_generator_state_gives_the_same_weights():
    one, other = network_for(GRAPHS["random"]), network_for(GRAPHS["random"])
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("name", ["random", "dense features"])
def test_an_epochs_passes_give_autograds_logits_and_gradients(name, choice):
    graph = GraphTensors(GRAPHS[name])
    network, peer = network_for(graph.graph), network_for(graph.graph)
    with use(choice):
        assert_passes_are_autograds(network, peer, graph)
