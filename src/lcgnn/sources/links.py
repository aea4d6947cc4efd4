"""The edges of a graph in every form that Python has for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from lcgnn.csr import checked_sparse
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


def links_of(adjacency: Any, num_nodes: int, row_names: Sequence[Any] | None = None) -> EdgeList:
    """The edges between nodes 0 to N - 1, from whatever says which there are.

    An entry in one direction counts for both, and of two weights the larger; the notes tell if there were such.

    Args:
        adjacency: A scipy sparse matrix or a dense array (N, N) of weights; (2, M) whole node numbers, as PyTorch
            Geometric's ``edge_index``; a NetworkX graph or a square data frame, whose nodes are found by their
            names or, if these are 0 to N - 1, by number; None for no edges.
        num_nodes: N. Of two nodes, a (2, 2) array is taken as the matrix.
        row_names: What the rows are called, if they have names.
    """
    if adjacency is None:
        return EdgeList(np.empty((2, 0), dtype=np.int64), None)
    given = _in_order(adjacency, num_nodes, row_names)
    if issparse(given) or given.shape == (num_nodes, num_nodes):
        return _links_of_matrix(given, num_nodes)
    if given.ndim == 2 and given.shape[0] == 2:
        return links_of_edges(given, None, num_nodes)
    raise InputError(
        f"adjacency: shape {given.shape} for {num_nodes} rows. Give a square matrix with a row for each, "
        "or the edges as (2, M) node numbers."
    )


def links_of_edges(edges: NDArray[Any], weights: NDArray[Any] | None, num_nodes: int) -> EdgeList:
    """The edges (2, M), with a weight each if there are weights."""
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise InputError(f"edge_index: shape {edges.shape}. Give the edges as (2, M) node numbers.")
    if edges.dtype.kind not in "iu":
        raise InputError(f"adjacency: node numbers of type {edges.dtype}. Give (2, M) whole numbers.")
    outside = (edges < 0) | (edges >= num_nodes)
    if outside.any():
        raise InputError(
            f"adjacency: an edge names node {edges[outside][0]}; there are {num_nodes}, counted from 0."
        )
    ends = edges.astype(np.int64)
    if weights is None:
        return EdgeList(ends, None, _notes_on_a_list(ends, None, num_nodes))
    if weights.shape != (ends.shape[1],) or weights.dtype.kind not in "biuf":
        raise InputError(f"edge_weight: shape {weights.shape} for {ends.shape[1]} edges. Give a number for each.")
    with np.errstate(over="ignore"):
        floats = weights.astype(np.float32)
    if not (np.isfinite(floats) & (floats > 0)).all():
        raise InputError("edge_weight: a weight is not positive and finite. Correct it, or leave the edge out.")
    return EdgeList(ends, floats, _notes_on_a_list(ends, floats, num_nodes))


def is_networkx(value: Any) -> bool:
    """Whether it is a NetworkX graph; if nobody has imported the library, it is none."""
    library = sys.modules.get("networkx")
    return library is not None and isinstance(value, library.Graph)


def _in_order(adjacency: Any, num_nodes: int, row_names: Sequence[Any] | None) -> Any:
    """A scipy matrix or a numpy array with the nodes in the order of the rows, from every form."""
    if is_networkx(adjacency):
        names = list(adjacency)
    elif _is_square_frame(adjacency):
        names = list(adjacency.index)
    else:
        return _matrix_or_edges(adjacency)
    if len(names) != num_nodes:
        raise InputError(
            f"adjacency: shape {(len(names), len(names))} for {num_nodes} rows. Give a graph with a node for each."
        )
    order = rows_by_name(names, row_names)
    return _named_matrix(adjacency, names)[order][:, order]


def _named_matrix(adjacency: Any, names: list[Any]) -> csr_array:
    """The weights between nodes in the order of their names."""
    if not is_networkx(adjacency):
        return csr_array(_numeric(adjacency[names].to_numpy(), adjacency))
    to_matrix = sys.modules["networkx"].to_scipy_sparse_array
    try:
        return csr_array(to_matrix(adjacency, nodelist=names, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"adjacency: some weight is not a number ({error}). Correct it.") from error


def _is_square_frame(value: Any) -> bool:
    library = sys.modules.get("pandas")
    if library is None or not isinstance(value, library.DataFrame):
        return False
    names = set(value.index)
    return len(names) == len(value.index) == len(value.columns) and names == set(value.columns)


def rows_by_name(names: Sequence[Any], row_names: Sequence[Any] | None) -> list[int]:
    """For every row, the place of the node that it is: by its name, or by its number if the nodes are numbered.

    InputError if neither says which node is which row; their order says nothing.
    """
    places = {name: place for place, name in enumerate(names)}
    if row_names is not None:
        if places.keys() == set(row_names):
            return [places[name] for name in row_names]
        texts = {str(name): place for name, place in places.items()}
        if len(texts) == len(names) and texts.keys() == {str(name) for name in row_names}:
            return [texts[str(name)] for name in row_names]
    numbers = range(len(names))
    if places.keys() == set(numbers) and (row_names is None or set(row_names) == set(numbers)):
        return [places[number] for number in numbers]
    strange = next((name for name in names if name not in set(row_names or numbers)), names[0])
    called = "no row is called so" if row_names is not None else "the rows have no names"
    raise InputError(
        f"adjacency: there is a node {strange!r}, and {called}, so which row it is cannot be known. Give X as a "
        "data frame with the names of the nodes as its index, or number the nodes by their rows: 0, 1, ..."
    )


def _numeric(array: NDArray[Any], given: Any) -> NDArray[Any]:
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"adjacency: {type(given).__name__} of {array.dtype} cannot be a graph's edges. Give a scipy or "
            "numpy matrix, (2, M) node numbers or a NetworkX graph."
        )
    return array


def _matrix_or_edges(adjacency: Any) -> Any:
    """A scipy matrix or a numpy array, from every form that has no names."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(adjacency, torch.Tensor):
        adjacency = adjacency.detach().cpu()
        if adjacency.layout != torch.strided:
            sparse = adjacency.to_sparse_coo().coalesce()
            return coo_array((sparse.values().numpy(), tuple(sparse.indices().numpy())), shape=tuple(sparse.shape))
        return adjacency.numpy()
    if issparse(adjacency):
        return checked_sparse(adjacency, "adjacency")
    try:
        array = np.asarray(adjacency)
    except ValueError as error:
        raise InputError(f"adjacency: not an array ({error}). Give a matrix or (2, M) node numbers.") from error
    return _numeric(array, adjacency)


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


def _notes(edges: NDArray[np.int64], weights: NDArray[np.float32] | None, num_nodes: int) -> tuple[str, ...]:
    """A sentence if an edge has not the same weight in both directions."""
    one_way = _num_one_way(_matrix_of(edges, weights, num_nodes))
    if not one_way:
        return ()
    which, they = ("1 edge is", "It counts") if one_way == 1 else (f"{one_way:,} edges are", "They count")
    return (
        f"adjacency: not symmetric: {which} there in one direction only, or with another weight. "
        f"{they} in both directions, with the larger weight.",
    )


def _notes_on_a_list(
    edges: NDArray[np.int64], weights: NDArray[np.float32] | None, num_nodes: int
) -> tuple[str, ...]:
    """The same for a list of edges, which may as well have every edge once, in whichever direction."""
    ends = edges[:, edges[0] != edges[1]]
    there = _matrix_of(ends, None, num_nodes)
    # Entries that are there in both directions; none if every edge is listed once.
    if not there.multiply(there.T).nnz:
        return ()
    return _notes(edges, weights, num_nodes)


def _matrix_of(edges: NDArray[np.int64], weights: NDArray[np.float32] | None, num_nodes: int) -> csr_array:
    values = np.ones(edges.shape[1], dtype=np.float32) if weights is None else weights
    matrix = csr_array((values, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    if weights is None:
        # An edge that is listed twice has been added up.
        matrix.data[:] = 1
    return matrix


def _num_one_way(matrix: csr_array) -> int:
    return int((matrix != matrix.T).nnz) // 2
