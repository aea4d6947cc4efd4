"""A search for parameters that holds out labels instead of rows, so that the graph stays whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from lcgnn.errors import InputError
from lcgnn.graph import UNLABELLED
from lcgnn.sources.in_memory import class_labels


class LCGNNSearchCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Choose a classifier's parameters by cross-validation over the labels there are.

    scikit-learn's ``GridSearchCV`` takes rows away and with them edges. Here every fit sees all rows and all
    edges; only a part of the labels is hidden, and predicted. In the end the best is fitted with all labels.

    ``best_score_`` is the highest of several uncertain numbers and so promises a little too much: with L labels,
    one accuracy is uncertain by up to about 1 / sqrt(L) in either direction. Of equal ones the first wins, so put
    first what you would take anyway.

    Args:
        estimator: An `LCGNNClassifier`, or what has its ``fit(X, y, adjacency)`` and ``transduction_``.
        param_grid: Values to try for each parameter, all combinations; or several such grids.
        cv: In how many parts the labels are divided, each of which is hidden once; every class needs so many
            labels.
        random_state: Seed of the division.

    Attributes:
        best_params_: The parameters with the highest accuracy on hidden labels.
        best_score_: That accuracy.
        best_estimator_: The classifier with them, fitted with all labels.
        cv_results_: The accuracies of all that was tried, under the names that ``GridSearchCV`` has for them.
        classes_: (C,) the classes, sorted.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        cv: int = 5,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> LCGNNSearchCV:
        """Try all parameters on the rows of X, and fit the best; X, y and adjacency as for the classifier."""
        labels, classes = class_labels(column_or_1d(y, warn=True), signs_are_classes=adjacency is None)
        check_classification_targets(classes[labels[labels != UNLABELLED]])
        folds = self._folds(labels, classes)
        tried = list(ParameterGrid(self.param_grid))
        scores = np.array([[self._score(given, X, labels, adjacency, fold) for fold in folds] for given in tried])
        self.cv_results_ = _results(tried, scores)
        best = int(scores.mean(axis=1).argmax())
        self.best_index_, self.best_params_, self.best_score_ = best, tried[best], float(scores[best].mean())
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y, adjacency=adjacency)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def predict(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """(N,) what the best classifier predicts."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X, adjacency=adjacency))

    def predict_proba(self, X: Any, adjacency: Any = None) -> NDArray[np.float32]:
        """(N, C) how probable the best classifier finds each class."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X, adjacency=adjacency))

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """The accuracy of the best classifier on rows with a label in y."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight, adjacency=adjacency))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _folds(self, labels: NDArray[np.int64], classes: NDArray[Any]) -> list[NDArray[np.int64]]:
        """The rows whose labels are hidden together."""
        labelled = np.flatnonzero(labels != UNLABELLED)
        counts = np.bincount(labels[labelled])
        fewest = int(counts.argmin())
        if not 2 <= self.cv <= counts[fewest]:
            raise InputError(
                f"cv is {self.cv}, and class {classes[fewest]!s} has {counts[fewest]} labels. "
                "Give 2 or more, and not more than the smallest class has labels."
            )
        division = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        return [labelled[held] for _, held in division.split(labelled, labels[labelled])]

    def _score(
        self, given: Mapping[str, Any], X: Any, labels: NDArray[np.int64], adjacency: Any, held: NDArray[np.int64]
    ) -> float:
        """The accuracy on labels that were hidden."""
        known = labels.copy()
        known[held] = UNLABELLED
        # What is estimated of a candidate would be thrown away.
        alone = {"estimate": False} if "estimate" in self.estimator.get_params() else {}
        fitted = clone(self.estimator).set_params(**{**given, **alone}).fit(X, known, adjacency=adjacency)
        return float(np.mean(fitted.transduction_[held] == labels[held]))


def _results(tried: Sequence[Mapping[str, Any]], scores: NDArray[np.float64]) -> dict[str, Any]:
    """What was tried (rows) and how it did on every fold (columns), as scikit-learn names it."""
    means = scores.mean(axis=1)
    results: dict[str, Any] = {"params": list(tried)}
    for name in sorted({name for given in tried for name in given}):
        results[f"param_{name}"] = np.array([given.get(name) for given in tried], dtype=object)
    for fold in range(scores.shape[1]):
        results[f"split{fold}_test_score"] = scores[:, fold]
    results |= {"mean_test_score": means, "std_test_score": scores.std(axis=1)}
    results["rank_test_score"] = 1 + np.array([int((means > mean).sum()) for mean in means])
    return results
