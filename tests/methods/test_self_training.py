"""Self-training: whom it believes, what the student sees, and what it refuses."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.test_contract import GRAPH, OTHER, SPLIT

from lcgnn.errors import ConfigError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import Context, Fit, create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.methods.blend import Blend
from lcgnn.methods.fitted import fitted_networks
from lcgnn.methods.lc import TwoPhase
from lcgnn.methods.self_training import SelfTraining, surest

SHORT: dict[str, Any] = {"base_epochs": 5, "epochs": 3, "models": 2}


def test_of_every_predicted_class_as_many_are_believed_the_surest_first() -> None:
    answers = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6], [0.1, 0.9]], dtype=np.float32)
    assert surest(answers, 0.4, np.array([0])).tolist() == [2, 3, 4, 5]
    assert surest(answers, 0.1, np.array([0])).tolist() == [2, 5]
    assert surest(answers, 1.0, np.array([], dtype=np.int64)).tolist() == [0, 2, 3, 4, 5]


@given(seed=st.integers(0, 1000), share=st.floats(0.01, 1), known=st.sets(st.integers(0, 39)))
def test_nobody_who_is_known_is_believed_and_no_class_is_forgotten(
    seed: int, share: float, known: set[int]
) -> None:
    answers = np.random.default_rng(seed).dirichlet(np.ones(4), 40).astype(np.float32)
    believed = surest(answers, share, np.array(sorted(known), dtype=np.int64))
    assert not known & set(believed.tolist())
    left = np.setdiff1d(np.arange(40), sorted(known))
    there = np.bincount(answers[left].argmax(axis=1), minlength=4)
    expected = np.minimum(there, np.ceil(share * 10))
    np.testing.assert_array_equal(np.bincount(answers[believed].argmax(axis=1), minlength=4), expected)
    for label in range(4):
        of_class = left[answers[left].argmax(axis=1) == label]
        doubted = np.setdiff1d(of_class, believed)
        if doubted.size:
            assert answers[doubted].max() <= answers[np.intersect1d(of_class, believed)].max(axis=1).min()


def test_the_student_learns_from_given_and_believed_labels_and_sees_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = SelfTraining(share=0.3, **SHORT)
    seen: list[tuple[Graph, Split]] = []
    fit_one = TwoPhase.fit

    def remember(self: TwoPhase, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        seen.append((graph, split))
        return fit_one(self, graph, split, seed, context)

    monkeypatch.setattr(TwoPhase, "fit", remember)
    fit = method.fit(GRAPH, SPLIT)
    teachers = fit.stages[0].label_distribution
    graph, split = seen[-1]
    known = np.concatenate([SPLIT.train, SPLIT.validation])
    believed = surest(teachers, 0.3, known)
    assert split.train.tolist() == sorted([*SPLIT.train, *believed])
    assert split.validation.tolist() == SPLIT.validation.tolist()
    expected = np.full(GRAPH.num_nodes, UNLABELLED)
    expected[known], expected[believed] = GRAPH.labels[known], teachers[believed].argmax(axis=1)
    assert graph.labels.tolist() == expected.tolist()


def test_what_a_guard_says_of_the_teachers_is_said_to_be_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcgnn.methods.lc.worse_than_base", lambda *_: "Label consistency is left out.")
    fit = SelfTraining(**{**SHORT, "models": 1}).fit(GRAPH, SPLIT, 0)
    assert [stage.note for stage in fit.stages] == [
        "Of the teachers: Label consistency is left out.",
        "Label consistency is left out.",
    ]


def test_teachers_are_one_mean_of_models_and_the_student_is_one_model() -> None:
    method = SelfTraining(teachers="lc-appnp,lc-gcn", student="lc-gcn", selection="last", models=2)
    of_each = {name: create(name, OWN_GRAPH, models=2, selection="last") for name in ("lc-appnp", "lc-gcn")}
    assert method.teacher == Blend.of(of_each)
    assert method.learner == create("lc-gcn", OWN_GRAPH, selection="last")
    assert SelfTraining().teacher == create("lc-appnp", OWN_GRAPH, models=3)


def test_a_method_without_models_or_epochs_may_teach() -> None:
    assert SelfTraining(teachers="spreading").teacher == create("spreading", OWN_GRAPH)
    assert "in turn" not in SelfTraining(teachers="spreading").placements


def test_an_answer_is_the_students_on_this_graph_and_on_others() -> None:
    method = SelfTraining(**SHORT)
    fit = method.fit(GRAPH, SPLIT)
    assert [stage.name for stage in fit.stages] == ["teachers", "self-training"]
    applied = method.apply(fit.tensors, OTHER, "cpu")
    np.testing.assert_allclose(applied, method.learner.apply(fit.tensors, OTHER, "cpu"))
    (network,) = fitted_networks(method, fit.tensors, GRAPH, "cpu")
    said = network.answer(network.logits()).detach().numpy()
    np.testing.assert_allclose(said, fit.label_distribution, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"teachers": ""}, "name one or more, each once"),
        ({"teachers": "lc-gcn,lc-gcn"}, "name one or more, each once"),
        ({"teachers": "lc-gnc"}, "Did you mean 'lc-gcn'"),
        ({"student": "self-training"}, "cannot be self-training itself"),
        ({"teachers": "lc-gcn,self-training"}, "cannot be self-training itself"),
        ({"share": 0}, "share is 0"),
        ({"share": 1.5}, "share is 1.5"),
        ({"models": 0}, "models is 0"),
        ({"epochs": 0}, "0"),
        ({"teachers": "spreading", "student": "blend", "epochs": 5}, "have epochs"),
    ],
)
def test_what_is_no_self_training_is_refused_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        create("self-training", **settings)
