"""Label consistency may end where it began."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.test_contract import CLASSES, SPLIT, clusters
from torch import Tensor

from lcgnn.compute.placement.base import Placement
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Split
from lcgnn.methods import create
from lcgnn.methods.base import OWN_GRAPH, Stage
from lcgnn.methods.guard import worse_than_base

GRAPH = clusters()
TENSORS = GraphTensors(GRAPH)
WITHOUT_VALIDATION = Split(SPLIT.train, SPLIT.validation[:0], SPLIT.test)


NONE = torch.tensor([], dtype=torch.int64)


def stage(answers: np.ndarray) -> Stage:
    return Stage("any", np.eye(len(CLASSES), dtype=np.float32)[answers])


EQUAL = np.arange(GRAPH.num_nodes) % 3


def test_validation_labels_decide_where_there_are_any():
    nodes = torch.tensor(SPLIT.validation)
    worse = GRAPH.labels.copy()
    worse[SPLIT.validation[:3]] = (worse[SPLIT.validation[:3]] + 1) % 3
    base = stage(GRAPH.labels)
    assert worse_than_base(TENSORS, nodes, base, base) is None
    assert worse_than_base(TENSORS, nodes, stage(worse), base) is None
    told = worse_than_base(TENSORS, nodes, base, stage(worse))
    assert "100.0 % of the validation labels, with it 75.0 %" in str(told)


def test_without_validation_classes_that_vanish_decide():
    base = stage(EQUAL)
    assert worse_than_base(TENSORS, NONE, base, stage(np.roll(EQUAL, 1))) is None
    assert "a class of the base's answer vanished" in str(worse_than_base(TENSORS, NONE, base, stage(EQUAL % 2)))
    assert "2 classes of the base's" in str(worse_than_base(TENSORS, NONE, base, stage(EQUAL * 0)))


def test_a_class_that_the_base_hardly_gave_may_vanish():
    rare = EQUAL % 2
    rare[0] = 2
    assert worse_than_base(TENSORS, NONE, stage(rare), stage(EQUAL % 2)) is None


def test_classes_that_run_together_without_vanishing_are_a_collapse():
    nearly_one = np.zeros_like(EQUAL)
    nearly_one[:3], nearly_one[3:6] = 1, 2
    assert "nearly all nodes got the same class" in str(
        worse_than_base(TENSORS, NONE, stage(EQUAL), stage(nearly_one))
    )


@pytest.mark.parametrize("split", [SPLIT, WITHOUT_VALIDATION], ids=["validation", "no validation"])
def test_what_is_kept_is_the_base_in_every_respect(split, monkeypatch):
    monkeypatch.setattr("lcgnn.methods.lc.worse_than_base", lambda *_: "It is worse.")
    selection = "accuracy" if split.validation.size else "last"
    method = create("lc-gcn", base_epochs=30, epochs=5, guard=True, selection=selection)
    fit = method.fit(GRAPH, split, 0)
    base, last = fit.stages
    assert (last.best_epoch, last.note) == (0, "It is worse.")
    np.testing.assert_array_equal(last.label_distribution, base.label_distribution)
    # The model that is kept says the same of the same graph.
    np.testing.assert_allclose(method.apply(fit.tensors, GRAPH, "cpu"), base.label_distribution, atol=1e-6)
    alone = create("gcn", base_epochs=30, selection=selection).fit(GRAPH, split, 0)
    for name, value in alone.tensors.items():
        if name != "class_agreement":
            torch.testing.assert_close(fit.tensors[name], value, rtol=0, atol=0)


def test_a_guard_changes_nothing_where_label_consistency_helps():
    settings: dict[str, Any] = {"base_epochs": 50, "epochs": 50}
    free, guarded = (create("lc-gcn", guard=guard, **settings).fit(GRAPH, SPLIT, 0) for guard in (False, True))
    assert guarded.stages[-1].note == ""
    np.testing.assert_array_equal(free.label_distribution, guarded.label_distribution)


# Features so small that a base of twenty epochs has the right order of the classes, but is hardly sure of any.
UNSURE = dataclasses.replace(GRAPH, features=csr_array(GRAPH.features * np.float32(0.03)))
SETTINGS: dict[str, Any] = {"base_epochs": 20, "epochs": 100, "selection": "last", "consistency_weight": 0.0}


def predicted_sizes(result: Stage) -> list[int]:
    return np.bincount(result.label_distribution.argmax(axis=1), minlength=3).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_a_collapse_from_an_unsure_base_is_not_the_answer(seed):
    free = create("lc-gcn", **SETTINGS).fit(UNSURE, WITHOUT_VALIDATION, seed)
    base, last = free.stages
    assert base.label_distribution.max(axis=1).mean() < 0.4
    assert min(predicted_sizes(base)) > 15
    assert max(predicted_sizes(last)) == GRAPH.num_nodes
    guarded = create("lc-gcn", guard=True, **SETTINGS).fit(UNSURE, WITHOUT_VALIDATION, seed)
    assert "vanished" in guarded.stages[-1].note
    np.testing.assert_array_equal(guarded.label_distribution, base.label_distribution)


@pytest.mark.parametrize("seed", range(3))
def test_the_bases_cross_entropy_prevents_the_collapse(seed):
    kept = create("lc-gcn", cross_entropy_weight=1.0, **SETTINGS).fit(UNSURE, WITHOUT_VALIDATION, seed)
    assert min(predicted_sizes(kept.stages[-1])) > 15


@pytest.mark.parametrize("name", ["lc-gcn", "blend"])
def test_who_keeps_the_last_epoch_has_no_validation_label_decide(name: str, monkeypatch: Any) -> None:
    shown: list[int] = []

    def keep(graph: Placement, validation: Tensor, base: Stage, last: Stage) -> str | None:
        shown.append(validation.shape[0])
        return worse_than_base(graph, validation, base, last)

    monkeypatch.setattr("lcgnn.methods.lc.worse_than_base", keep)
    quick: dict[str, Any] = {"base_epochs": 10, "epochs": 10}
    wrong = GRAPH.labels.copy()
    wrong[SPLIT.validation] = (wrong[SPLIT.validation] + 1) % 3
    others = dataclasses.replace(GRAPH, labels=wrong)
    settings = {"settings": {"lc-gcn": quick, "lc-appnp": quick}} if name == "blend" else quick
    method = create(name, OWN_GRAPH, selection="last", **settings)
    one, other = (method.fit(graph, SPLIT, 0).label_distribution for graph in (GRAPH, others))
    np.testing.assert_array_equal(one, other)
    assert shown
    assert not any(shown)
