"""Any torch module as a network: PyTorch Geometric's GCN is ours, and what a module keeps and draws is in hand."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.nn.models import GAT as PyGGAT
from torch_geometric.nn.models import GCN as PyGGCN

from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph
from lcgnn.networks.gcn import GCN
from lcgnn.networks.module import ModuleNetwork, module_inputs
from lcgnn.networks.network import Passes

NUM_NODES, NUM_FEATURES, NUM_CLASSES = 30, 8, 3


def random_graph(*, sparse: bool = False, weighted: bool = False) -> Graph:
    generator = np.random.default_rng(3)
    features = generator.random((NUM_NODES, NUM_FEATURES)).astype(np.float32)
    edges = generator.integers(0, NUM_NODES, (2, 70))
    return Graph.from_edges(
        "random",
        edges,
        NUM_NODES,
        generator.integers(0, NUM_CLASSES, NUM_NODES),
        tuple("abc"),
        weights=generator.uniform(0.5, 2, 70) if weighted else None,
        features=csr_array(np.where(features < 0.5, 0, features)) if sparse else features,
    )


def pyg_gcn(num_features: int, num_classes: int) -> PyGGCN:
    return PyGGCN(num_features, 16, 2, num_classes, dropout=0.5)


def network_of(factory, seed: int = 0) -> ModuleNetwork:
    return ModuleNetwork(NUM_FEATURES, NUM_CLASSES, factory, generator=torch.Generator().manual_seed(seed))


class Normalised(nn.Module):
    """A perceptron with batch normalisation and dropout, which looks at no edge."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(num_features, 8), nn.BatchNorm1d(8)
        self.dropout, self.second = nn.Dropout(0.5), nn.Linear(8, num_classes)

    def forward(self, x, edge_index):  # noqa: ARG002
        return self.second(self.dropout(torch.relu(self.norm(self.first(x)))))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_pytorch_geometrics_gcn_gives_our_gcns_logits_and_gradients(sparse, weighted):
    graph = GraphTensors(random_graph(sparse=sparse, weighted=weighted))
    network = network_of(lambda features, classes: PyGGCN(features, 16, 2, classes))
    ours = GCN(NUM_FEATURES, NUM_CLASSES, dropout=0.0, generator=torch.Generator().manual_seed(0))
    pairs = {"weight_0": "convs.0.lin.weight", "weight_1": "convs.1.lin.weight"}
    with torch.no_grad():
        for name, theirs in pairs.items():
            getattr(ours, name).copy_(network.module.get_parameter(theirs).T)
    torch.testing.assert_close(network(graph), ours(graph), rtol=1e-5, atol=1e-6)
    gradient = torch.randn(NUM_NODES, NUM_CLASSES, generator=torch.Generator().manual_seed(5))
    for item in (network, ours):
        passes = Passes(item, graph)
        passes.begin()
        passes.train(1)
        passes.backward(gradient)
    for name, theirs in pairs.items():
        expected = network.module.get_parameter(theirs).grad.T
        torch.testing.assert_close(getattr(ours, name).grad, expected, rtol=1e-4, atol=1e-5)


def test_a_key_gives_the_same_masks_and_leaves_torchs_generator_as_it_was():
    graph, network = GraphTensors(random_graph()), network_of(pyg_gcn)
    before = torch.random.get_rng_state()
    one, again, other = network(graph, 1), network(graph, 1), network(graph, 2)
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert torch.equal(network(graph), network(graph))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_initial_weights_come_from_the_generator_alone():
    torch.manual_seed(1)
    one = network_of(pyg_gcn, 4).state()
    torch.manual_seed(2)
    again, other = network_of(pyg_gcn, 4).state(), network_of(pyg_gcn, 5).state()
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["module.convs.0.lin.weight"], other["module.convs.0.lin.weight"])


def test_buffers_that_a_module_keeps_are_part_of_its_state():
    graph, network = GraphTensors(random_graph()), network_of(Normalised)
    assert {"module.norm.running_mean", "module.norm.num_batches_tracked"} <= network.state().keys()
    before = {name: value.clone() for name, value in network.state().items()}
    network(graph)
    assert all(torch.equal(before[name], value) for name, value in network.state().items())
    network(graph, 1)
    assert not torch.equal(before["module.norm.running_mean"], network.state()["module.norm.running_mean"])
    network.load(before)
    assert all(torch.equal(before[name], value) for name, value in network.state().items())
    with pytest.raises(DataError, match="do not fit"):
        network.load({name: value for name, value in before.items() if "running" not in name})


def test_our_own_networks_keep_nothing_but_their_parameters():
    network = GCN(NUM_FEATURES, NUM_CLASSES, bias=False, generator=torch.Generator())
    assert list(network.state()) == ["weight_0", "weight_1"]


class OneConvolution(nn.Module):
    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.convolution = GCNConv(num_features, num_classes)
        self.seen: list[torch.Tensor | None] = []


class Weighted(OneConvolution):
    def forward(self, x, edge_index, edge_weight=None):
        self.seen.append(edge_weight)
        return self.convolution(x, edge_index, edge_weight)


class Unweighted(OneConvolution):
    def forward(self, x, edge_index):
        return self.convolution(x, edge_index)


def test_weights_reach_a_module_that_takes_them_where_there_are_some():
    weighted, plain = GraphTensors(random_graph(weighted=True)), GraphTensors(random_graph())
    network = network_of(Weighted)
    network(weighted)
    network(plain)
    assert isinstance(network.module, Weighted)
    given, none = network.module.seen
    assert torch.equal(given, torch.tensor(weighted.links.data))
    assert none is None
    assert network_of(Unweighted)(weighted).shape == (NUM_NODES, NUM_CLASSES)
    attention = network_of(lambda features, classes: PyGGAT(features, 8, 2, classes, heads=2))
    assert attention(weighted).shape == (NUM_NODES, NUM_CLASSES)


def test_a_module_gets_a_copy_of_the_features():
    graph = GraphTensors(random_graph())
    module_inputs(graph).x.zero_()
    assert graph.graph.features.any()


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (lambda *_: None, "gave a NoneType; it must return a torch.nn.Module"),
        (lambda _, classes: PyGGCN(-1, 16, 2, classes), "GCN has parameters whose shape is not known yet"),
        (lambda *_: nn.ReLU(), "ReLU has no parameter to train"),
    ],
)
def test_a_factory_that_gives_nothing_trainable_is_refused_with_the_reason(factory, message):
    with pytest.raises(ConfigError, match=message):
        network_of(factory)


def test_a_module_without_one_output_a_class_is_refused_with_what_it_gave():
    network = network_of(lambda features, classes: PyGGCN(features, 16, 2, classes + 1))
    with pytest.raises(ConfigError, match=r"GCN gave \(30, 4\) where logits of shape \(30, 3\) are expected"):
        network(GraphTensors(random_graph()))


def test_a_graph_in_parts_is_refused():
    with pytest.raises(ConfigError, match="without parts"):
        network_of(pyg_gcn).passes(PartwiseTensors(random_graph(), 2))
