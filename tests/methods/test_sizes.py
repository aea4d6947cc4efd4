"""What a method needs of memory is known before it is taken, whichever way it is called."""

import numpy as np
import pytest
from tests.networks.strong import NUM_NODES, random_graph, split_of

from lcgnn.errors import DataError
from lcgnn.estimator import LCGNNClassifier
from lcgnn.limits import VARIABLE
from lcgnn.methods import create
from lcgnn.methods.base import Context
from lcgnn.methods.sizes import check_size


def test_every_sample_of_a_step_counts(monkeypatch):
    monkeypatch.setenv(VARIABLE, "0.0001")
    graph = random_graph()
    shape = graph.num_nodes, graph.num_features, graph.num_classes
    check_size(create("grand", samples=1), "it", *shape)
    with pytest.raises(DataError, match=r"on it, 100 times a step, needs .* and 0\.1 MB may be used"):
        check_size(create("grand", samples=100), "it", *shape)


def test_more_samples_than_memory_holds_are_refused_by_method_and_classifier(monkeypatch):
    graph = random_graph()
    monkeypatch.setenv(VARIABLE, "0.0001")
    with pytest.raises(DataError, match="100 times a step"):
        create("lc-grand", samples=100).fit(graph, split_of(graph), context=Context(device="cpu"))
    labels = np.where(np.arange(NUM_NODES) % 4 == 0, graph.labels, -1)
    with pytest.raises(DataError, match="100 times a step"):
        LCGNNClassifier("grand", settings={"samples": 100}).fit(graph.features, labels, graph.adjacency)
