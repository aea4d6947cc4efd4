"""GCNII against PyTorch Geometric's GCN2Conv with the same weights."""

from typing import Any

import pytest
import torch
from tests.networks.strong import (
    NUM_CLASSES,
    NUM_FEATURES,
    NUM_NODES,
    assert_close,
    assert_passes_are_autograds,
    gradients,
    random_graph,
    with_random_biases,
)
from torch_geometric.nn import GCN2Conv

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import Dropout, derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError
from lcgnn.methods import create
from lcgnn.networks.gcnii import GCNII
from lcgnn.sources.pyg import to_pyg

HIDDEN = 10


def network_of(layers: int = 4, *, hidden: int = HIDDEN, **settings) -> GCNII:
    generator = torch.Generator().manual_seed(0)
    network = GCNII(NUM_FEATURES, NUM_CLASSES, layers=layers, hidden=hidden, generator=generator, **settings)
    return with_random_biases(network)


def expected_logits(network: GCNII, graph, key: int | None) -> torch.Tensor:
    """By PyTorch Geometric's layers; the masks are ours."""
    data = to_pyg(graph)

    def dropped(rows: torch.Tensor, place: str) -> torch.Tensor:
        return rows if key is None else rows * Dropout(network.dropout, derive_key(key, place)).mask_like(rows)

    first = current = (dropped(data.x, "input") @ network.weight_0 + network.bias_0).relu()
    for number, weight in enumerate(network.convolutions):
        layer = GCN2Conv(HIDDEN, alpha=network.teleport, theta=0.5, layer=number + 1)
        del layer.weight1
        layer.weight1 = weight
        before = dropped(current, f"layer {number}")
        current = layer(before, first, data.edge_index, data.edge_weight).relu()
    return dropped(current, "output") @ network.weight_1 + network.bias_1


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("layers", "key"), [(1, None), (5, None), (5, 11)])
def test_logits_and_gradients_equal_pytorch_geometrics(layers, key, sparse, choice):
    graph, network = random_graph(sparse=sparse), network_of(layers)
    with use(choice):
        logits = network(GraphTensors(graph), key)
        found = gradients(network, logits)
    expected = expected_logits(network, graph, key)
    assert_close(logits.detach(), expected.detach())
    for name, wanted in gradients(network, expected).items():
        assert_close(found[name], wanted)


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize(("sparse", "dropout", "layers"), [(True, 0.5, 4), (False, 0.5, 1), (True, 0.0, 3)])
def test_an_epochs_passes_give_autograds_logits_and_gradients(sparse, dropout, layers, choice):
    network, peer = network_of(layers, dropout=dropout), network_of(layers, dropout=dropout)
    with use(choice):
        assert_passes_are_autograds(network, peer, GraphTensors(random_graph(sparse=sparse)))


@pytest.mark.parametrize(("numbers", "hidden"), [(1, 10), (70, 10), (700, 70)])
def test_passes_over_a_few_rows_at_a_time_give_the_same(numbers, hidden, monkeypatch):
    """One row at a time, seven, and layers wider than what is multiplied at once."""
    monkeypatch.setattr("lcgnn.compute.kernels.convolution._NUMBERS", numbers)
    network, peer = network_of(hidden=hidden), network_of(hidden=hidden)
    assert_passes_are_autograds(network, peer, GraphTensors(random_graph()))


def test_the_deeper_a_weight_the_less_it_matters():
    network = network_of(layers=6, strength=0.5)
    logarithms = torch.log1p(0.5 / torch.arange(1, 7)).tolist()
    assert network.strengths == pytest.approx(logarithms)


def test_convolutions_and_dense_layers_have_their_own_penalty():
    method: Any = create("gcnii", weight_decay=0.1, convolution_decay=0.2)
    assert method.base_phase().decays == {
        "weight_0": 0.1,
        "bias_0": 0.1,
        "weight_1": 0.1,
        "bias_1": 0.1,
        "convolutions": 0.2,
    }


def test_no_buffer_is_stored_with_the_parameters():
    network = network_of()
    assert network.state().keys() == dict(network.named_parameters()).keys()
    assert network(GraphTensors(random_graph())).shape == (NUM_NODES, NUM_CLASSES)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"layers": 0}, "layers is 0; it must be at least 1"),
        ({"layers": 10_000}, "layers is 10000; it must be at most 1,000"),
        ({"teleport": 0.0}, "teleport is 0.0; it must be above 0"),
        ({"teleport": -0.1}, "teleport is -0.1; it must be above 0"),
        ({"dropout": 1.0}, "dropout is 1.0; it must be below 1"),
        ({"strength": -1.0}, "strength is -1.0; it must be at least 0"),
    ],
)
def test_settings_out_of_range_are_told_in_one_line(settings, told):
    with pytest.raises(ConfigError, match=told) as error:
        create("lc-gcnii", **settings)
    assert "\n" not in str(error.value)
