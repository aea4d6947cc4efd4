"""The edges of a graph in every form that Python has for them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from lcgnn.errors import InputError


@dataclass(frozen=True, eq=False)
class EdgeList:
    """The edges of a graph as they were given.

    Args:
        edges: (2, M) node numbers; `Graph.from_edges` merges directions and drops self-loops.
        weights: (M,) positive, or None if all are 1.
        notes: What could not be taken as it stands, a sentence each.
    """

    edges: NDArray[np.int64]
    weights: NDArray[np.float32] | None
    notes: tuple[str, ...] = ()


def links_of(adjacency: Any, num_nodes: int) -> EdgeList:
    """The edges between nodes 0 to N - 1, from whatever says which there are.

    An entry in one direction counts for both, and of two weights the larger; the notes tell if there were such.

    Args:
        adjacency: A scipy sparse matrix or a dense array (N, N) of weights; (2, M) whole node numbers, as PyTorch
            Geometric's ``edge_index``; a NetworkX graph whose nodes are the rows in order; None for no edges.
        num_nodes: N. Of two nodes, a (2, 2) array is taken as the matrix.
    """
    if adjacency is None:
        return EdgeList(np.empty((2, 0), dtype=np.int64), None)
    given = _matrix_or_edges(adjacency)
    if issparse(given) or given.shape == (num_nodes, num_nodes):
        return _links_of_matrix(given, num_nodes)
    if given.ndim == 2 and given.shape[0] == 2:
        return _links_of_edges(given, num_nodes)
    raise InputError(
        f"adjacency: shape {given.shape} for {num_nodes} rows. Give a square matrix with a row for each, "
        "or the edges as (2, M) node numbers."
    )


def weighted_links(edges: NDArray[Any], weights: NDArray[Any], num_nodes: int) -> EdgeList:
    """The edges (2, M) with a weight each."""
    links = _links_of_edges(edges, num_nodes)
    if weights.shape != (edges.shape[1],) or weights.dtype.kind not in "biuf":
        raise InputError(f"edge_weight: shape {weights.shape} for {edges.shape[1]} edges. Give a number for each.")
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise InputError("edge_weight: a weight is not positive and finite. Correct it, or leave the edge out.")
    floats = weights.astype(np.float32)
    return EdgeList(links.edges, floats, _notes(links.edges, floats, num_nodes))


def is_networkx(value: Any) -> bool:
    """Whether it is a NetworkX graph; if nobody has imported the library, it is none."""
    library = sys.modules.get("networkx")
    return library is not None and isinstance(value, library.Graph)


def _matrix_or_edges(adjacency: Any) -> Any:
    """A scipy matrix or a numpy array, from every other form."""
    if is_networkx(adjacency):
        return sys.modules["networkx"].to_scipy_sparse_array(adjacency, dtype=np.float64, format="coo")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(adjacency, torch.Tensor):
        adjacency = adjacency.detach().cpu()
        if adjacency.layout != torch.strided:
            sparse = adjacency.to_sparse_coo().coalesce()
            return coo_array((sparse.values().numpy(), tuple(sparse.indices().numpy())), shape=tuple(sparse.shape))
        return adjacency.numpy()
    if issparse(adjacency):
        return adjacency
    try:
        array = np.asarray(adjacency)
    except ValueError as error:
        raise InputError(f"adjacency: not an array ({error}). Give a matrix or (2, M) node numbers.") from error
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"adjacency: {type(adjacency).__name__} of {array.dtype} cannot be a graph's edges. Give a scipy or "
            "numpy matrix, (2, M) node numbers or a NetworkX graph."
        )
    return array


def _links_of_matrix(matrix: Any, num_nodes: int) -> EdgeList:
    if matrix.shape != (num_nodes, num_nodes):
        raise InputError(
            f"adjacency: shape {matrix.shape} for {num_nodes} rows. Give a square matrix with a row for each."
        )
    entries = coo_array(matrix, copy=True)
    entries.sum_duplicates()
    values = np.asarray(entries.data, dtype=np.float64)
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        place = int(bad.argmax())
        raise InputError(
            f"adjacency: the entry at ({entries.row[place]}, {entries.col[place]}) is {values[place]:g}. "
            "Weights must be positive and finite, and 0 where there is no edge."
        )
    there = values > 0
    edges = np.stack([entries.row[there], entries.col[there]]).astype(np.int64)
    weights = values[there].astype(np.float32)
    notes = _notes(edges, weights, num_nodes)
    return EdgeList(edges, None if (weights == 1).all() else weights, notes)


def _links_of_edges(edges: NDArray[Any], num_nodes: int) -> EdgeList:
    if edges.dtype.kind not in "iu":
        raise InputError(f"adjacency: node numbers of type {edges.dtype}. Give (2, M) whole numbers.")
    outside = (edges < 0) | (edges >= num_nodes)
    if outside.any():
        raise InputError(
            f"adjacency: an edge names node {edges[outside][0]}; there are {num_nodes}, counted from 0."
        )
    edges = edges.astype(np.int64)
    return EdgeList(edges, None, _notes(edges, None, num_nodes))


def _notes(edges: NDArray[np.int64], weights: NDArray[np.float32] | None, num_nodes: int) -> tuple[str, ...]:
    """A sentence if an edge has not the same weight in both directions."""
    values = np.ones(edges.shape[1], dtype=np.float32) if weights is None else weights
    matrix = csr_array((values, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    if weights is None:
        # An edge that is listed twice has been added up.
        matrix.data[:] = 1
    one_way = (matrix != matrix.T).nnz // 2
    if not one_way:
        return ()
    return (
        f"adjacency: not symmetric: {one_way:,} edges are there in one direction only, or with another weight. "
        "They count in both directions, with the larger weight.",
    )
