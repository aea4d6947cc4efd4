"""Explanations from run folders: exact where they can be, tried where they say so, clear where nothing applies."""

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lcgnn
from lcgnn.assessment.changes import without_edges
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.methods import create, entries
from lcgnn.methods.base import settings_of
from lcgnn.runs.explain import explain, explain_node, explainer_of, find_node
from lcgnn.runs.explaining.explainer import Explainer
from lcgnn.runs.model import TrainedModel
from lcgnn.sources.examples import write_example

SHORT = {"base_epochs": 40, "epochs": 20}
NODE = "article-071"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain") / "articles"
    write_example(folder, "articles")
    return folder


@pytest.fixture(scope="module")
def run(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain") / "run"
    lcgnn.train(tables, "lc-gcn", seeds=2, settings=SHORT, estimate=False, workers=1, out=folder)
    return folder


@pytest.fixture(scope="module")
def explainer(run: Path) -> Explainer:
    return explainer_of(run, device="cpu", retrain=False)


def answers(path: Path) -> dict[str, dict[str, str]]:
    return {row["id"]: row for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())}


def test_the_answer_is_that_of_the_predictions_that_the_run_wrote(run: Path, explainer: Explainer) -> None:
    found = explain(run, NODE, retrain=False)
    row = answers(run / "predictions.csv")[NODE]
    assert found.label == row["label"]
    assert found.probability == pytest.approx(float(row["probability"]), abs=1e-5)
    assert found == explainer.explain(find_node(explainer.graph, NODE))
    assert json.loads(json.dumps(found.to_json()))["id"] == NODE
    assert found.words[0].startswith(f"{NODE}: {found.label} by ")
    assert not found.missing


def test_soft_neighbours_are_the_largest_of_the_dense_matrix_over_both_models(explainer: Explainer) -> None:
    node = find_node(explainer.graph, NODE)
    rows = []
    for fitted in explainer.networks:
        z = torch.softmax(fitted.logits().detach().double(), dim=1).numpy()
        dense = z @ z.T
        rows.append((dense / dense.sum(axis=1, keepdims=True))[node])
    weights = np.mean(rows, axis=0)
    found = explainer.explain(node, tried=False)
    assert [item.weight for item in found.soft_neighbours] == pytest.approx(
        sorted(np.delete(weights, node), reverse=True)[:10], rel=1e-6
    )
    for item in found.soft_neighbours:
        assert item.weight == pytest.approx(weights[item.node], rel=1e-6)
    assert sum(share.share for share in found.soft_classes) == pytest.approx(1)


def test_neighbours_are_those_of_the_graph_and_given_labels_come_first(run: Path, explainer: Explainer) -> None:
    graph, node = explainer.graph, find_node(explainer.graph, NODE)
    found = explainer.explain(node, tried=False)
    assert {item.node for item in found.neighbours} == set(graph.adjacency[[node]].indices.tolist())
    marks = [item.given for item in found.neighbours]
    assert marks == sorted(marks, reverse=True)
    assert marks[0]
    written = answers(run / "seed-0" / "predictions.csv")[found.neighbours[0].id]
    assert (written["origin"], written["label"]) == ("given", found.neighbours[0].label)


def test_features_have_the_names_of_the_users_columns_and_words(explainer: Explainer) -> None:
    names = explainer.names
    assert names is not None
    assert {"year", "words", "words is missing", "illustrated", "language = fr"} <= set(names.names)
    assert any(name.startswith("title: ") and not name.startswith("title: term") for name in names.names)
    assert [name for name, _, _ in names.columns] == ["language", "title"]
    found = explainer.explain(find_node(explainer.graph, NODE))
    assert found.features[0].name == "title"
    assert found.features[0].effect > 0


def test_a_change_that_is_told_is_what_predicting_again_gives(explainer: Explainer) -> None:
    node = find_node(explainer.graph, NODE)
    found = explainer.explain(node)
    edges = [change for change in found.changes if change.kind == "edge"]
    assert edges
    for change in edges[:3]:
        graph = without_edges(explainer.graph, node, change.nodes)
        after = np.mean([model.label_distribution(graph, "cpu") for model in explainer.models], axis=0)[node]
        assert change.label == graph.class_names[after.argmax()]
        assert change.probability == pytest.approx(after.max(), abs=1e-5)
        assert change.flips == (change.label != found.label)
    flips = [change.flips for change in found.changes]
    assert flips == sorted(flips, reverse=True)


def test_a_label_that_is_changed_is_tried_by_training_again(run: Path) -> None:
    explainer = explainer_of(run, device="cpu", retrain=True)
    node = find_node(explainer.graph, NODE)
    found = explainer.explain(node)
    without, other = [change for change in found.changes if change.kind == "label"]
    (strongest,) = without.nodes
    split = dataclasses.replace(explainer.split, train=np.setdiff1d(explainer.split.train, [strongest]))
    after = explainer.models[0].method.fit(explainer.graph, split, 0).label_distribution[node]
    assert without.probability == pytest.approx(after.max(), abs=1e-5)
    relabelled = explainer.graph.labels.copy()
    relabelled[strongest] = explainer.graph.class_names.index(found.classes[1].label)
    changed = dataclasses.replace(explainer.graph, labels=relabelled)
    after = explainer.models[0].method.fit(changed, explainer.split, 0).label_distribution[node]
    assert other.probability == pytest.approx(after.max(), abs=1e-5)


def test_labels_weigh_as_much_as_the_calibrated_answer_would_lose(explainer: Explainer) -> None:
    models = tuple(dataclasses.replace(model, temperature=4.0) for model in explainer.models)
    calibrated = dataclasses.replace(explainer, models=models)
    node = find_node(explainer.graph, NODE)
    sure, unsure = (one.explain(node, tried=False).labelled[0].influence for one in (explainer, calibrated))
    assert unsure / sure == pytest.approx(1 / 4, rel=0.3)


@pytest.mark.parametrize("method", ["spreading", "lp"])
def test_methods_without_a_network_get_what_applies_and_say_what_does_not(
    tables: Path, tmp_path: Path, method: str
) -> None:
    lcgnn.train(tables, method, estimate=False, workers=1, out=tmp_path / "run")
    found = explain(tmp_path / "run", NODE)
    assert found.labelled
    assert found.neighbours
    assert {change.kind for change in found.changes} >= {"edge"}
    assert not found.soft_neighbours
    assert not found.features
    assert any("no soft neighbours" in sentence for sentence in found.words)
    assert any("Features do not enter" in sentence for sentence in found.words)
    # Taking the label away is really done: the influence is that of fitting without it.
    explainer = explainer_of(tmp_path / "run")
    node, strongest = find_node(explainer.graph, NODE), found.labelled[0]
    split = dataclasses.replace(explainer.split, train=np.setdiff1d(explainer.split.train, [strongest.node]))
    label = explainer.graph.class_names.index(found.label)
    after = float(explainer.models[0].method.fit(explainer.graph, split).label_distribution[node, label])
    odds = [np.log(p / (1 - p)) for p in (found.probability, after)]
    assert strongest.influence == pytest.approx(odds[0] - odds[1], rel=1e-3)


# One name of every class of methods, with label consistency where there is such.
NAMES = sorted(
    {
        entry.method: entry.name for entry in entries() if not entry.name.endswith(("-control", "-adjacency"))
    }.values()
)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_is_explained_or_says_why_not(name: str, small_graph: object) -> None:
    graph, split = small_graph(named=True)  # type: ignore[operator]
    known = settings_of(next(entry.method for entry in entries() if entry.name == name))
    short: dict[str, Any] = {key: 3 for key in ("base_epochs", "epochs") if key in known}
    method = create(name, **short)
    fit = method.fit(graph, split)
    model = TrainedModel.of(name, method, graph, fit)
    explainer = Explainer(graph, split, (model,), None if method.inductive else fit, shown=2, device="cpu")
    found = explainer.explain(7, tried=False)
    assert found.probability == pytest.approx(float(explainer.distribution[7].max()))
    assert found.soft_neighbours or any("soft neighbours" in sentence for sentence in found.missing)
    assert found.labelled or any("influence" in sentence for sentence in found.missing)


def test_a_fit_alone_is_explained_by_its_answers(small_graph: object) -> None:
    graph, split = small_graph()  # type: ignore[operator]
    fit = create("gcn", base_epochs=3).fit(graph, split)
    found = explain_node(graph, split, fit, 7)
    assert found.label == graph.class_names[fit.label_distribution[7].argmax()]
    assert found.neighbours
    assert len(found.missing) == 3
    with pytest.raises(DataError, match="no node 240"):
        explain_node(graph, split, fit, 240)


def test_a_node_that_was_trained_on_says_so(explainer: Explainer) -> None:
    node = int(explainer.split.train[0])
    found = explainer.explain(node, tried=False)
    assert found.given == explainer.graph.class_names[explainer.graph.labels[node]]
    assert "Its own label was trained on" in found.words[0]


def test_a_wrong_node_or_run_is_one_line_with_what_is_close(run: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no node 'article-71'\. Did you mean .*'article-071'"):
        explain(run, "article-71")
    with pytest.raises(DataError, match=r"no node '~'. Its nodes are called 'article-000'"):
        explain(run, "~")
    with pytest.raises(OutputError, match=rf"does not exist\. Did you mean {run}\?"):
        explain(run.parent / "rum", NODE)
    with pytest.raises(OutputError, match="holds no model"):
        explain(tmp_path, NODE)
    with pytest.raises(ConfigError, match="at least one"):
        explain(run, NODE, shown=0)


def test_nodes_without_names_are_found_by_their_numbers(small_graph: object) -> None:
    graph, _ = small_graph()  # type: ignore[operator]
    assert find_node(graph, "17") == find_node(graph, 17) == 17
    for wrong in ("240", "-1", "x", None, ""):
        with pytest.raises(DataError, match="are 0 to 239"):
            find_node(graph, wrong)


def test_a_graph_that_has_changed_is_told(run: Path, tables: Path, tmp_path: Path) -> None:
    changed = tmp_path / "articles"
    changed.mkdir()
    for path in tables.iterdir():
        (changed / path.name).write_bytes(path.read_bytes())
    assert explain(run, NODE, changed, retrain=False).id == NODE
    (changed / "edges.csv").write_text("source,target\narticle-000,article-001\n", encoding="utf-8")
    with pytest.raises(DataError, match="is not the graph that the model was trained on"):
        explain(run, NODE, changed)


@pytest.mark.parametrize("method", ["lp", "spreading"])
def test_without_a_network_the_answer_is_that_of_the_predictions_too(
    method: str, tables: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    lcgnn.train(tables, method, folds=3, seeds=2, workers=1, out=folder)
    written = answers(folder / "seed-0" / "predictions.csv")
    found = explainer_of(folder)
    assert found.models[0].temperature != 1
    for name in ("article-000", "article-100", "article-200"):
        told = found.explain(find_node(found.graph, name))
        assert float(written[name]["probability"]) == pytest.approx(told.probability, abs=1e-4)


def test_of_several_models_the_first_is_asked_again_only_where_it_answers_as_all_do(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = dataclasses.replace(explainer_of(run), retrain=True)
    asked = []

    def changed(model: object, graph: object, split: object, node: int, before: Any, *_: object) -> tuple[()]:
        asked.append((node, before))
        return ()

    monkeypatch.setattr("lcgnn.runs.explaining.explainer.changed_labels", changed)
    first = dataclasses.replace(several, models=several.models[:1]).distribution
    agree = first.argmax(axis=1) == several.distribution.argmax(axis=1)
    for node in (int(agree.argmax()), int(agree.argmin())):
        several.explain(node)
    assert not agree.all()
    assert [node for node, _ in asked] == [int(agree.argmax())]
    np.testing.assert_array_equal(asked[0][1], first[asked[0][0]])


def test_of_a_method_that_gives_itself_labels_it_says_that_these_are_left_out(
    tables: Path, tmp_path: Path
) -> None:
    short = {"models": 1, **SHORT}
    lcgnn.train(tables, "self-training", settings=short, estimate=False, workers=1, out=tmp_path / "run")
    found = explain(tmp_path / "run", NODE, retrain=False)
    assert any("leaves out those that the method gave itself" in sentence for sentence in found.missing)
