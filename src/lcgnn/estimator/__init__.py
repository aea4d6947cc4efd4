"""The scikit-learn face of the package: a classifier, and a search for its parameters."""

from lcgnn.estimator.classifier import LCGNNClassifier

__all__ = ["LCGNNClassifier"]
