"""GRAND against the authors' form with the same weights and masks: features propagated, then a perceptron."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.networks.strong import (
    NUM_CLASSES,
    NUM_FEATURES,
    NUM_NODES,
    assert_close,
    gradients,
    random_graph,
    split_of,
    with_random_biases,
)

from lcgnn.compute.kernels import threads, use
from lcgnn.compute.kernels.dropout import Dropout, derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import normalized_adjacency
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph
from lcgnn.methods import create
from lcgnn.networks.grand import GRAND
from lcgnn.networks.grand_passes import GRANDPasses
from lcgnn.networks.network import Passes

HIDDEN = 10
SETTINGS: dict[str, Any] = {
    "hidden": HIDDEN,
    "steps": 3,
    "samples": 3,
    "temperature": 0.5,
    "agreement_weight": 0.7,
    "confidence": 0.0,
    "drop_node": 0.5,
    "dropout": 0.4,
    "input_dropout": 0.0,
}

both_kernels = pytest.mark.parametrize("choice", ["fused", "plain"])
either_features = pytest.mark.parametrize("sparse", [True, False])


def network_of(**settings) -> GRAND:
    generator = torch.Generator().manual_seed(0)
    return with_random_biases(GRAND(NUM_FEATURES, NUM_CLASSES, generator=generator, **{**SETTINGS, **settings}))


def _dense(features):
    return features.toarray() if hasattr(features, "toarray") else features


def mask(rate: float, key: int, place: str, columns: int) -> torch.Tensor:
    return Dropout(rate, derive_key(key, place)).mask_like(torch.empty(NUM_NODES, columns))


def shares_of_powers(network: GRAND) -> list[float]:
    """What the powers 0 to K of the adjacency count."""
    if network.smoothing == "mean":
        return [1 / (network.steps + 1)] * (network.steps + 1)
    stay, go = network.teleport, 1 - network.teleport
    return [*(stay * go**step for step in range(network.steps)), go**network.steps]


def authors_logits(network: GRAND, graph, key: int | None) -> torch.Tensor:
    """The averaged powers of the adjacency times the features themselves, then two layers."""
    x = torch.tensor(_dense(graph.features))
    hidden_mask = torch.ones(())
    if key is None:
        x = x * (1 - network.drop_node)
    else:
        x = x * (mask(network.drop_node, key, "nodes", 1) > 0)
        if network.input_dropout:
            x = x * mask(network.input_dropout, key, "input", NUM_FEATURES)
        hidden_mask = mask(network.dropout, key, "hidden", HIDDEN)
    adjacency = torch.tensor(normalized_adjacency(graph.adjacency).toarray())
    averaged = sum(
        share * torch.linalg.matrix_power(adjacency, step) @ x
        for step, share in enumerate(shares_of_powers(network))
    )
    hidden = (averaged @ network.weight_0 + network.bias_0).relu() * hidden_mask
    return hidden @ network.weight_1 + network.bias_1


def authors_disagreement(samples: list[torch.Tensor], temperature: float) -> torch.Tensor:
    """The consistency loss as the authors' script has it."""
    predictions = [torch.softmax(logits, dim=1) for logits in samples]
    mean = torch.stack(predictions).mean(dim=0)
    sharp = mean.pow(1 / temperature)
    sharp = (sharp / sharp.sum(dim=1, keepdim=True)).detach()
    losses = [(one - sharp).square().sum(dim=1).mean() for one in predictions]
    return torch.stack(losses).mean()


@both_kernels
@either_features
@pytest.mark.parametrize("input_dropout", [0.0, 0.3])
@pytest.mark.parametrize("key", [None, 11])
@pytest.mark.parametrize("smoothing", [{}, {"smoothing": "personalized", "teleport": 0.3}])
def test_logits_and_gradients_equal_the_authors_form(smoothing, key, input_dropout, sparse, choice):
    graph, network = random_graph(sparse=sparse), network_of(input_dropout=input_dropout, **smoothing)
    with use(choice):
        tensors = GraphTensors(graph)
        logits = network.readout(tensors, network.embed(tensors), key)
        found = gradients(network, logits)
    expected = authors_logits(network, graph, key)
    assert_close(logits.detach(), expected.detach())
    for name, wanted in gradients(network, expected).items():
        assert_close(found[name], wanted)


@both_kernels
@either_features
def test_a_training_pass_has_the_authors_samples_and_consistency_loss(sparse, choice):
    graph, network = random_graph(sparse=sparse), network_of(input_dropout=0.3)
    with use(choice):
        output = network.train_pass(GraphTensors(graph), None, key=5)
        names, parameters = zip(*network.named_parameters(), strict=True)
        found = torch.autograd.grad(output.extra_loss, parameters)
    samples = [authors_logits(network, graph, derive_key(5, sample)) for sample in range(network.samples)]
    for answer, sample in zip(output.answers, samples, strict=True):
        assert_close(answer.detach(), sample.detach())
    expected = network.agreement_weight * authors_disagreement(samples, network.temperature)
    assert_close(output.extra_loss.detach(), expected.detach())
    for name, one, wanted in zip(names, found, torch.autograd.grad(expected, parameters), strict=True):
        assert_close(one, wanted) if name != "bias_1" else torch.testing.assert_close(
            one, wanted, atol=1e-5, rtol=1e-3
        )
    assert output.share == pytest.approx(1 / 3)


@either_features
@pytest.mark.parametrize("input_dropout", [0.0, 0.3])
@pytest.mark.parametrize("blocks", ["one block of rows", "several"])
@pytest.mark.parametrize("smoothing", ["mean", "personalized"])
def test_an_epochs_passes_give_autograds_answers_and_gradients(
    smoothing, blocks, input_dropout, sparse, monkeypatch
):
    if blocks == "several":
        monkeypatch.setattr(threads, "_ROWS", 8)
        monkeypatch.setattr(threads, "_TOGETHER", 4)
    tensors = GraphTensors(random_graph(sparse=sparse))
    network = network_of(input_dropout=input_dropout, smoothing=smoothing)
    own, autograds = network.passes(tensors), Passes(network, tensors)
    assert type(own) is GRANDPasses
    generator = torch.Generator().manual_seed(4)
    for key in (5, 6):
        answers, found = [], []
        upstream = [torch.randn(NUM_NODES, NUM_CLASSES, generator=generator) for _ in range(3)]
        for passes in (own, autograds):
            network.zero_grad()
            passes.begin()
            output = (passes.validate(), passes.train(key))
            answers.append([output[0], *output[1].answers, output[1].extra_loss])
            passes.backward(*(one.clone() for one in upstream), torch.tensor(0.6))
            found.append([parameter.grad.clone() for parameter in network.parameters()])
            assert output[1].share == pytest.approx(1 / 3)
        for one, other in (*zip(*answers, strict=True), *zip(*found, strict=True)):
            assert_close(one, other)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(0.1)


def test_samples_of_the_same_key_are_the_same_and_differ_from_each_other():
    tensors, network = GraphTensors(random_graph()), network_of()
    first, again = (network.train_pass(tensors, network.embed(tensors), key=5) for _ in range(2))
    for one, other in zip(first.answers, again.answers, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    assert not torch.equal(first.answers[0], first.answers[1])


def test_nodes_that_nothing_is_sure_of_do_not_count_in_the_agreement():
    tensors = GraphTensors(random_graph())
    none_is_so_sure = network_of(confidence=NUM_CLASSES * 1.01)
    assert none_is_so_sure.train_pass(tensors, none_is_so_sure.embed(tensors), key=5).extra_loss == 0
    some = network_of(confidence=1.0)
    everyone = network_of()
    losses = [one.train_pass(tensors, one.embed(tensors), key=5).extra_loss.item() for one in (some, everyone)]
    assert losses[0] == pytest.approx(losses[1])  # Nobody can be less sure than chance.


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("steps", 0, "at least 1"),
        ("steps", 10_000, "at most 1,000"),
        ("samples", 0, "at least 1"),
        ("samples", 101, "at most 100"),
        ("dropout", 1.0, "below 1"),
        ("input_dropout", 1.0, "below 1"),
        ("drop_node", 1.0, "below 1"),
        ("temperature", 0.0, "above 0"),
        ("agreement_weight", -1.0, "at least 0"),
        ("teleport", 0.0, "above 0"),
    ],
)
def test_a_setting_out_of_its_range_is_told_in_one_line(setting, value, told):
    with pytest.raises(ConfigError, match=f"lc-grand: {setting} is .*{told}"):
        create("lc-grand", **{setting: value})


def test_personalised_pagerank_of_more_and_more_steps_stops_changing():
    tensors = GraphTensors(random_graph())
    far, further = (network_of(smoothing="personalized", teleport=0.5, steps=steps)(tensors) for steps in (40, 80))
    assert_close(far.detach(), further.detach())


def test_how_features_are_averaged_is_told_by_name():
    with pytest.raises(ConfigError, match="smoothing is 'power'"):
        create("grand", smoothing="power")


@both_kernels
def test_samples_are_made_to_agree_where_there_are_two_classes(choice):
    several = random_graph()
    graph = Graph("two", several.adjacency, several.labels % 2, ("a", "b"), several.features)
    network = network_of(confidence=2.0)
    assert [network.least_confidence(count) for count in (2, 3, 7)] == pytest.approx([0.75, 2 / 3, 2 / 7])
    answers = []
    for weight in (0.0, 1.0):
        method = create("grand", base_epochs=40, learning_rate=0.1, agreement_weight=weight)
        with use(choice):
            answers.append(method.fit(graph, split_of(graph), 0).label_distribution)
    assert np.abs(answers[0] - answers[1]).max() > 1e-3
