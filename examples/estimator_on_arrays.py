"""A scikit-learn classifier on arrays: digits with two labels a class, joined to the images that look alike."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from lcgnn import LCGNNClassifier

X, truth = load_digits(return_X_y=True)
generator = np.random.default_rng(0)
y = np.full(truth.size, -1)  # -1: no label
for digit in range(10):
    y[generator.choice(np.flatnonzero(truth == digit), 2, replace=False)] = digit

neighbours = kneighbors_graph(X, 10)
adjacency = neighbours.maximum(neighbours.T)
hidden = y == -1
for name, label_consistency in (("GCN alone", False), ("with label consistency", True)):
    classifier = LCGNNClassifier(base="gcn", label_consistency=label_consistency, random_state=0)
    classifier.fit(X, y, adjacency=adjacency)
    print(f"{name}: {np.mean(classifier.transduction_[hidden] == truth[hidden]):.1%}")
