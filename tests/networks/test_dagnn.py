"""DAGNN against its formula with dense matrices."""

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

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import Dropout, derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError
from lcgnn.methods import create
from lcgnn.networks.dagnn import DAGNN


def network_of(**settings) -> DAGNN:
    network = DAGNN(NUM_FEATURES, NUM_CLASSES, hidden=10, generator=torch.Generator().manual_seed(0), **settings)
    return with_random_biases(network)


def expected_logits(network: DAGNN, graph: GraphTensors, key: int | None) -> torch.Tensor:
    """The paper's formula, node by node a sum over distances; the masks are ours."""
    adjacency, features = graph.adjacency.matrix.to_dense(), graph.graph.features
    x = torch.tensor(features if not hasattr(features, "todense") else features.todense())
    hidden_mask = torch.ones(())
    if key is not None:
        x = x * Dropout(network.dropout, derive_key(key, "input")).mask_like(x)
        hidden_mask = Dropout(network.dropout, derive_key(key, "hidden")).mask_like(torch.empty(len(x), 10))
    hidden = (x @ network.weight_0 + network.bias_0).relu() * hidden_mask
    answers = hidden @ network.weight_1 + network.bias_1
    total = torch.zeros_like(answers)
    for distance in range(network.steps + 1):
        there = torch.linalg.matrix_power(adjacency, distance) @ answers
        total = total + torch.sigmoid(there @ network.gate + network.gate_bias) * there
    return total


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("steps", "key"), [(1, None), (6, None), (6, 11)])
def test_logits_and_gradients_equal_the_formulas(steps, key, sparse, choice):
    graph, network = GraphTensors(random_graph(sparse=sparse)), network_of(steps=steps)
    with use(choice):
        logits = network(graph, key)
        found = gradients(network, logits)
    expected = expected_logits(network, graph, key)
    assert_close(logits.detach(), expected.detach())
    for name, wanted in gradients(network, expected).items():
        assert_close(found[name], wanted)


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize(("sparse", "dropout"), [(True, 0.5), (False, 0.5), (True, 0.0)])
def test_an_epochs_passes_give_autograds_logits_and_gradients(sparse, dropout, choice):
    network, peer = network_of(dropout=dropout), network_of(dropout=dropout)
    with use(choice):
        assert_passes_are_autograds(network, peer, GraphTensors(random_graph(sparse=sparse)))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"steps": 0}, "steps is 0; it must be at least 1"),
        ({"steps": 10_000}, "steps is 10000; it must be at most 1,000"),
        ({"dropout": 1.0}, "dropout is 1.0; it must be below 1"),
    ],
)
def test_settings_out_of_range_are_told_in_one_line(settings, told):
    with pytest.raises(ConfigError, match=told) as error:
        create("lc-dagnn", **settings)
    assert "\n" not in str(error.value)
