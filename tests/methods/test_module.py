"""A torch module as the base of the paper's two phases: it learns, resumes, is saved and is known by its name."""

import copy
import importlib.util
import pickle
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.nn.models import GCN

from lcgnn.errors import ConfigError, OutputError
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, create, module_method, register_module
from lcgnn.methods.base import _REGISTRY
from lcgnn.runs.model import TrainedModel
from lcgnn.training.checkpoint import CheckpointFile

NUM_NODES = 60
SPLIT = Split(np.arange(12), np.arange(12, 30), np.arange(30, 60))
QUICK: dict[str, Any] = {"base_epochs": 30, "epochs": 30, "learning_rate": 0.02}


@pytest.fixture
def registry(monkeypatch):
    """A copy of the registry for the time of a test."""
    copied = dict(_REGISTRY)
    monkeypatch.setattr("lcgnn.methods.base._REGISTRY", copied)
    return copied


def clusters() -> Graph:
    """Three classes that mostly link among themselves and use words of their own."""
    generator = np.random.default_rng(0)
    labels = np.arange(NUM_NODES) % 3
    together = labels[:, None] == labels
    linked = np.triu(generator.random((NUM_NODES, NUM_NODES)) < np.where(together, 0.3, 0.02), 1)
    words = generator.random((NUM_NODES, 18)) < np.where(labels[:, None] == np.arange(18) % 3, 0.6, 0.1)
    features = words.astype(np.float32)
    return Graph.from_edges("clusters", np.stack(np.nonzero(linked)), NUM_NODES, labels, "abc", features=features)


def pyg_gcn(num_features: int, num_classes: int) -> GCN:
    return GCN(num_features, 16, 2, num_classes, dropout=0.5, norm="batch_norm")


class Own(nn.Module):
    """Somebody's own module, with dropout, batch normalisation and two names for one weight."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.first, self.norm, self.second = (
            GCNConv(num_features, 16),
            nn.BatchNorm1d(16),
            nn.Linear(16, num_classes),
        )
        self.tied = self.second

    def forward(self, x, edge_index):
        hidden = torch.relu(self.norm(self.first(x, edge_index)))
        return self.tied(nn.functional.dropout(hidden, 0.5, self.training))


FACTORIES = pytest.mark.parametrize("factory", [pyg_gcn, Own])


def accuracy(fit) -> float:
    return float((fit.label_distribution.argmax(axis=1) == clusters().labels)[SPLIT.test].mean())


def assert_same_to_the_bit(one, other) -> None:
    for left, right in zip(one.stages, other.stages, strict=True):
        np.testing.assert_array_equal(left.label_distribution, right.label_distribution)
        np.testing.assert_array_equal(left.history, right.history)
    assert one.tensors.keys() == other.tensors.keys()
    assert all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors)


@FACTORIES
def test_a_module_learns_alone_and_with_label_consistency(factory):
    fit = module_method(factory, **QUICK).fit(clusters(), SPLIT)
    assert [stage.name for stage in fit.stages] == ["base", "label consistency"]
    assert accuracy(fit) >= 0.8


def test_the_seed_of_the_run_decides_about_everything():
    torch.manual_seed(3)
    method = module_method(pyg_gcn, base_epochs=3, epochs=3)
    one, again, other = (method.fit(clusters(), SPLIT, seed) for seed in (0, 0, 1))
    assert_same_to_the_bit(one, again)
    assert not np.array_equal(one.label_distribution, other.label_distribution)


class Killed(Exception):
    pass


@FACTORIES
@pytest.mark.parametrize("phase", ["base", "label consistency"])
def test_a_killed_fit_ends_as_one_that_was_not(factory, phase, tmp_path):
    method = module_method(factory, **QUICK)
    expected = method.fit(clusters(), SPLIT)

    def kill(progress):
        if (progress.phase, progress.epoch) == (phase, 17):
            raise Killed

    def checkpoint():
        return CheckpointFile(tmp_path / "state", "run", every=0)

    with pytest.raises(Killed):
        method.fit(clusters(), SPLIT, context=Context("cpu", checkpoint(), progress=kill))
    assert checkpoint().load().epoch in (15, 16, 17)
    assert_same_to_the_bit(method.fit(clusters(), SPLIT, context=Context("cpu", checkpoint())), expected)


def test_the_state_of_a_module_of_another_form_is_not_continued_from(tmp_path):
    def checkpoint():
        return CheckpointFile(tmp_path / "state", "run", every=0)

    module_method(pyg_gcn, **QUICK).fit(clusters(), SPLIT, context=Context("cpu", checkpoint()))
    assert checkpoint().load() is not None
    fit = module_method(Own, **QUICK).fit(clusters(), SPLIT, context=Context("cpu", checkpoint()))
    assert_same_to_the_bit(fit, module_method(Own, **QUICK).fit(clusters(), SPLIT))


def test_a_registered_module_has_five_names_and_all_of_them_learn(registry):
    register_module("mine", Own, title="Mine")
    names = ("mine", "lc-mine", "lc-mine-no-rl", "mine-adjacency", "mine-control")
    for name in names:
        assert "Mine" in registry[name].summary
        assert accuracy(create(name, **QUICK).fit(clusters(), SPLIT)) >= 0.8
    with pytest.raises(ConfigError, match="There is a method 'gcn' already"):
        register_module("gcn", Own)


def test_a_saved_model_is_used_where_its_name_is_registered_and_refused_in_one_line_elsewhere(registry, tmp_path):
    register_module("mine", Own)
    graph, method = clusters(), create("lc-mine", **QUICK)
    fit = method.fit(graph, SPLIT)
    TrainedModel.of("lc-mine", method, graph, fit).save(tmp_path / "model")
    found = TrainedModel.load(tmp_path / "model").label_distribution(graph, "cpu")
    np.testing.assert_allclose(found, fit.label_distribution, rtol=1e-5, atol=1e-6)
    for name in [name for name in registry if name.endswith("mine")]:
        del registry[name]
    with pytest.raises(OutputError, match=r"no method 'lc-mine'\..* has to be registered first"):
        TrainedModel.load(tmp_path / "model")


def test_a_method_around_a_module_can_be_copied_and_sent_to_another_process():
    method = module_method(pyg_gcn, name="mine", epochs=7)
    assert copy.deepcopy(method) is method
    sent = pickle.loads(pickle.dumps(method))  # noqa: S301
    assert sent.epochs == 7
    assert sent.first_phase_settings() == method.first_phase_settings()
    assert type(sent).factory is pyg_gcn


@pytest.mark.parametrize(
    ("factory", "settings", "message"),
    [
        (Own, {"hidden": 8}, r"mine has no setting 'hidden'"),
        (Own, {"epochs": 1.5}, "mine: epochs is 1.5; it must be a whole number"),
        ("Own", {}, "mine: a module's factory is a function .* not a str"),
        (nn.Linear(3, 2), {}, "mine: a module's factory is a function .* not a Linear"),
    ],
)
def test_what_is_no_factory_or_no_setting_is_refused_before_any_work(factory, settings, message):
    with pytest.raises(ConfigError, match=message):
        module_method(factory, name="mine", **settings)


class Double(nn.Module):
    """A module that answers in double precision."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.layer = nn.Linear(num_features, num_classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        return self.layer(x).double()


def test_a_module_may_answer_in_any_precision():
    fit = module_method(Double, **QUICK).fit(clusters(), SPLIT, 0)
    assert np.isfinite(fit.label_distribution).all()


CODE = """
from torch import nn


class Root(nn.Module):
    def scaled(self, x):
        return x


class Part(nn.Module):
    def forward(self, x):
        return x


class Whole(Root):
    def __init__(self, features, classes):
        super().__init__()
        self.part, self.last = Part(), nn.Linear(features, classes)

    def forward(self, x, edge_index):
        return self.last(self.part(self.scaled(x)))
"""


@pytest.mark.parametrize("before", ["def scaled(self, x):\n", "def forward(self, x):\n"])
def test_a_module_is_another_one_if_a_part_of_it_or_what_it_inherits_has_changed(before, tmp_path, monkeypatch):
    other = CODE.replace(f"{before}        return x", f"{before}        return 2 * x")
    of_each = []
    for number, code in enumerate((CODE, CODE, other)):
        path = tmp_path / f"users_{number}.py"
        path.write_text(code)
        spec = importlib.util.spec_from_file_location("users", path)
        users = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "users", users)
        spec.loader.exec_module(users)
        of_each.append(module_method(users.Whole).own_parts(4, 3))
    assert of_each[0] == of_each[1] != of_each[2]


def test_a_module_whose_shapes_are_not_known_yet_is_refused_wherever_it_is_asked_for():
    with pytest.raises(ConfigError, match="whose shape is not known yet"):
        module_method(lambda _, classes: nn.LazyLinear(classes)).own_parts(4, 3)


@pytest.mark.parametrize("name", ["lc-gcn", "lc-appnp", "lc-gat", "lc-grand"])
def test_what_torch_does_elsewhere_changes_no_fit(name):
    method = create(name, base_epochs=4, epochs=4)
    graph = clusters()
    expected = method.fit(graph, SPLIT, 0, Context("cpu")).label_distribution
    contexts: list[Any] = [
        torch.no_grad(),
        torch.inference_mode(),
        torch.autocast("cpu", dtype=torch.bfloat16),
        torch.device("meta"),
    ]
    for context in contexts:
        with context:
            np.testing.assert_array_equal(method.fit(graph, SPLIT, 0, Context("cpu")).label_distribution, expected)
    torch.set_default_dtype(torch.float64)
    try:
        np.testing.assert_array_equal(method.fit(graph, SPLIT, 0, Context("cpu")).label_distribution, expected)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
