"""Semi-supervised embedding: its loss against pairs written out, and what it does to an embedding."""

import numpy as np
import pytest
import torch

from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.semiemb import SemiSupervisedEmbedding
from lcgnn.networks.semiemb import NodePairs
from lcgnn.training.loop import Loop, Phase, Trainer
from lcgnn.training.objectives import JointCrossEntropy

NUM_NODES = 12
CPU = torch.device("cpu")


def ring_with_features() -> tuple[Graph, Split]:
    """Two rings of six nodes, one for each class; every node has a feature of its own, which tells nothing."""
    links = [[i, 6 * (i // 6) + (i + 1) % 6] for i in range(NUM_NODES)]
    labels = np.arange(NUM_NODES) // 6
    graph = Graph.from_edges("rings", np.array(links).T, NUM_NODES, labels, ["a", "b"], features=np.eye(NUM_NODES))
    return graph, Split(np.array([0, 6]), np.array([1, 7]), np.array([2, 3, 4, 5, 8, 9, 10, 11]))


def random_embedding() -> torch.Tensor:
    return torch.randn(NUM_NODES, 3, generator=torch.Generator().manual_seed(0))


def test_pull_is_the_mean_squared_distance_over_weighted_edges():
    weights = np.random.default_rng(0).uniform(0.5, 2, 20)
    links = np.random.default_rng(1).integers(NUM_NODES, size=(2, 20))
    graph = Graph.from_edges("random", links, NUM_NODES, np.zeros(NUM_NODES), ["a"], weights=weights)
    embedding = random_embedding()
    edges = graph.adjacency.tocoo()
    total = sum(
        weight * float((embedding[i] - embedding[j]).square().sum())
        for i, j, weight in zip(*edges.coords, edges.data, strict=True)
    )
    pull = NodePairs(graph.adjacency, CPU).pull(embedding).sum()
    np.testing.assert_allclose(pull, total / edges.data.sum(), rtol=1e-5)


def test_push_is_the_mean_squared_shortfall_over_the_strangers():
    graph, _ = ring_with_features()
    pairs, embedding, margin = NodePairs(graph.adjacency, CPU), random_embedding(), 1.5
    partner, apart = pairs.strangers(key=3)
    shortfalls = [
        max(0.0, margin - float((embedding[i] - embedding[j]).norm())) ** 2
        for i, j in enumerate(partner.tolist())
        if apart[i]
    ]
    np.testing.assert_allclose(pairs.push(embedding, margin, key=3).sum(), np.mean(shortfalls), rtol=1e-5)


def test_strangers_are_never_neighbours_and_reach_every_other_node():
    graph, _ = ring_with_features()
    pairs = NodePairs(graph.adjacency, CPU)
    adjacent = graph.adjacency.toarray() + np.eye(NUM_NODES) > 0
    seen = np.zeros_like(adjacent)
    for key in range(300):
        partner, apart = pairs.strangers(key)
        rows = np.flatnonzero(apart.numpy())
        seen[rows, partner.numpy()[rows]] = True
    assert np.array_equal(seen, ~adjacent)


def test_push_has_a_finite_gradient_where_two_embeddings_coincide():
    graph, _ = ring_with_features()
    embedding = torch.zeros(NUM_NODES, 3, requires_grad=True)
    NodePairs(graph.adjacency, CPU).push(embedding, 1.0, key=0).sum().backward()
    assert embedding.grad is not None
    assert torch.isfinite(embedding.grad).all()


def test_the_loop_adds_the_weighted_extra_loss_to_the_cross_entropy():
    graph, split = ring_with_features()
    tensors, train = GraphTensors(graph), torch.tensor(split.train)
    network = SemiSupervisedEmbedding()._network(tensors, 2, torch.Generator().manual_seed(0))
    phase = Phase("embedding", 1, 0.01, 0.0, "last")
    loop = Loop(Trainer(network, tensors, torch.arange(0), 0), phase, JointCrossEntropy(tensors, train, 1.0, 5.0))
    output = network.train_pass(tensors, None, derive_key(0, "embedding", 0))
    hidden = network._embedding(tensors, derive_key(0, "embedding", 0))
    strangers = derive_key(derive_key(0, "embedding", 0), "strangers")
    embedding_loss = network.pairs.pull(hidden).sum() + network.pairs.push(hidden, 1.0, strangers).sum()
    torch.testing.assert_close(output.extra_loss, embedding_loss)
    expected = torch.nn.functional.cross_entropy(output.logits[train], tensors.labels[train]) + 5 * embedding_loss
    by_hand = torch.autograd.grad(expected, list(network.parameters()))
    loss, gradients = loop._loss_and_gradients(loop.passes.train(derive_key(0, "embedding", 0)))
    assert loss == pytest.approx(expected.item(), rel=1e-6)
    loop.passes.backward(*gradients)
    for parameter, gradient in zip(network.parameters(), by_hand, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


def test_edges_carry_the_labels_where_features_say_nothing():
    graph, split = ring_with_features()
    fit = create("semiemb", dropout=0.0, input_dropout=0.0, weight_decay=0.0).fit(graph, split)
    predicted = fit.label_distribution.argmax(axis=1)
    assert (predicted == graph.labels).all()


def test_the_same_seed_repeats_to_the_bit():
    fits = [create("semiemb", epochs=10).fit(*ring_with_features(), seed=seed) for seed in (1, 1, 2)]
    assert np.array_equal(fits[0].label_distribution, fits[1].label_distribution)
    assert not np.array_equal(fits[0].label_distribution, fits[2].label_distribution)


def test_a_graph_without_edges_leaves_only_the_pushing():
    graph, split = ring_with_features()
    edgeless = Graph.from_edges(
        "edgeless", np.empty((2, 0)), NUM_NODES, graph.labels, graph.class_names, features=graph.features
    )
    fit = create("semiemb", epochs=5).fit(edgeless, split)
    np.testing.assert_allclose(fit.label_distribution.sum(axis=1), 1, rtol=1e-5)
