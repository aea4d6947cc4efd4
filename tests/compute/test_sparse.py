"""Sparse products, dropout and the normalised adjacency, held against dense ones and PyTorch Geometric's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SparseMatrix, dropped_product, normalized_adjacency
from lcgnn.errors import DataError
from lcgnn.graph import Graph

CPU = torch.device("cpu")
CHOICES = ("fused", "plain")


def random_matrix(rows: int, columns: int, density: float, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    kept = generator.random((rows, columns)) < density
    return (generator.normal(size=(rows, columns)) * kept).astype(np.float32)


def random_adjacency(num_nodes: int, density: float, seed: int, *, loops: bool, weighted: bool) -> np.ndarray:
    upper = np.triu(np.abs(random_matrix(num_nodes, num_nodes, density, seed)), 0 if loops else 1)
    symmetric = upper + np.triu(upper, 1).T
    return symmetric if weighted else (symmetric > 0).astype(np.float32)


@pytest.fixture(scope="module")
def one_thread():
    """As in a fit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


shapes = st.tuples(st.integers(1, 30), st.integers(1, 30), st.sampled_from([0.0, 0.1, 0.5, 1.0]))


@settings(max_examples=50)
@given(shapes, st.integers(1, 8) | st.sampled_from([48, 64, 65]), st.integers(0, 2**32))
def test_products_and_their_gradients_equal_the_dense_ones(one_thread, shape, width, seed):
    rows, columns, density = shape
    matrix = random_matrix(rows, columns, density, seed)
    right = torch.tensor(random_matrix(shape[1], width, 1.0, seed + 1), requires_grad=True)
    grad_output = torch.tensor(random_matrix(shape[0], width, 1.0, seed + 2))
    product = SparseMatrix.of(csr_array(matrix), CPU) @ right
    (gradient,) = torch.autograd.grad(product, right, grad_output)
    torch.testing.assert_close(product.detach(), torch.tensor(matrix) @ right.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient, torch.tensor(matrix).T @ grad_output, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [1, 16, 20, 70])
def test_products_with_a_matrix_that_no_cache_holds_equal_the_usual_ones(one_thread, width, monkeypatch):
    monkeypatch.setattr("lcgnn.compute.kernels.csr._LARGE", 0)
    matrix, right = random_matrix(50, 30, 0.3, 0), torch.tensor(random_matrix(30, width, 1.0, 1))
    product = SparseMatrix.of(csr_array(matrix), CPU).product(right)
    torch.testing.assert_close(product, torch.tensor(matrix) @ right, rtol=1e-5, atol=1e-5)


def test_a_gradient_may_come_as_an_expanded_view():
    matrix = random_matrix(6, 4, 0.5, 0)
    right = torch.ones(4, 3, requires_grad=True)
    (SparseMatrix.of(csr_array(matrix), CPU) @ right).sum().backward()
    torch.testing.assert_close(right.grad, torch.tensor(matrix.sum(axis=0))[:, None].expand(4, 3))


def test_a_symmetric_matrix_is_its_own_transpose():
    sparse = SparseMatrix.of(csr_array(np.eye(3, dtype=np.float32)), CPU, symmetric=True)
    assert sparse.transpose is sparse.matrix


@pytest.mark.parametrize("width", [1, 3, 16, 64, 70])
@pytest.mark.parametrize("large", [0, 2**20])
def test_a_transposed_product_without_the_transpose_equals_the_dense_one(width, large, monkeypatch):
    monkeypatch.setattr("lcgnn.compute.kernels.csr._LARGE", large)
    matrix, right = random_matrix(40, 12, 0.3, 0), torch.tensor(random_matrix(40, width, 1.0, 1))
    product = SparseMatrix.of(csr_array(matrix), CPU).transposed_product(right)
    torch.testing.assert_close(product, torch.tensor(matrix).T @ right, rtol=1e-5, atol=1e-5)


def test_a_product_with_some_columns_of_a_wider_matrix_reads_only_those():
    matrix, wide = random_matrix(20, 30, 0.3, 0), torch.tensor(random_matrix(30, 9, 1.0, 1))
    wide[:, 5:] = torch.nan
    sparse = SparseMatrix.of(csr_array(matrix), CPU)
    torch.testing.assert_close(sparse.product(wide[:, :5]), torch.tensor(matrix) @ wide[:, :5])
    torch.testing.assert_close(sparse.product(wide[:, :5].T.contiguous().T), torch.tensor(matrix) @ wide[:, :5])


@pytest.mark.parametrize("choice", CHOICES)
@settings(max_examples=40)
@given(shapes, st.sampled_from([0.2, 0.6]), st.integers(0, 2**32 - 1))
def test_dropout_of_a_sparse_matrix_is_that_of_the_dense_one_and_its_transpose_agrees(choice, shape, rate, key):
    rows, columns, density = shape
    matrix, dropout = random_matrix(rows, columns, density, key), Dropout(rate, key)
    with use(choice):
        dropped = SparseMatrix.of(csr_array(matrix), CPU).dropout(dropout)
    expected = torch.tensor(matrix) * dropout.mask_like(torch.tensor(matrix))
    torch.testing.assert_close(dropped.matrix.to_dense(), expected)
    torch.testing.assert_close(dropped.transpose.to_dense(), expected.T)


@pytest.mark.parametrize("choice", CHOICES)
def test_a_product_after_dropout_has_the_gradient_of_the_dense_one(choice):
    matrix, dropout = random_matrix(20, 30, 0.3, 0), Dropout(0.6, 5)
    dense = torch.tensor(matrix) * dropout.mask_like(torch.tensor(matrix))
    weight = torch.tensor(random_matrix(30, 4, 1.0, 1), requires_grad=True)
    (expected,) = torch.autograd.grad((dense @ weight).square().sum(), weight)
    for features in (SparseMatrix.of(csr_array(matrix), CPU), torch.tensor(matrix)):
        with use(choice):
            (gradient,) = torch.autograd.grad(dropped_product(features, weight, dropout).square().sum(), weight)
        torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("choice", CHOICES)
def test_without_dropout_the_matrix_stays_what_it_is(choice):
    sparse = SparseMatrix.of(csr_array(random_matrix(5, 4, 0.5, 0)), CPU)
    with use(choice):
        assert sparse.dropout(NO_DROPOUT) is sparse


@settings(max_examples=50)
@given(st.integers(1, 25), st.sampled_from([0.0, 0.05, 0.3]), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_the_normalised_adjacency_is_pytorch_geometrics(num_nodes, density, loops, weighted, seed):
    """With isolated nodes, self-loops that are there already, and weights."""
    adjacency = random_adjacency(num_nodes, density, seed, loops=loops, weighted=weighted)
    edges = torch.tensor(np.stack(adjacency.nonzero()))
    weights = torch.tensor(adjacency[adjacency.nonzero()])
    edges, weights = gcn_norm(edges, weights, num_nodes=num_nodes)
    expected = torch.zeros(num_nodes, num_nodes).index_put((edges[1], edges[0]), weights, accumulate=True)
    normalized = normalized_adjacency(csr_array(adjacency)).toarray()
    torch.testing.assert_close(torch.tensor(normalized), expected, rtol=1e-5, atol=1e-6)


def test_an_isolated_node_sees_itself_with_weight_one():
    np.testing.assert_allclose(normalized_adjacency(csr_array((2, 2), dtype=np.float32)).toarray(), np.eye(2))


def test_the_neighbourhood_of_a_node_is_its_neighbours_and_itself_once():
    adjacency = csr_array(np.array([[0.5, 2, 0], [2, 0, 0], [0, 0, 0]], dtype=np.float32))
    graph = GraphTensors(Graph("loop", adjacency, np.zeros(3, dtype=np.int64), ("a",)))
    np.testing.assert_array_equal(graph.neighbourhood.pattern.toarray() != 0, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_features_stay_sparse_or_dense_as_the_graph_has_them():
    dense = random_matrix(3, 4, 0.5, 0)
    adjacency = csr_array((3, 3), dtype=np.float32)
    sparse = GraphTensors(
        Graph("sparse", adjacency, np.zeros(3, dtype=np.int64), ("a",), csr_array(dense))
    ).features
    assert isinstance(sparse, SparseMatrix)
    torch.testing.assert_close(sparse.matrix.to_dense(), torch.tensor(dense))
    same = GraphTensors(Graph("dense", adjacency, np.zeros(3, dtype=np.int64), ("a",), dense)).features
    torch.testing.assert_close(same, torch.tensor(dense))


def test_a_graph_without_features_says_so():
    graph = GraphTensors(Graph("bare", csr_array((3, 3), dtype=np.float32), np.zeros(3, dtype=np.int64), ("a",)))
    with pytest.raises(DataError, match="bare has no node features"):
        _ = graph.features
