"""The classifier on a graph: the package's own result, in every form that its input may have."""

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lcgnn import Graph, LCGNNClassifier, Split, create
from lcgnn.errors import ConfigError, InputWarning, LCGNNError
from lcgnn.estimator.bases import base_names
from lcgnn.methods.base import OWN_GRAPH


@pytest.fixture(scope="module")
def fitted(classifier: Any, data: Any) -> LCGNNClassifier:
    return classifier().fit(data.X, data.y, adjacency=data.adjacency)


@pytest.mark.parametrize("base", base_names())
@pytest.mark.parametrize("label_consistency", [True, False])
def test_it_is_the_method_of_that_name_with_the_last_epoch_kept(
    classifier: Any, data: Any, base: str, label_consistency: bool
) -> None:
    features = StandardScaler().fit_transform(data.X)
    graph = Graph("blocks", data.adjacency, data.y, ("0", "1"), features.astype(np.float32))
    name = f"lc-{base}" if label_consistency else base
    split = Split(np.flatnonzero(data.y >= 0), np.array([]), np.array([]))
    made = classifier(base=base, label_consistency=label_consistency, scaling="columns", random_state=7)
    settings = {setting: getattr(made, setting) for setting in ("base_epochs", "epochs", "learning_rate")}
    expected = create(name, OWN_GRAPH, selection="last", **settings).fit(graph, split, seed=7).label_distribution
    made.fit(data.X, data.y, adjacency=data.adjacency)
    np.testing.assert_allclose(made.label_distributions_, expected, atol=2e-3)


def test_edges_tell_what_the_rows_do_not(classifier: Any, data: Any, fitted: LCGNNClassifier) -> None:
    hidden = data.y == -1
    assert np.mean(fitted.transduction_[hidden] == data.truth[hidden]) > 0.85
    alone = classifier().fit(data.X, data.y)
    assert fitted.score(data.X, data.truth) > alone.score(data.X, data.truth)


def test_what_only_knows_its_own_edges_does_not_answer_for_others(
    classifier: Any, data: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Label spreading reads no features, so that the same rows with other edges are another question."""
    spread = lambda *_, **__: {"spreading": create("spreading")}  # noqa: E731
    monkeypatch.setattr("lcgnn.estimator.classifier.candidates", spread)
    fitted = classifier(base="auto").fit(data.X, data.y, adjacency=data.adjacency)
    fitted.save(tmp_path / "model.safetensors")
    for made in (fitted, LCGNNClassifier.load(tmp_path / "model.safetensors")):
        expected = made.label_distributions_
        np.testing.assert_array_equal(made.predict_proba(data.X), expected)
        np.testing.assert_array_equal(made.predict_proba(data.X, adjacency=data.adjacency), expected)
        with pytest.raises(ConfigError, match="spreading classifies only the nodes that it is trained with"):
            made.predict_proba(data.X, adjacency=csr_array(data.adjacency.shape))


def test_transduction_keeps_the_given_labels_and_predicts_the_others(data: Any, fitted: LCGNNClassifier) -> None:
    given = data.y >= 0
    assert (fitted.transduction_[given] == data.y[given]).all()
    most_probable = fitted.classes_[fitted.label_distributions_.argmax(axis=1)]
    assert (fitted.transduction_[~given] == most_probable[~given]).all()


def as_networkx(matrix: Any) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(matrix.shape[0]))
    graph.add_edges_from(np.stack(matrix.nonzero()).T.tolist())
    return graph


FORMS: dict[str, Callable[[csr_array], Any]] = {
    "scipy array": coo_array,
    "scipy matrix": csr_matrix,
    "dense": lambda matrix: matrix.toarray(),
    "dense booleans": lambda matrix: matrix.toarray().astype(bool),
    "lists": lambda matrix: matrix.toarray().tolist(),
    "edge_index": lambda matrix: np.stack(matrix.nonzero()),
    "torch edge_index": lambda matrix: torch.tensor(np.stack(matrix.nonzero()), dtype=torch.int64),
    "torch sparse": lambda matrix: torch.tensor(matrix.toarray()).to_sparse(),
    "networkx": as_networkx,
    "with self-loops": lambda matrix: matrix + csr_array(np.eye(60)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_edges_gives_the_same_result(
    classifier: Any, data: Any, form: str, fitted: LCGNNClassifier
) -> None:
    made = classifier().fit(data.X, data.y, adjacency=FORMS[form](data.adjacency))
    np.testing.assert_array_equal(made.label_distributions_, fitted.label_distributions_)


def test_a_matrix_of_one_direction_is_made_symmetric_and_warned_of(
    classifier: Any, data: Any, fitted: LCGNNClassifier
) -> None:
    upper = np.triu(data.adjacency.toarray())
    with pytest.warns(InputWarning, match="not symmetric: "):
        made = classifier().fit(data.X, data.y, adjacency=upper)
    np.testing.assert_array_equal(made.label_distributions_, fitted.label_distributions_)
    assert "not symmetric" in made.notes_[-1]


def test_a_graph_of_nearest_neighbours_is_an_adjacency(classifier: Any, data: Any) -> None:
    with pytest.warns(InputWarning, match="not symmetric"):
        made = classifier().fit(data.X, data.y, adjacency=kneighbors_graph(data.X, 5))
    assert made.score(data.X, data.truth) > 0.5


def text(y: NDArray[np.int64]) -> list[str | None]:
    return [None if label < 0 else ("no", "yes")[label] for label in y]


def whole(y: NDArray[np.int64]) -> list[int | None]:
    return [None if label < 0 else int(label) for label in y]


UNLABELLED: dict[str, Callable[[NDArray[np.int64]], Any]] = {
    "text, None": text,
    "text, NaN in a list": lambda y: [label or float("nan") for label in text(y)],
    "text, empty": lambda y: np.array([label or "" for label in text(y)]),
    "pandas text": lambda y: pd.Series(text(y), dtype="string"),
    "pandas text categories": lambda y: pd.Series(text(y)).astype("category"),
    "polars text": lambda y: pl.Series(text(y)),
    "floats, NaN": lambda y: np.where(y < 0, np.nan, y),
    "objects, None": whole,
    "pandas whole numbers": lambda y: pd.Series(whole(y), dtype="Int64"),
}


@pytest.mark.parametrize("form", UNLABELLED)
def test_every_way_to_give_no_label_is_understood(
    classifier: Any, data: Any, form: str, fitted: LCGNNClassifier
) -> None:
    made = classifier().fit(data.X, UNLABELLED[form](data.y), adjacency=data.adjacency)
    np.testing.assert_array_equal(made.label_distributions_, fitted.label_distributions_)
    expected = ["no", "yes"] if "text" in form else [0, 1]
    assert made.classes_.tolist() == expected
    assert set(made.predict(data.X).tolist()) <= set(expected)


def test_the_rows_of_the_fit_need_no_adjacency_again(data: Any, fitted: LCGNNClassifier) -> None:
    np.testing.assert_array_equal(fitted.predict_proba(data.X), fitted.label_distributions_)
    with_edges = fitted.predict_proba(data.X, adjacency=data.adjacency)
    np.testing.assert_allclose(with_edges, fitted.label_distributions_, atol=1e-6)


def test_other_rows_of_a_graph_need_their_edges(data: Any, fitted: LCGNNClassifier) -> None:
    with pytest.raises(ValueError, match="adjacency is missing"):
        fitted.predict(data.X[:10])
    assert fitted.predict(data.X[:10], adjacency=csr_array((10, 10))).shape == (10,)


def test_a_new_node_is_classified_by_its_edges(data: Any, fitted: LCGNNClassifier) -> None:
    grown = np.zeros((62, 62))
    grown[:60, :60] = data.adjacency.toarray()
    grown[60, :8] = grown[:8, 60] = 1
    grown[61, 40:48] = grown[40:48, 61] = 1
    X = np.vstack([data.X, np.tile(data.X.mean(axis=0), (2, 1))])
    assert fitted.predict(X, adjacency=grown)[60:].tolist() == [0, 1]


def test_without_edges_a_row_is_classified_alone(classifier: Any, data: Any) -> None:
    made = classifier().fit(data.X, data.truth)
    together = made.predict_proba(data.X)
    alone = np.vstack([made.predict_proba(row[None]) for row in data.X])
    np.testing.assert_allclose(together, alone, rtol=1e-4)


def test_plus_and_minus_one_are_two_classes_where_there_is_no_graph(classifier: Any, data: Any) -> None:
    signs = 2 * data.truth - 1
    made = classifier().fit(data.X, signs)
    assert made.classes_.tolist() == [-1, 1]
    assert made.score(data.X, signs) == accuracy_score(signs, made.predict(data.X))
    with pytest.raises(ValueError, match="all are of one class, 1"):
        classifier().fit(data.X, signs, adjacency=data.adjacency)


def test_score_counts_only_rows_with_a_label(data: Any, fitted: LCGNNClassifier) -> None:
    predicted = fitted.predict(data.X)
    given = data.y >= 0
    assert fitted.score(data.X, data.y) == np.mean(predicted[given] == data.y[given])
    weights = np.where(predicted == data.truth, 1.0, 0.0)
    assert fitted.score(data.X, data.truth, sample_weight=weights) == 1.0


def test_the_same_seed_gives_the_same_result_and_none_another(classifier: Any, data: Any) -> None:
    def distribution(random_state: object) -> np.ndarray:
        made = classifier(random_state=random_state).fit(data.X, data.y, adjacency=data.adjacency)
        return made.label_distributions_

    np.testing.assert_array_equal(distribution(3), distribution(3))
    one, other = (distribution(np.random.RandomState(5)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(distribution(None), distribution(None))


def test_a_clone_has_the_parameters_and_nothing_that_was_learnt(data: Any, fitted: LCGNNClassifier) -> None:
    copied = clone(fitted)
    assert copied.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copied.predict(data.X)


def test_parameters_set_after_the_fit_do_not_change_it(classifier: Any, data: Any) -> None:
    made = classifier().fit(data.X, data.y, adjacency=data.adjacency)
    made.set_params(base="gat", hidden=3, label_consistency=False)
    with_edges = made.predict_proba(data.X, adjacency=data.adjacency)
    np.testing.assert_allclose(with_edges, made.label_distributions_, atol=1e-6)


def test_it_is_the_last_step_of_a_pipeline(classifier: Any, data: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), classifier(scaling="none"))
    pipeline.fit(data.X, data.y, lcgnnclassifier__adjacency=data.adjacency)
    alone = classifier(scaling="columns").fit(data.X, data.y, adjacency=data.adjacency)
    np.testing.assert_allclose(
        pipeline.predict_proba(data.X, adjacency=data.adjacency), alone.label_distributions_, atol=2e-3
    )
    assert pipeline.score(data.X, data.truth) > 0.8


def test_a_grid_search_works_on_rows_without_edges_and_refuses_a_sliced_graph(classifier: Any, data: Any) -> None:
    search = GridSearchCV(classifier(), {"hidden": [2, 8]}, cv=2, error_score="raise")
    assert search.fit(data.X, data.truth).best_score_ > 0.5
    with pytest.raises(ValueError, match="square matrix"):
        search.fit(data.X, data.truth, adjacency=data.adjacency)


def test_sparse_rows_give_what_dense_rows_give(classifier: Any, data: Any) -> None:
    counts = np.random.default_rng(0).poisson(0.2, size=(60, 40)).astype(float)
    dense = classifier().fit(counts, data.y, adjacency=data.adjacency)
    sparse = classifier().fit(csr_array(counts), data.y, adjacency=data.adjacency)
    np.testing.assert_allclose(sparse.label_distributions_, dense.label_distributions_, atol=2e-3)


def test_held_out_labels_choose_the_epoch(classifier: Any, data: Any) -> None:
    made = classifier(validation_fraction=0.4).fit(data.X, data.y, adjacency=data.adjacency)
    assert made.predict(data.X).shape == (60,)
    with pytest.raises(LCGNNError, match="less than one of any class"):
        classifier(validation_fraction=0.05).fit(data.X, data.y, adjacency=data.adjacency)


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_every_kind_in_a_frame_are_used(classifier: Any, data: Any, library: Any) -> None:
    frame = library.DataFrame(
        {
            "size": [None if row % 7 == 0 else float(row) for row in range(60)],
            "topic": [("sport", "food")[label] for label in data.truth],
            "open": [bool(row % 2) for row in range(60)],
        }
    )
    made = classifier().fit(frame, data.y, adjacency=data.adjacency)
    assert made.feature_names_in_.tolist() == ["size", "topic", "open"]
    assert made.n_features_in_ == 3
    assert any("cells are missing" in note for note in made.notes_)
    assert made.score(frame, data.truth) == 1.0
    assert made.predict(frame[:4], adjacency=np.zeros((4, 4))).tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match=r"feature names|features"):
        made.predict(frame[["size", "topic"]], adjacency=data.adjacency)


def test_a_category_that_was_not_there_in_training_is_warned_of(classifier: Any, data: Any) -> None:
    frame = pd.DataFrame({"topic": np.take(["sport", "food"], data.truth)})
    made = classifier().fit(frame, data.truth)
    with pytest.warns(InputWarning, match="1 cell holds a value that was not there in training"):
        made.predict(pd.DataFrame({"topic": ["sport", "war"]}))


def test_what_is_done_to_an_answer_does_not_change_the_model(data: Any, fitted: LCGNNClassifier) -> None:
    fitted.predict_proba(data.X)[:] = 0
    np.testing.assert_allclose(fitted.predict_proba(data.X).sum(axis=1), 1, rtol=1e-5)


def test_parameters_are_read_at_the_fit_only(data: Any) -> None:
    assert LCGNNClassifier("no such base").base == "no such base"
    with pytest.raises(ConfigError):
        LCGNNClassifier("no such base").fit(data.X, data.truth)


def test_labels_of_pandas_with_gaps_can_be_scored(small_graph):
    graph, split = small_graph()
    names = np.array(graph.class_names)[graph.labels]
    series = pd.Series(names, dtype="string").where(np.isin(np.arange(graph.num_nodes), split.train))
    classifier = LCGNNClassifier("gcn", settings={"epochs": 5}).fit(graph.features, series, graph.adjacency)
    assert 0 <= classifier.score(graph.features, series, adjacency=graph.adjacency) <= 1
