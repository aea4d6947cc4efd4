"""GRAND with batch normalisation against torch's own on the averaged features themselves."""

import math
from functools import partial

import pytest
import torch
from scipy.sparse import csr_array
from tests.networks.strong import (
    NUM_CLASSES,
    NUM_FEATURES,
    NUM_NODES,
    assert_close,
    gradients,
    random_graph,
    split_of,
)
from tests.networks.test_grand import HIDDEN, SETTINGS, mask

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import Dropout, derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import normalized_adjacency
from lcgnn.errors import ConfigError
from lcgnn.methods import create
from lcgnn.methods.base import Context
from lcgnn.networks.averaged_norm import AveragedNorm
from lcgnn.networks.grand import GRAND
from lcgnn.networks.propagation import powers_mean
from lcgnn.training.checkpoint import CheckpointFile

with_and_without_averaged_weights = pytest.mark.parametrize("averaged_weights", [0.0, 0.6])

STEPS, DROP_NODE, KEY = SETTINGS["steps"], SETTINGS["drop_node"], 13

both_kernels = pytest.mark.parametrize("choice", ["fused", "plain"])
either_features = pytest.mark.parametrize("sparse", [True, False])


def averages(graph, factors: torch.Tensor) -> torch.Tensor:
    """(N, F) the mean of the powers of the adjacency, times the features times a factor for each node."""
    features = graph.features.toarray() if isinstance(graph.features, csr_array) else graph.features
    adjacency = torch.tensor(normalized_adjacency(graph.adjacency).toarray())
    total = power = torch.tensor(features) * factors
    for _ in range(STEPS):
        power = adjacency @ power
        total = total + power
    return total / (STEPS + 1)


def drawn_averages(graph, key: int) -> torch.Tensor:
    """(4, N, F) what is measured."""
    kept = [
        Dropout(DROP_NODE, derive_key(key, draw)).mask_like(torch.empty(NUM_NODES, 1)) > 0 for draw in range(4)
    ]
    return torch.stack([averages(graph, one) for one in kept])


def measured(graph) -> AveragedNorm:
    norm = AveragedNorm(NUM_FEATURES)
    norm.measure(GraphTensors(graph), DROP_NODE, partial(powers_mean, steps=STEPS), KEY)
    with torch.no_grad():
        generator = torch.Generator().manual_seed(5)
        norm.scale.uniform_(0.5, 2, generator=generator)
        norm.shift.uniform_(-1, 1, generator=generator)
    return norm


@both_kernels
@either_features
def test_means_variances_and_squares_are_those_of_the_dense_averages(sparse, choice):
    graph = random_graph(sparse=sparse)
    with use(choice):
        norm = measured(graph)
    drawn = drawn_averages(graph, KEY)
    variance = drawn.var(dim=1, correction=0).mean(dim=0)
    assert_close(norm.mean, drawn.mean(dim=(0, 1)))
    assert_close(norm.deviation, (variance + 1e-5).sqrt())
    squares = ((drawn - norm.mean) / norm.deviation).square().mean(dim=0)
    assert norm.node_squares is not None
    assert_close(norm.node_squares, squares.mean(dim=1, keepdim=True))
    assert_close(norm.node_squares.mean() * norm.squares, squares.mean(dim=0))


def test_columns_are_measured_a_few_at_a_time(monkeypatch):
    graph, together = random_graph(), measured(random_graph())
    monkeypatch.setattr("lcgnn.networks.averaged_norm._COLUMNS", 5)
    apart = measured(graph)
    for name, value in together.state_dict().items():
        torch.testing.assert_close(apart.state_dict()[name], value)
    torch.testing.assert_close(apart.node_squares, together.node_squares)


def test_the_noise_has_the_variance_of_dropout_where_all_weights_are_equally_large():
    graph, norm, rate = random_graph(), measured(random_graph()), 0.6
    with torch.no_grad():
        norm.scale.fill_(1.5)
        norm.shift.zero_()
    signs = torch.randint(2, (NUM_FEATURES, 6), generator=torch.Generator().manual_seed(1)) * 2 - 1
    weight = 0.3 * signs
    tensors = GraphTensors(graph)
    noise = torch.stack([norm.noise(tensors, weight, rate, key) for key in range(1000)]).detach()
    normalised = (drawn_averages(graph, KEY) - norm.mean) / norm.deviation * 1.5
    expected = rate / (1 - rate) * normalised.square().mean(dim=0) @ weight.square()
    torch.testing.assert_close(noise.var(dim=0) / expected, torch.ones_like(expected), rtol=0, atol=0.25)
    assert (noise.mean(dim=0) / expected.sqrt()).abs().max() < 5 / math.sqrt(1000)


def network_of(graph, **settings) -> GRAND:
    generator = torch.Generator().manual_seed(0)
    settings = {**SETTINGS, "normalized": True, **settings}
    network = GRAND(NUM_FEATURES, NUM_CLASSES, generator=generator, **settings)
    network.prepare(GraphTensors(graph), seed=3)
    with torch.no_grad():
        for name, value in network.named_parameters():
            if value.dim() == 1:
                value.uniform_(0.4 if "weight" in name or "scale" in name else -0.5, 1.2, generator=generator)
    return network


def torchs_logits(network: GRAND, graph, key: int | None) -> torch.Tensor:
    """Torch's normalisation of the averages, by the measured means and variances, and of the hidden layer."""
    norm, training = network.averages, key is not None
    assert norm is not None
    assert network.hidden_norm is not None
    kept = 1 - DROP_NODE if key is None else mask(DROP_NODE, key, "nodes", 1) > 0
    normal = torch.nn.functional.batch_norm(
        averages(graph, kept), norm.mean, norm.deviation.square() - 1e-5, norm.scale, norm.shift
    )
    hidden = (normal @ network.weight_0 + network.bias_0).relu()
    after = network.hidden_norm
    running = None if training else after.running_mean, None if training else after.running_var
    hidden = torch.nn.functional.batch_norm(hidden, *running, after.weight, after.bias, training)
    if key is not None:
        hidden = hidden * mask(network.dropout, key, "hidden", HIDDEN)
    return hidden @ network.weight_1 + network.bias_1


@both_kernels
@either_features
@pytest.mark.parametrize("key", [None, 11])
def test_logits_and_gradients_equal_torchs_normalisation_of_the_averages(key, sparse, choice):
    graph = random_graph(sparse=sparse)
    with use(choice):
        tensors = GraphTensors(graph)
        network = network_of(graph)
        network(tensors, 7)  # After which the hidden layer's running means are not those of the start.
        logits = network(tensors, key)
        found = gradients(network, logits)
    expected = torchs_logits(network, graph, key)
    assert_close(logits.detach(), expected.detach())
    for name, wanted in gradients(network, expected).items():
        torch.testing.assert_close(
            found[name], wanted, rtol=1e-3, atol=1e-4 * max(wanted.abs().max().item(), 1e-2)
        )


def test_dropout_of_the_averages_adds_the_noise_of_its_key():
    graph = random_graph()
    tensors, network = GraphTensors(graph), network_of(graph, input_dropout=0.5, dropout=0.0)
    again, other = network(tensors, 4), network(tensors, 5)
    torch.testing.assert_close(network(tensors, 4), again, rtol=0, atol=0)
    assert not torch.equal(again, other)
    torch.testing.assert_close(network(tensors), network(tensors), rtol=0, atol=0)


@with_and_without_averaged_weights
def test_what_is_fitted_gives_the_same_answer_without_the_graph_that_it_was_fitted_to(averaged_weights):
    graph = random_graph()
    method = create(
        "lc-grand",
        normalized=True,
        averaged_weights=averaged_weights,
        base_epochs=6,
        epochs=4,
        hidden=5,
        steps=2,
    )
    fit = method.fit(graph, split_of(graph), seed=1, context=Context(device="cpu"))
    again = method.fit(graph, split_of(graph), seed=1, context=Context(device="cpu"))
    assert (fit.label_distribution == again.label_distribution).all()
    assert method.apply(fit.tensors, graph, "cpu") == pytest.approx(fit.label_distribution, abs=1e-5)


class Interrupted(Exception):
    """What a progress callback raises here."""


@with_and_without_averaged_weights
def test_a_fit_that_was_interrupted_ends_as_if_it_had_not_been(averaged_weights, tmp_path):
    graph = random_graph()
    method = create(
        "lc-grand",
        normalized=True,
        averaged_weights=averaged_weights,
        base_epochs=6,
        epochs=4,
        hidden=5,
        steps=2,
    )
    whole = method.fit(graph, split_of(graph), seed=1, context=Context(device="cpu"))

    def stop(progress):
        if progress.epoch == 3:
            raise Interrupted

    checkpoint = CheckpointFile(tmp_path / "state", "this run", every=0.0)
    with pytest.raises(Interrupted):
        method.fit(graph, split_of(graph), 1, Context(device="cpu", checkpoint=checkpoint, progress=stop))
    assert checkpoint.load() is not None
    continued = method.fit(graph, split_of(graph), 1, Context(device="cpu", checkpoint=checkpoint))
    assert (continued.label_distribution == whole.label_distribution).all()


def test_a_graph_in_parts_is_refused_in_one_line():
    graph = random_graph()
    with pytest.raises(ConfigError, match="whole") as told:
        create("lc-grand", normalized=True).fit(graph, split_of(graph), context=Context(device="cpu", parts=2))
    assert "\n" not in str(told.value)
