"""scikit-learn's own checks of what an estimator must do."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from lcgnn import LCGNNClassifier

QUICK = {"base_epochs": 30, "epochs": 20, "learning_rate": 0.05}


@parametrize_with_checks([LCGNNClassifier(**QUICK)])
def test_the_classifier_does_what_scikit_learn_expects_of_one(estimator: Any, check: Any) -> None:
    check(estimator)
