"""The search holds out labels and no rows, and finds what is better."""

from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin

from lcgnn import LCGNNClassifier, LCGNNSearchCV
from lcgnn.errors import InputError


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent given label, or the least frequent; notes down what it was fitted to."""

    seen: ClassVar[list[tuple[Any, Any, Any]]] = []

    def __init__(self, most: bool = True) -> None:
        self.most = most

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> "Majority":
        self.seen.append((X, y, adjacency))
        given = np.array([label for label in y if label is not None and label != -1])
        self.classes_, counts = np.unique(given, return_counts=True)
        self.transduction_ = np.full(len(y), self.classes_[counts.argmax() if self.most else counts.argmin()])
        return self


def test_every_fit_sees_all_rows_and_edges_and_every_label_is_hidden_once() -> None:
    Majority.seen.clear()
    y = np.array([0, 0, 0, 0, 1, 1, -1, -1])
    X, edges = np.eye(8), csr_array((8, 8))
    LCGNNSearchCV(Majority(), {"most": [True]}, cv=2).fit(X, y, adjacency=edges)
    *folds, last = Majority.seen
    assert all(rows is X and adjacency is edges for rows, _, adjacency in Majority.seen)
    hidden = [[place for place in range(6) if known[place] == -1] for _, known, _ in folds]
    assert sorted(place for part in hidden for place in part) == [0, 1, 2, 3, 4, 5]
    assert all(sorted(y[part].tolist()) == [0, 0, 1] for part in hidden)
    assert last[1] is y


def test_scores_are_the_accuracies_on_hidden_labels() -> None:
    y = np.array(["a"] * 6 + ["b"] * 3 + ["c"] * 3 + [None] * 4, dtype=object)
    search = LCGNNSearchCV(Majority(), {"most": [False, True]}, cv=3).fit(np.eye(16), y)
    assert search.best_params_ == {"most": True}
    assert search.best_score_ == pytest.approx(0.5)
    assert search.cv_results_["mean_test_score"].tolist() == pytest.approx([0.25, 0.5])
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    assert search.cv_results_["param_most"].tolist() == [False, True]
    assert search.best_estimator_.transduction_.tolist() == ["a"] * 16


def test_of_equal_ones_the_first_wins() -> None:
    y = np.array([0, 0, 1, 1, -1])
    assert LCGNNSearchCV(Majority(), {"most": [True, False]}, cv=2).fit(np.eye(5), y).best_params_ == {
        "most": True
    }


def test_it_finds_that_the_edges_matter_and_predicts_with_the_best(classifier: Any, data: Any) -> None:
    search = LCGNNSearchCV(classifier(), {"base": ["mlp", "gcn"]}, cv=5)
    search.fit(data.X, data.y, adjacency=data.adjacency)
    assert search.best_params_ == {"base": "gcn"}
    np.testing.assert_array_equal(search.predict(data.X), search.best_estimator_.predict(data.X))
    np.testing.assert_array_equal(search.predict_proba(data.X), search.best_estimator_.predict_proba(data.X))
    assert search.score(data.X, data.truth) == search.best_estimator_.score(data.X, data.truth)


@pytest.mark.parametrize("cv", [1, 6])
def test_too_few_labels_for_so_many_parts_are_refused(data: Any, cv: int) -> None:
    with pytest.raises(InputError, match=f"cv is {cv}, and class 0 has 5 labels"):
        LCGNNSearchCV(LCGNNClassifier(), {"hidden": [4]}, cv=cv).fit(data.X, data.y)
