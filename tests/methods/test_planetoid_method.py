"""Planetoid: where its pairs come from, its loss, and the inductive form on nodes it has never seen."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.context import context_loss
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.planetoid import classify_features
from lcgnn.networks.planetoid import ContextSampler

NUM_NODES = 60
SPLIT = Split(np.arange(12), np.arange(12, 30), np.arange(30, 50))
QUICK: dict[str, Any] = {"base_epochs": 40, "epochs": 120, "walks": 60, "learning_rate": 0.02}


def clusters(num_nodes: int = NUM_NODES, seed: int = 0) -> Graph:
    generator = np.random.default_rng(seed)
    labels = np.arange(num_nodes) % 3
    together = labels[:, None] == labels
    linked = np.triu(generator.random((num_nodes, num_nodes)) < np.where(together, 0.3, 0.02), 1)
    own = labels[:, None] == np.arange(18) % 3
    words = generator.random((num_nodes, 18)) < np.where(own, 0.6, 0.1)
    return Graph.from_edges(
        "clusters",
        np.stack(np.nonzero(linked)),
        num_nodes,
        labels,
        ("a", "b", "c"),
        features=csr_array(words.astype(np.float32)),
    )


def path_graph() -> Graph:
    """0 - 1 - 2 - ... - 39, where the distance of two nodes is the difference of their numbers."""
    nodes = np.arange(40)
    return Graph.from_edges("path", np.stack([nodes[:-1], nodes[1:]]), 40, nodes % 2, ("a", "b"))


def test_positive_pairs_of_walks_are_at_most_a_window_apart():
    sampler = ContextSampler(path_graph().adjacency, np.arange(4), np.array([0, 1, 0, 1]), window=3, label_pairs=0)
    pairs = sampler.draw(key=1)
    positive = pairs.signs > 0
    assert positive.any()
    assert abs(pairs.nodes - pairs.contexts)[positive].max() == 3
    assert abs(pairs.nodes - pairs.contexts)[~positive].max() > 3


def test_positive_pairs_of_labels_agree_and_negative_ones_do_not():
    graph = path_graph()
    train = np.array([3, 9, 4, 20, 7])
    sampler = ContextSampler(graph.adjacency, train, graph.labels[train], walks=0, label_pairs=200)
    pairs = sampler.draw(key=1)
    assert set(pairs.nodes) == set(pairs.contexts) == set(train)
    agree = graph.labels[pairs.nodes] == graph.labels[pairs.contexts]
    np.testing.assert_array_equal(agree, pairs.signs > 0)


def test_each_positive_pair_comes_with_its_negatives():
    sampler = ContextSampler(path_graph().adjacency, np.arange(4), np.array([0, 1, 0, 1]), negatives=4)
    pairs = sampler.draw(key=2)
    assert (pairs.signs < 0).sum() == 4 * (pairs.signs > 0).sum()


def test_a_draw_is_a_function_of_its_key():
    sampler = ContextSampler(path_graph().adjacency, np.arange(4), np.array([0, 1, 0, 1]))
    np.testing.assert_array_equal(sampler.draw(1).contexts, sampler.draw(1).contexts)
    assert not np.array_equal(sampler.draw(1).contexts, sampler.draw(2).contexts)


def test_the_fused_context_loss_equals_the_plain_one_and_so_do_the_gradients():
    generator = torch.Generator().manual_seed(0)
    pairs = ContextSampler(path_graph().adjacency, np.arange(4), np.array([0, 1, 0, 1])).draw(key=3)
    results = []
    for choice in ("fused", "plain"):
        generator.manual_seed(0)
        embedding, context = (2 * torch.randn(40, 7, generator=generator) for _ in range(2))
        embedding.requires_grad_()
        context.requires_grad_()
        with use(choice):
            loss = context_loss(embedding, context, pairs)
        (3 * loss).backward()
        results.append((loss.detach(), embedding.grad, context.grad))
    for fused, plain in zip(*results, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["planetoid", "planetoid-i"])
def test_clusters_are_learnt(name):
    graph = clusters()
    predictions = create(name, **QUICK).fit(graph, SPLIT).label_distribution.argmax(axis=1)
    assert (predictions == graph.labels)[SPLIT.test].mean() >= 0.8


def test_the_inductive_form_classifies_nodes_unseen_in_training():
    fit = create("planetoid-i", **QUICK).fit(clusters(), SPLIT)
    unseen = clusters(45, seed=9)
    distribution = classify_features(fit.tensors, unseen.features)
    assert distribution.shape == (45, 3)
    np.testing.assert_allclose(distribution.sum(axis=1), 1, rtol=1e-5)
    assert (distribution.argmax(axis=1) == unseen.labels).mean() >= 0.8
    dense = classify_features(fit.tensors, csr_array(unseen.features).toarray())
    np.testing.assert_allclose(dense, distribution, atol=1e-6)


def test_the_inductive_form_says_of_seen_nodes_what_the_fit_says():
    graph = clusters()
    fit = create("planetoid-i", **QUICK).fit(graph, SPLIT)
    np.testing.assert_allclose(
        classify_features(fit.tensors, graph.features), fit.label_distribution, rtol=1e-4, atol=1e-5
    )


def test_the_transductive_form_refuses_unseen_nodes():
    graph = clusters()
    fit = create("planetoid", **{**QUICK, "base_epochs": 2, "epochs": 2}).fit(graph, SPLIT)
    with pytest.raises(ConfigError, match="planetoid-i"):
        classify_features(fit.tensors, graph.features)


def test_the_loss_of_a_graph_with_fewer_nodes_than_walks_is_the_mean_over_the_walks_there_are(small_graph):
    graph, split = small_graph()
    quick: dict[str, Any] = {"epochs": 3, "base_epochs": 5}
    answers = [create("planetoid", walks=walks, **quick).fit(graph, split, 0) for walks in (240, 1000)]
    np.testing.assert_array_equal(answers[0].label_distribution, answers[1].label_distribution)
