"""What an explanation says in words: nothing that is only rounding, and every noun in its place."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lcgnn
from lcgnn.assessment.explanation import ClassShare, Explanation, FeatureEffect, LabelInfluence, Neighbour
from lcgnn.assessment.influence import Influence
from lcgnn.graph import Graph
from lcgnn.methods import create
from lcgnn.runs.explain import explain
from lcgnn.runs.explaining.explainer import Explainer
from lcgnn.runs.explaining.words import in_words
from lcgnn.runs.model import TrainedModel

CLASSES = (ClassShare("buyer", 0.54), ClassShare("seller", 0.46))
BARE = Explanation(11, "f11", "buyer", 0.54, None, "lc-gcn", CLASSES)


def words_of(**found: object) -> tuple[str, ...]:
    return in_words(replace(BARE, **found)).words[1:]  # type: ignore[arg-type]


def test_the_label_that_speaks_against_an_answer_is_called_a_label_where_none_speaks_for_it() -> None:
    own, other = LabelInfluence(11, "f11", -0.4, "seller"), LabelInfluence(4, "f4", 0.2, "buyer")
    assert words_of(labelled=(own,))[0] == "The given label that speaks most against it is its own (seller)."
    assert words_of(labelled=(own, other))[:2] == (
        "The given label that speaks most for it is that of f4 (buyer).",
        "The one that speaks most against it is its own (seller).",
    )


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["lonely"], "Its only neighbour is lonely (predicted)."),
        (["seller", "seller"], "Of its 2 neighbours none is buyer; of none of them the label was given."),
        (["buyer", "seller"], "Of its 2 neighbours 1 is buyer; of none of them the label was given."),
    ],
)
def test_neighbours_are_counted_as_people_count(labels: list[str], words: str) -> None:
    neighbours = tuple(Neighbour(node, str(node), label, 0.9, False) for node, label in enumerate(labels))
    assert words in words_of(neighbours=neighbours)


def test_one_point_is_a_point() -> None:
    features = (FeatureEffect("a", 0.05, 1.0), FeatureEffect("b", 0.0101, 1.0))
    assert "Features that speak for it: a (5 points), b (1 point)." in words_of(features=features)


def test_labels_whose_influence_is_only_rounding_are_not_ranked(
    small_graph: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, split = small_graph()  # type: ignore[operator]
    method = create("gcn", base_epochs=3)
    model = TrainedModel.of("gcn", method, graph, method.fit(graph, split))
    explainer = Explainer(graph, split, (model,), device="cpu")

    def influence(removed: list[float]) -> Influence:
        return Influence(split.train[: len(removed)], np.array(removed), complete=True)

    monkeypatch.setattr(Explainer, "_influence", lambda *_: influence([7e-7, -7e-7, 0.0]))
    found = explainer.explain(7, tried=False)
    assert found.labelled == ()
    assert any("No given label has an influence of its own" in sentence for sentence in found.words)
    monkeypatch.setattr(Explainer, "_influence", lambda *_: influence([7e-7, -0.2, 0.0]))
    assert [item.influence for item in explainer.explain(7, tried=False).labelled] == [-0.2]


def test_features_that_were_made_from_the_edges_are_not_named(small_graph: object, tmp_path: Path) -> None:
    graph, split = small_graph()  # type: ignore[operator]
    labels = np.full(graph.num_nodes, -1)
    labels[split.train] = graph.labels[split.train]
    bare = Graph("bare", graph.adjacency, labels, graph.class_names)
    settings = {"base_epochs": 10, "epochs": 5}
    training = lcgnn.train(bare, "lc-gcn", settings=settings, estimate=False, workers=1, out=tmp_path / "run")
    found = explain(training.folder, 7, bare, retrain=False)
    assert "Its features were made from the edges: none of them means anything by itself." in found.words
    assert not found.features
    assert {change.kind for change in found.changes} == {"edge"}
