"""Methods by name: what is found, what it is made with, and how a stranger is told."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from torch import Tensor, nn

from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create, entries, entry, recorded, register
from lcgnn.methods.base import _REGISTRY, OWN_GRAPH, Context, Fit, Method, dataset_defaults, setting, settings_of
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.network import Network, glorot
from lcgnn.runs.spec import fingerprint
from lcgnn.sources.benchmarks import names

DEFAULTS = [
    (family, dataset, settings)
    for family, by_dataset in dataset_defaults().items()
    for dataset, settings in by_dataset.items()
]


@pytest.fixture
def registry(monkeypatch):
    """A copy of the registry for the time of a test."""
    copy = dict(_REGISTRY)
    monkeypatch.setattr("lcgnn.methods.base._REGISTRY", copy)
    return copy


@pytest.mark.parametrize(("wrong", "nearest"), [("lc-gnc", "lc-gcn"), ("GCN", "gcn"), ("gta", "gat")])
def test_an_unknown_method_is_answered_with_the_nearest(wrong, nearest):
    with pytest.raises(ConfigError, match=rf"no method {wrong!r}\. Did you mean {nearest!r}\?"):
        create(wrong)


def test_a_method_that_resembles_none_is_answered_with_how_to_list_them():
    with pytest.raises(ConfigError, match=r"no method 'zzzzzz'\. 'lcgnn methods' lists"):
        entry("zzzzzz")


def test_an_unknown_setting_is_answered_with_the_nearest_or_with_all():
    with pytest.raises(ConfigError, match=r"gcn has no setting 'hiden'\. Did you mean 'hidden'\?"):
        create("gcn", hiden=8)
    with pytest.raises(ConfigError, match=r"gcn has no setting 'zzz'\. It has: .*epochs.*hidden"):
        create("gcn", zzz=8)


def made(name: str, dataset: str | None = None, **settings: Any) -> Any:
    """A method, of whose settings the type checker knows nothing."""
    return create(name, dataset, **settings)


def test_datasets_have_the_settings_of_the_paper():
    assert made("lc-gcn", "cora").consistency_weight == 2.0
    assert made("lc-gcn", "Cora").consistency_weight == 2.0
    assert made("lc-gcn", "citeseer").consistency_weight == 1.0
    assert made("lc-gat", "cora").consistency_weight == 2.0
    gat = made("gat", "pubmed")
    assert (gat.output_heads, gat.learning_rate, gat.weight_decay) == (8, 0.01, 1e-3)
    gat = made("gat", "cora")
    assert (gat.output_heads, gat.learning_rate, gat.weight_decay) == (1, 0.005, 5e-4)


def test_without_a_dataset_or_for_another_one_the_classes_own_defaults_hold():
    assert create("lc-gcn") == entry("lc-gcn").method()
    assert create("lc-gcn", "my own graph") == entry("lc-gcn").method()


def test_the_name_wins_over_the_dataset_and_a_given_setting_over_both():
    assert made("lc-gcn-no-rl", "cora").consistency_weight == 0.0
    assert made("lc-gcn-no-rl", "cora", consistency_weight=5.0).consistency_weight == 5.0
    assert made("lc-gcn", "cora", consistency_weight=5.0).consistency_weight == 5.0
    assert made("gcn").aggregation is None
    assert made("gcn", aggregation="adjacency").aggregation == "adjacency"


@pytest.mark.parametrize("network", ["gcn", "gat"])
def test_a_network_has_five_names(network):
    presets = {
        network: {"aggregation": None},
        f"lc-{network}": {},
        f"lc-{network}-no-rl": {"consistency_weight": 0.0},
        f"{network}-adjacency": {"aggregation": "adjacency"},
        f"{network}-control": {"aggregation": "none"},
    }
    assert {name: entry(name).preset for name in presets} == presets


@pytest.mark.parametrize(("family", "dataset", "settings"), DEFAULTS)
def test_every_section_of_the_defaults_names_a_family_a_dataset_and_settings_that_exist(family, dataset, settings):
    if family == "label-consistency":
        members = [item for item in entries() if item.name.startswith("lc-")]
        assert dataset == OWN_GRAPH
    else:
        members = [item for item in entries() if item.family == family]
        assert dataset in {*names(), OWN_GRAPH}
    assert members, f"defaults.toml has a section for {family!r}, and no method is of that family."
    for member in members:
        assert set(settings) <= set(settings_of(member.method))
        create(member.name, dataset)


def test_the_names_are_listed_once_each():
    names = [item.name for item in entries()]
    assert len(names) == len(set(names))
    assert {"gcn", "lc-gcn", "gat", "lc-gat"} <= set(names)


def test_a_name_can_be_taken_only_once(registry):
    @dataclass(frozen=True)
    class Impostor(Method):
        def fit(self, graph, split, seed=0, context=None) -> Fit:
            raise NotImplementedError

    with pytest.raises(ConfigError, match="There is a method 'gcn' already"):
        register("gcn", "Another one.")(Impostor)
    assert registry["gcn"].method is not Impostor


class Linear(Network):
    """Logits X W: somebody else's network in a few lines."""

    def __init__(self, num_features: int, num_classes: int, generator) -> None:
        super().__init__()
        self.weight = glorot(num_features, num_classes, generator=generator)
        self.bias = nn.Parameter(self.weight.new_zeros(num_classes))

    def readout(self, graph, _embedding, _key) -> Tensor:
        return graph.features @ self.weight + self.bias


@dataclass(frozen=True)
class LinearMethod(TwoPhase):
    """A linear model with label consistency."""

    learning_rate: float = setting(0.1, "Adam's learning rate.")

    def network(self, num_features, num_classes, generator) -> Linear:
        return Linear(num_features, num_classes, generator)


def test_a_network_from_outside_gets_all_variants_by_registering_it(registry):
    register_network("outside", "Outside")(LinearMethod)
    labels = np.arange(20) % 2
    features = csr_array(np.eye(2, dtype=np.float32)[labels])
    graph = Graph("pairs", csr_array((20, 20), dtype=np.float32), labels, ("a", "b"), features)
    split = Split(np.arange(4), np.arange(4, 10), np.arange(10, 20))
    for name in ("outside", "lc-outside", "lc-outside-no-rl", "outside-adjacency", "outside-control"):
        method = made(name, base_epochs=30, epochs=10)
        assert method.learning_rate == 0.1
        result = method.fit(graph, split, context=Context(device="cpu"))
        np.testing.assert_array_equal(result.label_distribution.argmax(axis=1), labels)
        assert result.tensors.keys() == {"weight", "bias", "class_agreement"}


def test_what_a_test_registers_is_gone_afterwards():
    with pytest.raises(ConfigError, match="no method 'lc-outside'"):
        entry("lc-outside")


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("lc-gcn", {"epochs": 2.5}, "epochs is 2.5; it must be a whole number"),
        ("lc-gcn", {"epochs": True}, "epochs is True; it must be a whole number"),
        ("lc-gcn", {"learning_rate": "fast"}, "learning_rate is 'fast'; it must be a number"),
        ("lc-gcn", {"learning_rate": float("nan")}, "learning_rate is nan; it must be a number"),
        ("lc-gcn", {"reduction": "max"}, "reduction is 'max'; it must be mean or sum"),
        ("lc-gcn", {"hidden": 0}, "hidden is 0; it must be at least 1"),
        ("lc-gat", {"dropout": 1}, "dropout is 1; it must be below 1"),
        ("lc-mlp", {"input_dropout": -0.5}, "input_dropout is -0.5; it must be at least 0"),
        ("lc-gcn", {"base_stop_window": -1}, "base_stop_window is -1; it must be at least 0"),
        ("ica", {"inverse_penalty": 0}, "inverse_penalty is 0; it must be above 0"),
        ("manireg", {"ratio": -1}, "ratio is -1; it must be above 0"),
        ("planetoid", {"label_pairs": -1}, "label_pairs is -1; it must be at least 0"),
        ("deepwalk", {"dimension": 2**31 - 1}, "dimension is 2147483647; it must be at most 65,536"),
        ("lp", {"class_mass": 1}, "class_mass is 1; it must be true or false or null"),
    ],
)
def test_a_setting_of_another_type_or_out_of_its_range_is_refused_before_any_work(name, wrong, message):
    with pytest.raises(ConfigError, match=f"{name}: {message}"):
        create(name, **wrong)


def test_settings_may_be_numpy_numbers_and_whole_numbers_where_any_will_do():
    method = made("lc-gcn", hidden=np.int64(4), learning_rate=np.float32(0.5), weight_decay=0)
    assert (method.hidden, method.learning_rate, method.weight_decay) == (4, 0.5, 0)
    assert fingerprint(method.plain_settings()) == fingerprint({**method.plain_settings(), "hidden": np.int64(4)})


def test_a_setting_that_was_added_later_leaves_what_was_recorded_before_as_it_is():
    method = create("lc-gcn")
    plain = method.plain_settings()
    assert "base_patience" not in plain  # Records of version 0.2 know of no such setting.
    assert recorded("lc-gcn", plain) == method
    patient = create("lc-gcn", base_patience=7)
    assert patient.plain_settings() == {**plain, "base_patience": 7}
    assert recorded("lc-gcn", patient.plain_settings()) == patient
