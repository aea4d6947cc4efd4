import sys

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import lcgnn
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split
from lcgnn.sources.pyg import from_pyg, to_pyg

SPLIT = Split(np.array([0, 1]), np.array([3]), np.array([4]), "by hand")


def small_graph(weight: float = 1.0, **options) -> Graph:
    """A path of three nodes with a self-loop in the middle, and two nodes alone; node 2 is unlabelled."""
    adjacency = np.zeros((5, 5))
    adjacency[[0, 1, 1, 2, 1], [1, 0, 2, 1, 1]] = [1, 1, weight, weight, 1]
    return Graph("small", csr_array(adjacency), np.array([0, 2, -1, 0, 2]), ("a", "b", "c"), **options)


FEATURES = np.array([[0, 1], [0, 0], [2, 0], [0, 0], [0.5, 1]], dtype=np.float32)
GRAPHS = {
    "bare": small_graph(),
    "weighted": small_graph(2.5),
    "dense features": small_graph(features=FEATURES),
    "everything": small_graph(
        0.5, features=FEATURES, node_names=np.array(["v", "w", "x", "y", "z"]), num_source_links=7
    ),
}


def assert_same(graph: Graph, other: Graph) -> None:
    assert graph.checksum == other.checksum
    assert (graph.name, graph.num_source_links) == (other.name, other.num_source_links)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_graph_survives_the_way_there_and_back(graph):
    back, split = from_pyg(to_pyg(graph, SPLIT))
    assert_same(back, graph)
    assert split is not None
    assert (split.checksum, split.name) == (SPLIT.checksum, SPLIT.name)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_a_benchmark_survives_the_way_there_and_back_with_sparse_features(name, request):
    graph, split = request.getfixturevalue(name)
    back, split_back = from_pyg(to_pyg(graph, split, sparse_features=True))
    assert_same(back, graph)
    assert split_back.checksum == split.checksum


def test_dense_features_of_a_sparse_graph_hold_the_same_values(cora):
    graph, _ = cora
    np.testing.assert_array_equal(to_pyg(graph).x.numpy(), graph.features.toarray())


def test_sparse_features_in_coo_layout_are_read_too():
    data = to_pyg(small_graph(features=FEATURES))
    data.x = data.x.to_sparse_coo()
    np.testing.assert_array_equal(csr_array(from_pyg(data)[0].features).toarray(), FEATURES)


def test_a_pyg_layer_gives_the_same_on_dense_and_on_sparse_features():
    layer = GCNConv(2, 3)
    graph = small_graph(features=FEATURES)
    dense, sparse = to_pyg(graph), to_pyg(graph, sparse_features=True)
    torch.testing.assert_close(layer(sparse.x, sparse.edge_index), layer(dense.x, dense.edge_index))


def test_edge_weights_are_only_given_where_they_say_something():
    assert "edge_weight" not in to_pyg(small_graph())
    assert "edge_weight" in to_pyg(small_graph(2.0))


def test_pyg_finds_the_data_valid_and_undirected():
    data = to_pyg(small_graph(2.0, features=FEATURES), SPLIT)
    assert data.validate()
    assert data.is_undirected()
    assert (data.num_nodes, data.num_edges) == (5, 5)


def test_a_graph_without_masks_has_no_split():
    assert from_pyg(to_pyg(small_graph()))[1] is None


def test_data_without_names_gets_numbers_for_classes_and_the_name_given():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([[2], [-1]]))
    graph, _ = from_pyg(data, name="mine")
    assert (graph.name, graph.class_names, graph.labels.tolist()) == ("mine", ("0", "1", "2"), [2, -1])


def test_data_without_labels_is_wholly_unlabelled():
    graph, _ = from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3))
    assert graph.labels.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("weights", [torch.tensor([2.0, 2.0]), torch.tensor([[2.0], [2.0]])])
def test_a_one_column_edge_attr_is_taken_as_weights(weights):
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=weights, num_nodes=2)
    assert from_pyg(data)[0].adjacency[0, 1] == 2.0


def one_way(**fields) -> Data:
    return Data(edge_index=torch.tensor([[0, 0, 1], [1, 1, 1]]), y=torch.tensor([0, 1]), **fields)


def test_links_are_merged_into_undirected_edges_on_request():
    graph, _ = from_pyg(one_way(edge_weight=torch.tensor([1.0, 3.0, 1.0])), undirected=True)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 3], [3, 0]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (one_way(), "more than once.*undirected=True"),
        (Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2), "directed.*undirected=True"),
        (
            Data(edge_index=torch.tensor([[0, 1], [1, 0]]), edge_weight=torch.tensor([1.0, 2.0]), num_nodes=2),
            "weights differ.*undirected=True",
        ),
        (Data(x=torch.ones(2, 2)), "no edge_index"),
        (Data(edge_index=torch.tensor([[0, 5], [5, 0]]), num_nodes=2), r"outside 0\.\.1"),
        (
            Data(edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.ones(2, 3), num_nodes=2),
            "one weight per edge",
        ),
        (Data(edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([0.5, 1.0])), "one class number"),
    ],
)
def test_data_that_is_no_undirected_graph_is_refused_with_what_to_do(data, message):
    with pytest.raises(DataError, match=message):
        from_pyg(data)


def test_several_splits_in_one_mask_are_refused_with_how_to_pick_one():
    data = to_pyg(small_graph(), SPLIT)
    data.train_mask = torch.ones(5, 10, dtype=torch.bool)
    with pytest.raises(DataError, match=r"train_mask holds 10 splits.*data\.train_mask\[:, 0\]"):
        from_pyg(data)


def test_a_mask_over_an_unlabelled_node_is_refused():
    data = to_pyg(small_graph(), SPLIT)
    data.test_mask[2] = True
    with pytest.raises(DataError, match="node 2 of small, whose label is unknown"):
        from_pyg(data)


def test_without_torch_geometric_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(ConfigError, match=r"needs torch_geometric, .*pip install 'lcgnn\[pyg\]'"):
        to_pyg(small_graph())


def test_masks_need_nothing_to_train_on_where_a_model_is_asked(small_graph, tmp_path):
    graph, split = small_graph()
    data = to_pyg(graph, split)
    trained = lcgnn.train(data, "gcn", settings={"epochs": 3}, folds=0, out=tmp_path / "run")
    expected = trained.predict().distribution
    for name in ("train_mask", "val_mask"):
        data[name] = torch.zeros(graph.num_nodes, dtype=torch.bool)
    np.testing.assert_array_equal(lcgnn.predict(trained.folder, data).distribution, expected)
    data.y = None
    data.train_mask, data.test_mask = data.test_mask, data.train_mask
    np.testing.assert_array_equal(lcgnn.predict(trained.folder, data).distribution, expected)
