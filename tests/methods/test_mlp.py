"""The perceptron: its formula, where its dropout acts, and that edges mean nothing to it."""

import numpy as np
import pytest
import torch

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.networks.mlp import MLP


def two_clusters(*, edges: bool) -> tuple[Graph, Split]:
    labels = np.arange(20) % 2
    features = np.eye(2)[labels] + np.random.default_rng(0).random((20, 2)) / 10
    links = np.array([[i, (i + 1) % 20] for i in range(20)]).T if edges else np.empty((2, 0))
    graph = Graph.from_edges("two clusters", links, 20, labels, ["a", "b"], features=features)
    return graph, Split(train=np.arange(4), validation=np.arange(4, 10), test=np.arange(10, 20))


def network(input_dropout: float = 0.5) -> MLP:
    return MLP(
        2, 2, hidden=3, dropout=0.5, input_dropout=input_dropout, generator=torch.Generator().manual_seed(0)
    )


def test_logits_are_two_affine_maps_with_a_relu_between():
    graph, _ = two_clusters(edges=True)
    mlp = network()
    features = torch.tensor(graph.features)
    by_hand = torch.relu(features @ mlp.weight_0 + mlp.bias_0) @ mlp.weight_1 + mlp.bias_1
    torch.testing.assert_close(mlp(GraphTensors(graph)), by_hand)


@pytest.mark.parametrize("input_dropout", [0.0, 0.5])
def test_a_key_drops_and_no_key_does_not(input_dropout: float):
    graph = GraphTensors(two_clusters(edges=False)[0])
    mlp = network(input_dropout)
    assert torch.equal(mlp(graph, key=7), mlp(graph, key=7))
    assert not torch.equal(mlp(graph, key=7), mlp(graph, key=8))
    assert torch.equal(mlp(graph), mlp(graph))


def test_the_features_are_shared_between_training_and_validation_only_without_input_dropout():
    graph = GraphTensors(two_clusters(edges=False)[0])
    assert network(0.0).embed(graph) is not None
    assert network(0.5).embed(graph) is None


def test_edges_do_not_matter():
    fits = [create("mlp", base_epochs=5).fit(*two_clusters(edges=edges)) for edges in (False, True)]
    assert np.array_equal(fits[0].label_distribution, fits[1].label_distribution)


def test_label_consistency_comes_with_it():
    graph, split = two_clusters(edges=False)
    fit = create("lc-mlp", base_epochs=100, epochs=20).fit(graph, split)
    assert [stage.name for stage in fit.stages] == ["base", "label consistency"]
    assert (fit.label_distribution.argmax(axis=1) == graph.labels).all()
