"""Our GAT is PyTorch Geometric's with the same weights."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.networks.strong import assert_passes_are_autograds
from torch_geometric.nn import GATConv

from lcgnn.compute.kernels import Choice, use
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph
from lcgnn.networks.gat import GAT
from lcgnn.sources.pyg import to_pyg

CHOICES: tuple[Choice, ...] = ("fused", "plain")


def random_graph(*, sparse: bool = True) -> Graph:
    """30 nodes, some alone, some with a self-loop."""
    generator = np.random.default_rng(0)
    upper = np.triu(generator.random((30, 30)) < 0.06)
    features = (generator.normal(size=(30, 12)) * (generator.random((30, 12)) < 0.4)).astype(np.float32)
    return Graph(
        "random",
        csr_array((upper | upper.T).astype(np.float32)),
        generator.integers(4, size=30),
        tuple("abcd"),
        csr_array(features) if sparse else features,
    )


def network_for(graph: Graph, **options) -> GAT:
    generator = torch.Generator().manual_seed(1)
    network = GAT(graph.num_features, graph.num_classes, generator=generator, **options)
    with torch.no_grad():
        for bias in (network.bias_0, network.bias_1):
            bias.uniform_(-0.1, 0.1, generator=generator)
    return network


class Peer(torch.nn.Module):
    """Two GATConv layers with a network's weights, the second one averaging its heads."""

    def __init__(self, network: GAT) -> None:
        super().__init__()
        num_features, width = network.weight_0.shape
        (heads, hidden), (output_heads, num_classes) = network.source_0.shape, network.source_1.shape
        layers: Any = torch.nn.ModuleList(
            [
                GATConv(num_features, hidden, heads),
                GATConv(width, num_classes, output_heads, concat=False),
            ]
        )
        self.layers = layers
        with torch.no_grad():
            for i, layer in enumerate(layers):
                layer.lin.weight.copy_(getattr(network, f"weight_{i}").T)
                layer.att_src.copy_(getattr(network, f"source_{i}")[None])
                layer.att_dst.copy_(getattr(network, f"target_{i}")[None])
                layer.bias.copy_(getattr(network, f"bias_{i}"))

    def forward(self, data) -> torch.Tensor:
        hidden = torch.nn.functional.elu(self.layers[0](data.x, data.edge_index))
        return self.layers[1](hidden, data.edge_index)

    def gradients(self) -> dict[str, torch.Tensor]:
        """By our names, in our layout."""
        found: dict[str, torch.Tensor] = {}
        for i, layer in enumerate(self.layers):
            found |= {
                f"weight_{i}": layer.lin.weight.grad.T,
                f"source_{i}": layer.att_src.grad[0],
                f"target_{i}": layer.att_dst.grad[0],
                f"bias_{i}": layer.bias.grad,
            }
        return found


def assert_equals_pyg(graph: Graph, **options) -> None:
    network = network_for(graph, **options)
    peer = Peer(network)
    labels = torch.tensor(graph.labels)
    logits = network(GraphTensors(graph))
    expected = peer(to_pyg(graph))
    torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-5 * expected.abs().max().item())
    for output in (logits, expected):
        torch.nn.functional.cross_entropy(output, labels).backward()
    gradients = peer.gradients()
    assert set(gradients) == {name for name, _ in network.named_parameters()}
    for name, wanted in gradients.items():
        gradient = getattr(network, name).grad
        # The score vectors' gradients are small differences; they are measured beside their layer's weights.
        scale = max(wanted.abs().max().item(), gradients[f"weight_{name[-1]}"].abs().max().item())
        torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(
    "options",
    [{}, {"output_heads": 8}, {"heads": 1, "hidden": 5}, {"heads": 3, "hidden": 1, "output_heads": 2}],
    ids=str,
)
def test_logits_and_gradients_equal_pytorch_geometrics_for_any_number_of_heads(options, choice):
    with use(choice):
        assert_equals_pyg(random_graph(), **options)


@pytest.mark.parametrize("choice", CHOICES)
def test_dense_features_make_no_difference(choice):
    with use(choice):
        assert_equals_pyg(random_graph(sparse=False))


@pytest.mark.parametrize("choice", CHOICES)
def test_logits_and_gradients_equal_pytorch_geometrics_on_cora(cora, choice):
    with use(choice):
        assert_equals_pyg(cora[0])


@pytest.mark.parametrize("key", [None, 5])
def test_embedding_and_readout_make_the_forward_pass(key):
    graph = GraphTensors(random_graph())
    network = network_for(graph.graph)
    assert torch.equal(network.readout(graph, network.embed(graph), key), network(graph, key))


def test_both_kernels_use_the_same_masks_everywhere():
    """With dropout on input, hidden layer and attention, logits and all gradients agree."""
    graph = GraphTensors(random_graph())
    found = []
    for choice in CHOICES:
        network = network_for(graph.graph, output_heads=2)
        with use(choice):
            logits = network(graph, 5)
            logits.square().sum().backward()
        found.append([logits.detach(), *(parameter.grad for parameter in network.parameters())])
    for fused, plain in zip(*found, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-4, atol=1e-4)


def test_another_key_draws_other_masks():
    graph = GraphTensors(random_graph())
    network = network_for(graph.graph)
    assert torch.equal(network(graph, 5), network(graph, 5))
    assert not torch.equal(network(graph, 5), network(graph, 6))
    assert not torch.equal(network(graph, 5), network(graph))


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_an_epochs_passes_give_autograds_logits_and_gradients(choice):
    graph = GraphTensors(random_graph())
    network, peer = network_for(graph.graph), network_for(graph.graph)
    with use(choice):
        assert_passes_are_autograds(network, peer, graph)
