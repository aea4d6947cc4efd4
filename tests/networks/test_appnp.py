"""APPNP against a perceptron and PyTorch Geometric's propagation with the same weights."""

from typing import Any

import pytest
import torch
from tests.networks.strong import (
    NUM_CLASSES,
    NUM_FEATURES,
    assert_close,
    assert_passes_are_autograds,
    gradients,
    random_graph,
    with_random_biases,
)
from torch_geometric.nn import APPNP as Steps

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import Dropout, derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError
from lcgnn.methods import create
from lcgnn.networks.appnp import APPNP
from lcgnn.sources.pyg import to_pyg


def network_of(**settings) -> APPNP:
    network = APPNP(NUM_FEATURES, NUM_CLASSES, hidden=10, generator=torch.Generator().manual_seed(0), **settings)
    return with_random_biases(network)


def expected_logits(network: APPNP, graph, key: int | None) -> torch.Tensor:
    """In plain torch and PyTorch Geometric's layer; the masks are ours."""
    data = to_pyg(graph)
    x, hidden_mask = data.x, torch.ones(())
    if key is not None:
        x = x * Dropout(network.input_dropout, derive_key(key, "input")).mask_like(x)
        hidden_mask = Dropout(network.dropout, derive_key(key, "hidden")).mask_like(torch.empty(len(x), 10))
    hidden = (x @ network.weight_0 + network.bias_0).relu() * hidden_mask
    steps = Steps(K=network.steps, alpha=network.teleport)
    return steps(hidden @ network.weight_1 + network.bias_1, data.edge_index, data.edge_weight)


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("key", [None, 11])
def test_logits_and_gradients_equal_pytorch_geometrics(key, sparse, choice):
    graph, network = random_graph(sparse=sparse), network_of()
    with use(choice):
        logits = network(GraphTensors(graph), key)
        found = gradients(network, logits)
    expected = expected_logits(network, graph, key)
    assert_close(logits.detach(), expected.detach())
    for name, wanted in gradients(network, expected).items():
        assert_close(found[name], wanted)


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("smoothing", ["personalized", "mean", "power"])
@pytest.mark.parametrize(("sparse", "input_dropout"), [(True, 0.5), (False, 0.5), (True, 0.0)])
def test_an_epochs_passes_give_autograds_logits_and_gradients(sparse, input_dropout, smoothing, choice):
    network, peer = (network_of(smoothing=smoothing, input_dropout=input_dropout) for _ in range(2))
    with use(choice):
        assert_passes_are_autograds(network, peer, GraphTensors(random_graph(sparse=sparse)))


def test_only_the_first_layers_weights_are_penalised():
    method: Any = create("lc-appnp", weight_decay=0.1)
    for phase in (method.base_phase(), method.second_phase()):
        assert phase.decays == {"weight_0": 0.1}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"steps": 0}, "steps is 0; it must be at least 1"),
        ({"steps": 10_000}, "steps is 10000; it must be at most 1,000"),
        ({"teleport": 0.0}, "teleport is 0.0; it must be above 0"),
        ({"teleport": 1.5}, "teleport is 1.5; it must be at most 1"),
        ({"dropout": 1.0}, "dropout is 1.0; it must be below 1"),
        ({"input_dropout": 1.0}, "input_dropout is 1.0; it must be below 1"),
        ({"smoothing": "median"}, "smoothing is 'median'"),
    ],
)
def test_settings_out_of_range_are_told_in_one_line(settings, told):
    with pytest.raises(ConfigError, match=told) as error:
        create("lc-appnp", **settings)
    assert "\n" not in str(error.value)
