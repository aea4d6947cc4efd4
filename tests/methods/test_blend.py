"""The mean of several methods: what it is made of, what it keeps, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.test_contract import GRAPH, OTHER, SPLIT

from lcgnn.errors import ConfigError
from lcgnn.methods import Context, create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.methods.blend import Blend
from lcgnn.methods.fitted import fitted_networks
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.train import train

SHORT: dict[str, Any] = {"base_epochs": 5, "epochs": 3}
GCN, APPNP, MLP = (create(name, **SHORT) for name in ("lc-gcn", "lc-appnp", "mlp"))
BOTH = Blend.of({"lc-appnp": APPNP, "lc-gcn": GCN})


def test_the_answer_is_the_mean_of_what_the_members_say_alone() -> None:
    fit = BOTH.fit(GRAPH, SPLIT, 3)
    alone = [method.fit(GRAPH, SPLIT, 3).label_distribution for method in (APPNP, GCN)]
    assert [stage.name for stage in fit.stages] == ["lc-appnp", "lc-gcn", "blend"]
    for stage, one in zip(fit.stages, alone, strict=False):
        np.testing.assert_array_equal(stage.label_distribution, one)
    np.testing.assert_allclose(fit.label_distribution, np.mean(alone, axis=0), atol=1e-6)


def test_a_member_that_left_label_consistency_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcgnn.methods.lc.worse_than_base", lambda *_: "It is worse.")
    guarded = create("lc-gcn", guard=True, **SHORT)
    fit = Blend.of({"lc-appnp": APPNP, "lc-gcn": guarded}).fit(GRAPH, SPLIT)
    note = "It is worse. (This is said of lc-gcn, a part of the mean.)"
    assert [stage.note for stage in fit.stages] == ["", note, ""]


def test_a_model_of_it_says_the_same_of_other_graphs_as_its_members_do(tmp_path: Path) -> None:
    fit = BOTH.fit(GRAPH, SPLIT)
    TrainedModel.of("blend", BOTH, GRAPH, fit).save(tmp_path / "model.safetensors")
    model = TrainedModel.load(tmp_path / "model.safetensors")
    assert model.method == BOTH
    alone = [method.apply(method.fit(GRAPH, SPLIT).tensors, OTHER, "cpu") for method in (APPNP, GCN)]
    np.testing.assert_allclose(model.label_distribution(OTHER, "cpu"), np.mean(alone, axis=0), atol=1e-6)


def test_its_members_have_their_settings_or_those_of_a_graph_of_ones_own() -> None:
    assert BOTH.methods == {"lc-appnp": APPNP, "lc-gcn": GCN}
    assert Blend().methods == {name: create(name, OWN_GRAPH) for name in ("lc-appnp", "lc-gcn")}
    last = Blend(members="lc-gcn,spreading", selection="last").methods
    assert last == {
        "lc-gcn": create("lc-gcn", OWN_GRAPH, selection="last"),
        "spreading": create("spreading", OWN_GRAPH),
    }


def test_a_setting_of_a_member_changes_no_other() -> None:
    one = Blend(settings='{"lc-gcn": {"epochs": 5}}').methods["lc-gcn"]
    assert one == create("lc-gcn", OWN_GRAPH, epochs=5)
    assert one != create("lc-gcn", epochs=5)


def test_it_classifies_new_nodes_only_if_all_of_its_members_do() -> None:
    assert BOTH.inductive
    assert not Blend(members="lc-gcn,spreading").inductive
    assert "in turn" not in Blend(members="lc-gcn,spreading").placements
    assert "on ranks" not in BOTH.placements


def test_it_is_explained_by_the_networks_of_all_members_or_of_none() -> None:
    networks = fitted_networks(BOTH, BOTH.fit(GRAPH, SPLIT).tensors, GRAPH, "cpu")
    assert [network.method for network in networks] == [APPNP, GCN]
    mixed = Blend(members="mlp,spreading", selection="last", settings=json.dumps({"mlp": MLP.plain_settings()}))
    assert fitted_networks(mixed, mixed.fit(GRAPH, SPLIT).tensors, GRAPH, "cpu") == ()


def test_its_parts_tell_how_far_they_are() -> None:
    phases: list[str] = []
    BOTH.fit(GRAPH, SPLIT, 0, Context("cpu", progress=lambda progress: phases.append(progress.phase)))
    assert phases.count("base") == 2 * SHORT["base_epochs"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": "lc-gcn"}, "name two methods or more"),
        ({"members": ""}, "name two methods or more"),
        ({"members": "lc-gcn,lc-gcn"}, "every method can be in it once"),
        ({"members": "lc-gcn,blend"}, "every method can be in it once, and no blend"),
        ({"members": "lc-gcn,lc-gnc"}, "Did you mean 'lc-gcn'"),
        ({"settings": "epochs=3"}, "settings must be JSON"),
        ({"settings": "[1]"}, "settings must be JSON"),
        ({"settings": '{"mlp": {}}'}, "settings are given for 'mlp', which is none of lc-appnp,lc-gcn"),
        ({"settings": '{"lc-gcn": {"epoch": 3}}'}, "lc-gcn has no setting 'epoch'"),
        ({"members": 3}, "members is 3; it must be text"),
    ],
)
def test_what_is_no_blend_is_refused_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        create("blend", **settings)


def test_its_table_has_a_row_for_every_member(tmp_path: Path) -> None:
    training = train((GRAPH, SPLIT), BOTH, out=tmp_path / "run", workers=1)
    assert [stage.method for stage in training.summary.stages] == ["lc-appnp", "lc-gcn", "blend"]
    assert any(sentence.startswith("blend minus lc-appnp: ") for sentence in training.words)
