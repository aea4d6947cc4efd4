"""The scikit-learn face of the package: a classifier, and a search for its parameters."""

from lcgnn.estimator.classifier import LCGNNClassifier
from lcgnn.estimator.search import LCGNNSearchCV

__all__ = ["LCGNNClassifier", "LCGNNSearchCV"]
