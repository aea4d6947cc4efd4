"""The training loop: which epoch it keeps, when it stops, and that a killed run ends as if it had not been."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError, TrainingError
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, create
from lcgnn.networks.gcn import GCN
from lcgnn.networks.network import Network, Passes
from lcgnn.training.checkpoint import CheckpointFile
from lcgnn.training.loop import Phase, Trainer
from lcgnn.training.objectives import CrossEntropy, Objective

NAN = float("nan")


class Counter(Network):
    """One weight, which every step of Adam at rate 1 lowers by 1: after epoch e it is -e."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, 1))

    def readout(self, graph, _embedding, _key) -> Tensor:
        return self.weight.expand(graph.num_nodes, 1)


class Script(Objective):
    """An objective whose validation scores are written down beforehand, (loss, number right) an epoch."""

    def __init__(self, scores: list[tuple[float, int]]) -> None:
        self.validated = iter(scores)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        return logits.mean().item(), torch.full_like(logits, 1 / logits.numel())

    def scores(self, _logits: Tensor, _nodes: Tensor) -> tuple[float, int]:
        return next(self.validated)

    def distribution(self, logits: Tensor) -> Tensor:
        return torch.ones_like(logits)


BARE = GraphTensors(Graph("bare", csr_array((4, 4), dtype=np.float32), np.zeros(4, dtype=np.int64), ("a",)))


def run_script(scores: list[tuple[float, int]], selection: Any, **options):
    phase = Phase("scripted", options.pop("epochs", len(scores)), 1.0, 0.0, selection, **options)
    return Trainer(Counter(), BARE, torch.arange(4), 0).run(phase, Script(scores))


def losses(*values: float) -> list[tuple[float, int]]:
    return [(value, 1) for value in values]


def assert_kept(outcome, epoch: int) -> None:
    """The epoch that is reported and the parameters that are kept belong together."""
    assert outcome.best_epoch == epoch
    assert outcome.best_state["weight"].item() == pytest.approx(-epoch, rel=1e-4)


def test_a_weight_without_any_dimension_is_trained_like_others():
    network = Counter()
    network.weight = nn.Parameter(torch.tensor(0.0))
    phase = Phase("scripted", 3, 1.0, 0.0, "last")
    outcome = Trainer(network, BARE, torch.arange(0), 0).run(phase, Script([]))
    assert outcome.best_state["weight"].item() == pytest.approx(-3, rel=1e-4)


def test_accuracy_keeps_the_most_accurate_epoch_whatever_its_loss():
    assert_kept(run_script([(0.1, 1), (9.0, 3), (0.2, 2)], "accuracy"), 2)


def test_of_equally_accurate_epochs_the_one_with_the_lower_loss_is_kept():
    assert_kept(run_script([(0.5, 3), (0.3, 3), (0.4, 3), (0.1, 2)], "accuracy"), 2)


def test_of_epochs_that_are_equal_in_everything_the_first_is_kept():
    assert_kept(run_script([(0.3, 1), (0.2, 2), (0.2, 2)], "accuracy"), 2)
    assert_kept(run_script([(0.3, 1), (0.2, 2), (0.2, 2)], "loss"), 2)


def test_loss_keeps_the_epoch_with_the_lowest_loss_whatever_its_accuracy():
    assert_kept(run_script([(0.5, 4), (0.2, 0), (0.3, 4)], "loss"), 2)


def test_last_keeps_the_last_epoch_and_asks_for_no_score():
    outcome = run_script([], "last", epochs=5)
    assert_kept(outcome, 5)
    assert np.isnan(outcome.history[:, 1:]).all()


def test_the_history_holds_one_row_an_epoch():
    outcome = run_script([(0.5, 1), (0.4, 3)], "accuracy")
    # The training loss of an epoch is measured before its step.
    np.testing.assert_allclose(outcome.history, [[0.0, 0.5, 0.25], [-1.0, 0.4, 0.75]], rtol=1e-4)
    assert outcome.best_validation_accuracy == 0.75


def test_training_stops_when_the_loss_exceeds_the_mean_of_the_window_before():
    # Epoch 7: 1.1 > (1 + 1) / 2. Epoch 6, the first after half of ten epochs, equals its mean.
    scores = losses(*[1.0] * 6, 1.1, 1.0, 1.0, 1.0)
    assert len(run_script(scores, "loss", stop_window=2).history) == 7


def test_the_window_does_not_include_the_epoch_itself_or_older_ones():
    # Epoch 6: 0.9 > (0.5 + 1.0) / 2, but not (1.0 + 0.9) / 2, nor the mean with the epochs before.
    scores = losses(5.0, 5.0, 5.0, 0.5, 1.0, 0.9, 0.1, 0.1, 0.1, 0.1)
    assert len(run_script(scores, "loss", stop_window=2).history) == 6


def test_nothing_stops_before_half_of_the_epochs():
    scores = losses(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert len(run_script(scores, "loss", stop_window=2).history) == 6


def test_nothing_stops_before_a_whole_window_has_passed():
    scores = losses(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert len(run_script(scores, "loss", stop_window=8).history) == 9


def test_a_window_of_zero_never_stops():
    scores = losses(1, 2, 3, 4, 5, 6)
    assert len(run_script(scores, "loss", stop_window=0).history) == 6


def test_the_window_may_start_to_stop_after_any_number_of_epochs():
    scores = losses(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert len(run_script(scores, "loss", stop_window=2, stop_after=3).history) == 4
    assert len(run_script(scores, "loss", stop_window=2, stop_after=8).history) == 9


def test_patience_ends_with_as_many_epochs_in_a_row_without_a_better_loss_or_accuracy():
    # Epoch 3 has a better loss, epoch 4 a better accuracy; 5, 6 and 7 neither.
    scores = [(1.0, 1), (1.0, 1), (0.9, 0), (1.5, 2), (0.9, 2), (1.0, 1), (2.0, 2), (0.1, 4)]
    assert len(run_script(scores, "loss", patience=3).history) == 7
    assert len(run_script(scores, "loss", patience=4).history) == 8


def test_both_keeps_the_latest_epoch_that_no_earlier_one_beats_in_loss_or_accuracy():
    assert_kept(run_script([(1.0, 1), (0.9, 2), (0.9, 2), (0.8, 1), (1.0, 3)], "both"), 3)


def test_stopped_keeps_the_epoch_at_which_training_ended():
    outcome = run_script(losses(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), "stopped", stop_window=2)
    assert_kept(outcome, 6)


def test_weight_decay_applies_to_the_named_parameters_alone():
    decayed = run_decay({"weight": 0.5})
    torch.testing.assert_close(decayed, run_decay(None))
    assert not torch.equal(decayed, run_decay({}))
    with pytest.raises(ConfigError, match=r"Weight decay names \['wait'\]; the network has weight"):
        run_decay({"wait": 0.5})


def run_decay(decays: dict[str, float] | None) -> Tensor:
    network = Counter()
    nn.init.constant_(network.weight, 100.0)
    phase = Phase("scripted", 3, 1.0, 0.5, "last", decays=decays)
    # The penalty's gradient grows with the weight; that of the objective does not.
    return Trainer(network, BARE, torch.arange(4), 0).run(phase, Script([])).best_state["weight"]


def test_the_epoch_that_stops_counts_for_selection():
    outcome = run_script([(1.0, 1)] * 6 + [(1.5, 4)] + [(1.0, 1)] * 3, "accuracy", stop_window=2)
    assert len(outcome.history) == 7
    assert_kept(outcome, 7)


def test_selection_last_runs_all_epochs_whatever_the_window():
    assert len(run_script([], "last", epochs=8, stop_window=2).history) == 8


@pytest.mark.parametrize("selection", ["accuracy", "loss"])
def test_selection_by_validation_needs_validation_nodes(selection):
    trainer = Trainer(Counter(), BARE, torch.arange(0), 0)
    with pytest.raises(ConfigError, match=r"needs validation nodes.*Use selection 'last'"):
        trainer.run(Phase("scripted", 3, 1.0, 0.0, selection), Script([]))


def test_no_epochs_and_unknown_selections_are_refused():
    with pytest.raises(ConfigError, match="at least one epoch, not 0"):
        Phase("base", 0, 0.01, 0.0, "last")
    with pytest.raises(ConfigError, match="'best'; it can be accuracy, loss"):
        Phase("base", 1, 0.01, 0.0, "best")  # type: ignore[arg-type]


def test_a_second_phase_starts_from_the_last_epoch_of_the_first_with_a_new_optimiser():
    trainer = Trainer(Counter(), BARE, torch.arange(4), 0)
    first = trainer.run(Phase("one", 4, 1.0, 0.0, "accuracy"), Script([(1.0, 4), (1.0, 1), (1.0, 1), (1.0, 1)]))
    second = trainer.run(Phase("two", 3, 1.0, 0.0, "last"), Script([]))
    assert first.best_epoch == 1
    # With old moments or from the kept epoch it would not be -(4 + 3).
    assert second.best_state["weight"].item() == pytest.approx(-7, rel=1e-4)


def averaged(epochs: int, averaging: float) -> float:
    """The weight -1, -2 and so on, an epoch counting so many times what the next one does."""
    counts = averaging ** np.arange(epochs - 1, -1, -1)
    return float(-(counts * np.arange(1, epochs + 1)).sum() / counts.sum())


@pytest.mark.parametrize("averaging", [0.5, 0.9])
def test_what_is_kept_may_be_the_mean_of_the_weights_over_the_epochs_so_far(averaging):
    last = run_script([], "last", epochs=5, averaging=averaging)
    assert last.best_state["weight"].item() == pytest.approx(averaged(5, averaging), rel=1e-4)
    lowest = run_script(losses(3, 2, 1, 2), "loss", averaging=averaging)
    assert lowest.best_state["weight"].item() == pytest.approx(averaged(3, averaging), rel=1e-4)


def test_the_mean_of_the_weights_is_what_is_validated_and_does_not_change_the_training():
    graph, _ = clustered_graph()
    tensors = GraphTensors(graph)
    nodes, objective = torch.arange(8, 20), CrossEntropy(tensors, torch.arange(8))
    outcomes, left = [], []
    for averaging in (0.0, 0.8):
        network = GCN(12, 2, generator=torch.Generator().manual_seed(0))
        phase = Phase("base", 10, 0.05, 5e-4, "stopped", averaging=averaging)
        outcomes.append(Trainer(network, tensors, nodes, 0).run(phase, objective))
        left.append({name: value.clone() for name, value in network.state().items()})
    plain, mean = outcomes
    np.testing.assert_array_equal(mean.history[:, 0], plain.history[:, 0])
    assert all(torch.equal(value, left[1][name]) for name, value in left[0].items())
    with network.holding(mean.best_state), torch.no_grad():
        loss, correct = objective.scores(network(tensors), nodes)
    np.testing.assert_allclose(mean.history[-1, 1:], [loss, correct / 12], rtol=1e-5)
    assert mean.history[-1, 1] != plain.history[-1, 1]


# A graph and a real method from here on.

PHASES = {"base_epochs": 8, "epochs": 8, "base_stop_window": 0}


def clustered_graph() -> tuple[Graph, Split]:
    """40 nodes in two clusters, with words of their own and some shared ones."""
    generator = np.random.default_rng(0)
    labels = np.arange(40) % 2
    together = labels[:, None] == labels
    edges = np.stack(np.nonzero(np.triu(generator.random((40, 40)) < np.where(together, 0.15, 0.03), 1)))
    words = generator.random((40, 12)) < np.where(labels[:, None] == np.arange(12) % 2, 0.4, 0.15)
    graph = Graph.from_edges(
        "clusters", edges, 40, labels, ("a", "b"), features=csr_array(words.astype(np.float32))
    )
    return graph, Split(np.arange(8), np.arange(8, 20), np.arange(20, 40))


def fit(
    name: str = "lc-gcn", seed: int = 0, context: Context | None = None, graph: Graph | None = None, **settings
):
    clusters, split = clustered_graph()
    return create(name, **{**PHASES, **settings}).fit(graph or clusters, split, seed, context)


def assert_same_to_the_bit(one, other) -> None:
    assert len(one.stages) == len(other.stages)
    for left, right in zip(one.stages, other.stages, strict=True):
        assert (left.name, left.best_epoch) == (right.name, right.best_epoch)
        np.testing.assert_array_equal(left.history, right.history)
        np.testing.assert_array_equal(left.label_distribution, right.label_distribution)
    assert one.tensors.keys() == other.tensors.keys()
    assert all(torch.equal(value, other.tensors[name]) for name, value in one.tensors.items())


@pytest.mark.parametrize("name", ["lc-gcn", "lc-gat"])
def test_the_same_seed_gives_the_same_result_to_the_bit_and_another_seed_another(name):
    result = fit(name)
    assert_same_to_the_bit(result, fit(name))
    other = fit(name, seed=1)
    assert not np.array_equal(other.label_distribution, result.label_distribution)


def test_the_seed_of_the_masks_alone_changes_the_result():
    graph, _ = clustered_graph()
    tensors = GraphTensors(graph)
    states = []
    for seed in (0, 0, 1):
        network = GCN(12, 2, generator=torch.Generator().manual_seed(0))
        trainer = Trainer(network, tensors, torch.arange(8, 20), seed)
        objective = CrossEntropy(tensors, torch.arange(8))
        states.append(trainer.run(Phase("base", 5, 0.01, 0.0, "last"), objective).best_state["weight_0"])
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])


def test_with_selection_last_scrambled_validation_labels_change_nothing():
    graph, split = clustered_graph()
    labels = graph.labels.copy()
    labels[split.validation] = 1 - labels[split.validation]
    scrambled = replace(graph, labels=labels)
    assert_same_to_the_bit(fit(selection="last"), fit(selection="last", graph=scrambled))
    chosen, other = fit(), fit(graph=scrambled)
    assert not np.array_equal(chosen.stages[-1].history[:, 1:], other.stages[-1].history[:, 1:])
    np.testing.assert_array_equal(chosen.stages[-1].history[:, 0], other.stages[-1].history[:, 0])


class Unshared(GCN):
    """A GCN whose validation shares nothing with training, and whose gradient is autograd's."""

    def embed(self, _graph):
        return None

    def readout(self, graph, _embedding, key):
        return super().readout(graph, super().embed(graph), key)

    def passes(self, graph):
        return Passes(self, graph)


def test_the_shared_forward_pass_gives_the_validation_scores_of_a_separate_one():
    graph, _ = clustered_graph()
    tensors = GraphTensors(graph)
    nodes = torch.arange(8, 20)
    objective = CrossEntropy(tensors, torch.arange(8))
    outcomes = []
    for kind in (GCN, Unshared):
        network = kind(12, 2, generator=torch.Generator().manual_seed(0))
        outcomes.append(
            Trainer(network, tensors, nodes, 0).run(Phase("base", 10, 0.05, 5e-4, "accuracy"), objective)
        )
        with torch.no_grad():
            loss, correct = objective.scores(network(tensors), nodes)
        np.testing.assert_allclose(outcomes[-1].history[-1, 1:], [loss, correct / 12], rtol=1e-5)
    assert outcomes[0].best_epoch == outcomes[1].best_epoch
    np.testing.assert_allclose(outcomes[0].history, outcomes[1].history, rtol=1e-4)


def test_the_steps_are_those_of_torchs_adam_with_weight_decay():
    """The same network trained by hand, with the masks that the loop draws."""
    graph, _ = clustered_graph()
    tensors = GraphTensors(graph)
    objective = CrossEntropy(tensors, torch.arange(8))
    network, by_hand = (GCN(12, 2, generator=torch.Generator().manual_seed(0)) for _ in range(2))
    outcome = Trainer(network, tensors, torch.arange(0), 7).run(Phase("base", 10, 0.05, 0.01, "last"), objective)
    optimizer = torch.optim.Adam(by_hand.parameters(), lr=0.05, weight_decay=0.01)
    for epoch in range(10):
        loss = objective.loss(by_hand(tensors, derive_key(7, "base", epoch)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert outcome.history[epoch, 0] == pytest.approx(loss.item(), rel=1e-4)
    for name, value in by_hand.named_parameters():
        torch.testing.assert_close(outcome.best_state[name], value.detach(), rtol=1e-3, atol=1e-4)


# Interruptions.


class Interruption(Exception):
    pass


def interrupting(after: int):
    """A progress callback that raises at the given epoch, counted over both phases."""
    epochs = iter(range(1, after + 1))

    def progress(_) -> None:
        if next(epochs) == after:
            raise Interruption

    return progress


@pytest.mark.parametrize("name", ["lc-gcn", "gcn-adjacency", "lc-gat"])
@pytest.mark.parametrize("after", [1, 2, 5, 8, 9, 13, 16])
def test_a_run_interrupted_after_any_epoch_ends_as_if_it_had_not_been(name, after, tmp_path):
    """Phase one has epochs 1 to 8, phase two 9 to 16; 8 and 9 are the two sides of the boundary."""
    context = Context(checkpoint=CheckpointFile(tmp_path / "state", "run", every=0), progress=interrupting(after))
    with pytest.raises(Interruption):
        fit(name, context=context)
    seen: list[Any] = []
    checkpoint = CheckpointFile(tmp_path / "state", "run", every=0)
    assert checkpoint.load() is not None
    resumed = fit(name, context=Context(checkpoint=checkpoint, progress=seen.append))
    assert len(seen) == 16 - after + 1  # The epoch under way is measured again, the ones before are not.
    assert_same_to_the_bit(resumed, fit(name))


@pytest.mark.parametrize("after", [1, 2, 8, 9, 13])
def test_a_run_that_averages_its_weights_is_continued_with_their_mean(after, tmp_path):
    settings: dict[str, Any] = {"averaged_weights": 0.7, "hidden": 5, "steps": 2}
    context = Context(checkpoint=CheckpointFile(tmp_path / "state", "run", every=0), progress=interrupting(after))
    with pytest.raises(Interruption):
        fit("lc-grand", context=context, **settings)
    checkpoint = CheckpointFile(tmp_path / "state", "run", every=0)
    resumed = fit("lc-grand", context=Context(checkpoint=checkpoint), **settings)
    assert_same_to_the_bit(resumed, fit("lc-grand", **settings))


@pytest.mark.parametrize("selection", ["last", "loss"])
def test_a_run_interrupted_again_and_again_ends_as_if_it_had_not_been(selection, tmp_path):
    settings = {"selection": selection, "base_stop_window": 2, "base_epochs": 10}
    for _ in range(30):
        context = Context(checkpoint=CheckpointFile(tmp_path / "state", "run", every=0), progress=interrupting(3))
        try:
            resumed = fit(context=context, **settings)
            break
        except Interruption:
            continue
    assert_same_to_the_bit(resumed, fit(**settings))


def test_checkpoints_do_not_change_a_result(tmp_path):
    checkpoint = CheckpointFile(tmp_path / "state", "run", every=0)
    assert_same_to_the_bit(fit(context=Context(checkpoint=checkpoint)), fit())
    checkpoint.delete()
    assert list(tmp_path.iterdir()) == []


def _file(folder: Path, fingerprint: str = "run", every: float = 0) -> CheckpointFile:
    return CheckpointFile(folder / "state", fingerprint, every=every)


def interrupted(folder: Path) -> Path:
    """The checkpoint of a run that got to the middle of its second phase."""
    with pytest.raises(Interruption):
        fit(context=Context(checkpoint=_file(folder), progress=interrupting(12)))
    return folder / "state"


def test_the_time_before_an_interruption_is_counted(tmp_path):
    interrupted(tmp_path)
    checkpoint = _file(tmp_path).load()
    assert checkpoint is not None
    assert checkpoint.seconds > 0
    _file(tmp_path).save(replace(checkpoint, seconds=1000.0))
    assert fit(context=Context(checkpoint=_file(tmp_path))).seconds > 1000


def test_a_checkpoint_of_another_run_is_ignored(tmp_path):
    interrupted(tmp_path)
    assert _file(tmp_path, "other").load() is None
    seen: list[Any] = []
    fit(context=Context(checkpoint=_file(tmp_path, "other"), progress=seen.append))
    assert len(seen) == 16


@pytest.mark.parametrize("length", [0, 1, 7, 100, -1])
def test_a_truncated_checkpoint_is_ignored(tmp_path, length):
    path = interrupted(tmp_path)
    path.write_bytes(path.read_bytes()[:length])
    assert _file(tmp_path).load() is None
    assert_same_to_the_bit(fit(context=Context(checkpoint=_file(tmp_path))), fit())


@pytest.mark.parametrize("content", [b"nothing of the kind", b"\xff" * 64, b"{}", b"\x02\0\0\0\0\0\0\0{}"])
def test_a_file_that_is_no_checkpoint_is_ignored(tmp_path, content):
    (tmp_path / "state").write_bytes(content)
    assert _file(tmp_path).load() is None


def test_a_checkpoint_is_saved_only_when_it_is_due(tmp_path):
    fit(context=Context(checkpoint=_file(tmp_path, every=3600)))
    assert not (tmp_path / "state").exists()


KILLED: dict[str, Any] = {"base_epochs": 60, "epochs": 60, "base_stop_window": 0}


def child(checkpoint: str) -> None:
    """What the killed process runs: a fit that tells every epoch and goes on when it is told to."""

    def tell(progress) -> None:
        print(progress.phase, progress.epoch, flush=True)
        sys.stdin.readline()

    path = Path(checkpoint)
    fit(context=Context(checkpoint=_file(path.parent), progress=tell), **KILLED)


@pytest.mark.parametrize("epochs_seen", [20, 75], ids=["first phase", "second phase"])
def test_a_run_killed_by_the_system_ends_as_if_it_had_not_been(tmp_path, epochs_seen):
    with subprocess.Popen(
        [sys.executable, __file__, str(tmp_path / "state")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(epochs_seen):
            assert process.stdout.readline()
            print(file=process.stdin, flush=True)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert process.returncode == -signal.SIGKILL
    seen: list[Any] = []
    resumed = fit(context=Context(checkpoint=_file(tmp_path), progress=seen.append), **KILLED)
    assert len(seen) <= 120 - epochs_seen + 1
    assert_same_to_the_bit(resumed, fit(**KILLED))


@pytest.mark.parametrize("network", ["gcn", "gat"])
def test_methods_that_share_their_first_phase_train_it_once(network, tmp_path):
    seen: list[Any] = []

    def shared(key="base"):
        return Context(first_phase=CheckpointFile(tmp_path / "first", key), progress=seen.append)

    for name in (f"lc-{network}", f"{network}-control", f"lc-{network}-no-rl", f"{network}-adjacency"):
        seen.clear()
        assert_same_to_the_bit(fit(name, context=shared()), fit(name))
        assert len(seen) == (16 if name == f"lc-{network}" else 8)
    fit(f"{network}-control", context=shared("another"))
    assert len(seen) == 8 + 16


def test_what_determines_the_first_phase_is_told_apart():
    def settings(name="lc-gcn", **changes):
        return create(name, **changes).first_phase_settings()

    assert settings() == settings("gcn-control") == settings("lc-gcn-no-rl") == settings("gcn-adjacency")
    assert settings() == settings(epochs=7, consistency_weight=3.0, selection="loss")
    assert settings("gcn") is None
    others = [
        settings("lc-gat"),
        settings(hidden=8),
        settings(selection="last"),
        settings(base_epochs=7),
        settings(base_selection="accuracy"),
        settings(weight_decay=0.0),
    ]
    assert settings() not in others


if __name__ == "__main__":
    child(sys.argv[1])


class Diverging(Script):
    """An objective whose loss is written down beforehand, too."""

    def __init__(self, losses: list[float]) -> None:
        super().__init__([])
        self.losses = iter(losses)

    def loss_and_gradient(self, logits: Tensor) -> tuple[float, Tensor]:
        return next(self.losses), torch.full_like(logits, 1 / logits.numel())


@pytest.mark.parametrize("loss", [NAN, float("inf")])
def test_a_loss_that_is_not_finite_ends_training_with_phase_epoch_and_remedy(loss: float) -> None:
    trainer = Trainer(Counter(), BARE, torch.empty(0, dtype=torch.int64), 0)
    expected = rf"in epoch 3 of the phase 'base': the loss is {loss}\. Try a smaller learning rate than 1 "
    with pytest.raises(TrainingError, match=expected):
        trainer.run(Phase("base", 5, 1.0, 0.0, "last"), Diverging([1.0, 1.0, loss]))


def test_a_parameter_that_is_not_finite_at_the_end_is_told() -> None:
    trainer = Trainer(Counter(), BARE, torch.empty(0, dtype=torch.int64), 0)
    with pytest.raises(TrainingError, match=r"in epoch 1 .* a parameter is not finite"):
        trainer.run(Phase("base", 1, float("inf"), 0.0, "last"), Diverging([1.0]))


@pytest.mark.parametrize("method", ["gcn", "lc-gcn", "mlp"])
@pytest.mark.parametrize("epochs", [1, 20])
def test_no_method_returns_probabilities_that_are_not_finite(small_graph: Any, method: str, epochs: int) -> None:
    graph, split = small_graph()
    with pytest.raises(TrainingError, match="diverged in epoch"):
        create(method, learning_rate=1e30, base_epochs=epochs, epochs=epochs).fit(graph, split)
