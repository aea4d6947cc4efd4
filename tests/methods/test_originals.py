"""GCN and GAT as their own papers train them: what differs from the starred rows."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, create
from lcgnn.networks.gcn import GCN
from lcgnn.training.checkpoint import CheckpointFile
from lcgnn.training.loop import Phase, Trainer
from lcgnn.training.objectives import SoftmaxObjective

SPLIT = Split(np.arange(6), np.arange(6, 18), np.arange(18, 30))


def small_graph() -> Graph:
    generator = np.random.default_rng(5)
    labels = np.arange(30) % 3
    edges = generator.integers(30, size=(2, 80))
    features = (generator.random((30, 9)) + (labels[:, None] == np.arange(9) % 3)).astype(np.float32)
    return Graph.from_edges("small", edges, 30, labels, ("a", "b", "c"), features=features)


def one_step(**phase) -> tuple[dict, dict]:
    """The parameters before and after a step from a point at which the loss is flat for the second layer."""
    tensors = GraphTensors(small_graph())
    network = GCN(9, 3, generator=torch.Generator().manual_seed(0))
    before = {name: value.detach().clone() for name, value in network.named_parameters()}
    trainer = Trainer(network, tensors, torch.tensor(SPLIT.validation), 0)

    class Flat(SoftmaxObjective):
        def loss(self, logits):
            return 0 * self.cross_entropy(logits)

    trainer.run(Phase("flat", 1, 0.01, 0.1, "last", **phase), Flat(tensors, torch.tensor(SPLIT.train)))
    return before, dict(network.named_parameters())


def test_weight_decay_moves_only_the_named_parameters():
    before, after = one_step(decays={"weight_0": 0.1})
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"weight_0"}


def test_weight_decay_moves_all_parameters_by_default():
    before, after = one_step()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"weight_0", "weight_1"}  # Biases start at zero, where nothing pulls them.


def test_weight_decay_on_a_parameter_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="weight_7"):
        one_step(decays={"weight_7": 0.1})


def test_kipf_decays_the_first_layer_only_and_stops_from_the_twelfth_epoch_on():
    tensors = GraphTensors(small_graph())
    method: Any = create("gcn-kipf")
    ((phase, _),) = method.phases(tensors, torch.tensor(SPLIT.train))
    assert phase.decays == {"weight_0": 5e-4}
    assert (phase.epochs, phase.stop_window, phase.stop_after) == (200, 10, 11)


def test_kipf_has_no_biases_and_drops_features():
    method: Any = create("gcn-kipf")
    network = method.network(9, 3, torch.Generator().manual_seed(0))
    assert set(dict(network.named_parameters())) == {"weight_0", "weight_1"}
    tensors = GraphTensors(small_graph())
    assert network.embed(tensors) is None
    network.dropout = 0.0
    assert not torch.equal(network(tensors, key=1), network(tensors))
    assert not torch.equal(network(tensors, key=1), network(tensors, key=2))


def test_kipf_reports_the_epoch_at_which_it_stopped():
    (stage,) = create("gcn-kipf").fit(small_graph(), SPLIT).stages
    assert stage.best_epoch == len(stage.history)


class Scripted(SoftmaxObjective):
    """An objective whose validation scores follow a script."""

    def loss(self, logits):
        return self.cross_entropy(logits)

    script: list

    def scores(self, logits, nodes):  # noqa: ARG002
        loss, accuracy = self.script.pop(0)
        return loss, round(accuracy * len(nodes))


def run_scripted(script: list, **phase):
    tensors = GraphTensors(small_graph())
    network = GCN(9, 3, generator=torch.Generator().manual_seed(0))
    objective = Scripted(tensors, torch.tensor(SPLIT.train))
    object.__setattr__(objective, "script", list(script))
    trainer = Trainer(network, tensors, torch.tensor(SPLIT.validation), 0)
    return trainer.run(Phase("scripted", len(script), 0.01, 0.0, **phase), objective)


def test_patience_counts_epochs_in_which_neither_score_improves():
    #                 both      accuracy    neither     loss        neither     neither     never reached
    script = [(1.0, 0.5), (1.2, 0.75), (1.1, 0.75), (0.9, 0.25), (1.0, 0.75), (0.9, 0.5), (0.1, 1.0)]
    outcome = run_scripted(script, selection="both", patience=2)
    assert len(outcome.history) == 6


def test_selection_by_both_keeps_the_latest_epoch_that_none_before_beats():
    script = [(1.0, 0.5), (0.9, 0.75), (0.8, 0.5), (1.0, 1.0), (0.8, 1.0), (0.9, 1.0)]
    assert run_scripted(script, selection="both").best_epoch == 5


def test_stop_after_lets_the_window_stop_before_half_of_the_epochs():
    script = [(1.0, 0.5), (0.9, 0.5), (0.8, 0.5), (2.0, 0.5)] + [(0.1, 0.5)] * 16
    assert len(run_scripted(script, selection="loss", stop_window=2, stop_after=3).history) == 4
    assert len(run_scripted(script, selection="loss", stop_window=2).history) == 20


def test_velickovic_is_patient():
    tensors = GraphTensors(small_graph())
    method: Any = create("gat-velickovic", "pubmed")
    ((phase, _),) = method.phases(tensors, torch.tensor(SPLIT.train))
    assert (phase.epochs, phase.patience, phase.selection) == (100_000, 100, "both")
    assert (phase.learning_rate, phase.weight_decay) == (0.01, 0.001)


@pytest.mark.parametrize("name", ["gcn-kipf", "gat-velickovic"])
def test_a_resumed_run_gives_the_result_of_an_uninterrupted_one(name, tmp_path):
    graph = small_graph()
    method: Any = create(name)
    method = dataclasses.replace(method, base_epochs=30)
    expected = method.fit(graph, SPLIT, seed=3)

    class Killed(Exception):
        pass

    def kill(progress):
        if progress.epoch == 20:
            raise Killed

    file = tmp_path / "state"
    with pytest.raises(Killed):
        method.fit(graph, SPLIT, 3, Context(checkpoint=CheckpointFile(file, "x", every=0), progress=kill))
    resumed = method.fit(graph, SPLIT, 3, Context(checkpoint=CheckpointFile(file, "x")))
    np.testing.assert_array_equal(resumed.label_distribution, expected.label_distribution)
