"""scikit-learn's own checks of what an estimator must do."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lcgnn import LCGNNClassifier, LCGNNSearchCV

QUICK: dict[str, Any] = {"base_epochs": 30, "epochs": 20, "learning_rate": 0.05}


SEARCHED = LCGNNClassifier(base_epochs=20, epochs=1, learning_rate=0.05, random_state=0)


CHECKS = parametrize_with_checks([LCGNNClassifier(**QUICK), LCGNNSearchCV(SEARCHED, {"hidden": [8]}, cv=2)])
NAMES, CASES = CHECKS.args


# A list, where older versions of scikit-learn give pytest a generator, which it will not take for long.
@pytest.mark.parametrize(NAMES, list(CASES), **CHECKS.kwargs)
def test_an_estimator_does_what_scikit_learn_expects_of_one(estimator: Any, check: Any) -> None:
    check(estimator)
