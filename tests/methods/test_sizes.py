"""What a method needs of memory is known before it is taken, whichever way it is called."""

import numpy as np
import pytest
from tests.networks.strong import NUM_NODES, random_graph, split_of

from lcgnn.errors import DataError
from lcgnn.estimator import LCGNNClassifier
from lcgnn.graph import Split
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


MILLION = 1_000_000


@pytest.mark.parametrize(
    ("name", "settings"),
    [("lc-gcnii", {"layers": 1000}), ("lc-dagnn", {"steps": 1000}), ("lc-gcn", {"hidden": 8192})],
)
def test_what_every_layer_and_step_keeps_of_a_node_counts(name, settings, monkeypatch):
    monkeypatch.setenv(VARIABLE, "20")
    check_size(create(name), "it", MILLION, 64, 20)
    with pytest.raises(DataError, match="on it needs"):
        check_size(create(name, **settings), "it", MILLION, 64, 20)


def test_few_features_do_not_make_a_deep_network_look_wide(monkeypatch):
    # 8 layers of 64 units: 2 KB of a node, however many weights there are for each of its three features.
    monkeypatch.setenv(VARIABLE, "2.5")
    check_size(create("gcnii"), "it", MILLION, 3, 2)
    monkeypatch.setenv(VARIABLE, "2")
    with pytest.raises(DataError, match=r"2\.[01] GB"):
        check_size(create("gcnii"), "it", MILLION, 3, 2)


def test_the_pairs_of_many_labels_count_where_they_are_held(monkeypatch):
    graph = random_graph()
    labels = Split(np.arange(NUM_NODES - 2), np.arange(0), np.arange(0))
    monkeypatch.setattr("lcgnn.training.objectives._BYTES_A_PAIR", 10**9)
    method = create("lc-gcn", balanced=True, base_epochs=2, epochs=2, selection="last")
    with pytest.raises(DataError, match=r"The regulariser over all pairs of .* labels needs"):
        method.fit(graph, labels, 0, Context(device="cpu"))
