"""What reaches a few nodes gives the same logits, gradients and training as the whole graph."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.compute.placement.reach import ReachTensors
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph
from lcgnn.networks.appnp import APPNP
from lcgnn.networks.gat import GAT
from lcgnn.networks.gcn import GCN
from lcgnn.networks.mlp import MLP
from lcgnn.networks.reach_passes import ReachPasses, quickest_passes
from lcgnn.training.loop import Loop, Phase, Trainer
from lcgnn.training.objectives import AdjacencyAggregation, CrossEntropy, LabelConsistencyObjective, Objective

NUM_FEATURES, NUM_CLASSES = 6, 3


def chain_with_chords(num_nodes: int, chords: int, seed: int, *, sparse: bool = True) -> Graph:
    """A long chain with a few random chords: a node reaches little of it."""
    generator = np.random.default_rng(seed)
    along = np.stack([np.arange(num_nodes - 1), np.arange(1, num_nodes)])
    across = generator.integers(0, num_nodes, (2, chords))
    features = generator.random((num_nodes, NUM_FEATURES)).astype(np.float32)
    return Graph.from_edges(
        "chain",
        np.concatenate([along, across[:, across[0] != across[1]]], axis=1),
        num_nodes,
        generator.integers(0, NUM_CLASSES, num_nodes),
        tuple("abc"),
        features=csr_array(np.where(features < 0.5, 0, features)) if sparse else features,
    )


def gcn() -> GCN:
    return GCN(NUM_FEATURES, NUM_CLASSES, hidden=5, generator=torch.Generator().manual_seed(1))


def gcn_with_input_dropout() -> GCN:
    return GCN(NUM_FEATURES, NUM_CLASSES, hidden=5, input_dropout=0.3, generator=torch.Generator().manual_seed(1))


def gat() -> GAT:
    return GAT(
        NUM_FEATURES, NUM_CLASSES, hidden=4, heads=2, output_heads=2, generator=torch.Generator().manual_seed(1)
    )


def mlp() -> MLP:
    return MLP(NUM_FEATURES, NUM_CLASSES, hidden=5, generator=torch.Generator().manual_seed(1))


def objective_of(name: str, graph: GraphTensors, train: torch.Tensor) -> Objective:
    if name == "adjacency":
        return AdjacencyAggregation(graph, train)
    return CrossEntropy(graph, train)


def epoch(passes, network, objective, validation):
    """Validation scores, loss, and every parameter's gradient."""
    network.zero_grad()
    passes.begin()
    scores = objective.scores(passes.validate(), validation)
    loss, gradient = objective.loss_and_gradient(passes.train(derive_key(3, "mask")).logits)
    passes.backward(gradient)
    return scores, loss, {name: parameter.grad.clone() for name, parameter in network.named_parameters()}


@pytest.mark.parametrize("objective_name", ["cross-entropy", "adjacency"])
@pytest.mark.parametrize("make", [gcn, gcn_with_input_dropout, gat, mlp])
@given(
    chords=st.integers(0, 30),
    seed=st.integers(0, 1000),
    sparse=st.booleans(),
    train=st.lists(st.integers(0, 59), min_size=1, max_size=8, unique=True),
    validation=st.lists(st.integers(0, 59), min_size=1, max_size=8, unique=True),
)
@settings(max_examples=25)
def test_scores_loss_and_gradients_are_those_of_the_whole_graph(
    make, objective_name, chords, seed, sparse, train, validation
):
    graph = GraphTensors(chain_with_chords(60, chords, seed, sparse=sparse))
    network, chosen = make(), torch.tensor(validation)
    objective = objective_of(objective_name, graph, torch.tensor(train))
    expected = epoch(network.passes(graph), network, objective, chosen)
    reach = ReachPasses(network, graph, objective.loss_reads(), objective.scores_read(chosen))
    scores, loss, gradients = epoch(reach, network, objective, chosen)
    assert scores[0] == pytest.approx(expected[0][0], rel=1e-5)
    assert scores[1] == expected[0][1]
    assert loss == pytest.approx(expected[1], rel=1e-5)
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, expected[2][name], rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize("make", [gcn, gat, mlp])
def test_fifty_epochs_take_the_same_course(make):
    graph = GraphTensors(chain_with_chords(200, 20, 0))
    phase = Phase("base", 50, 0.01, 5e-4, "accuracy")
    objective = CrossEntropy(graph, torch.arange(0, 200, 40))
    histories = []
    for whole in (True, False):
        network = make()
        loop = Loop(Trainer(network, graph, torch.arange(10, 200, 30), seed=0), phase, objective)
        assert isinstance(loop.passes, ReachPasses)
        if whole:
            loop.passes = network.passes(graph)
        while loop.step():
            pass
        histories.append(loop.outcome().history)
    np.testing.assert_allclose(histories[1], histories[0], rtol=1e-4)


def test_a_chain_reaches_two_nodes_to_either_side():
    reached = ReachTensors(GraphTensors(chain_with_chords(50, 0, 0)), np.array([10, 30]))
    assert reached.nodes.tolist() == [8, 9, 10, 11, 12, 28, 29, 30, 31, 32]
    assert reached.target_rows.tolist() == [2, 7]
    # The last layer reads the targets' neighbours only: two links each, both ways, and ten self-loops.
    assert reached.output_neighbourhood.pattern.nnz == 2 * 2 * 2 + 10
    forward = ReachTensors(reached.whole, np.array([10, 30]), backward=False)
    assert forward.output_neighbourhood.pattern.nnz == 2 * 2 + 10


def test_a_perceptron_reads_nothing_but_the_nodes():
    passes = passes_over_a_chain(mlp(), 2)
    assert isinstance(passes, ReachPasses)
    assert passes.share == 2 / 100


def passes_over_a_chain(network, num_labelled):
    graph = GraphTensors(chain_with_chords(100, 0, 0))
    return quickest_passes(network, graph, torch.arange(num_labelled), torch.arange(98, 100), epochs=1)


def test_the_whole_graph_is_computed_where_training_reaches_most_of_it():
    assert isinstance(passes_over_a_chain(gcn(), 64), ReachPasses)
    assert not isinstance(passes_over_a_chain(gcn(), 65), ReachPasses)


def test_other_networks_and_label_consistency_compute_every_node():
    graph = GraphTensors(chain_with_chords(100, 0, 0))
    appnp = APPNP(NUM_FEATURES, NUM_CLASSES, generator=torch.Generator().manual_seed(0))
    assert not isinstance(passes_over_a_chain(appnp, 2), ReachPasses)
    consistency = LabelConsistencyObjective(graph, torch.arange(2), 1.0, "mean")
    assert consistency.loss_reads() is None
    assert consistency.scores_read(torch.arange(2)) is None
