"""The two things that everything else works on: a graph, and which of its labels may be used for what.

Shapes, throughout the package: N nodes, E undirected edges, F features, C classes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from lcgnn.csr import canonical, csr_parts, is_symmetric
from lcgnn.errors import DataError
from lcgnn.limits import check_features
from lcgnn.mapping import all_in_blocks, blocks, let_go

UNLABELLED = -1
# Rows, and bytes, of a graph that are in memory at a time where all of it is gone through.
_ROWS, _BYTES = 2**16, 2**24

Features: TypeAlias = csr_array | NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph with node features and, for some of its nodes, a label.

    The arrays are validated and copied, unless they are read-only already, such as those of a memory map; sparse
    features stay sparse.

    Args:
        name: What the graph is called in tables and file names.
        adjacency: (N, N) symmetric, positive weights, one entry per direction of an edge.
        labels: (N,) class of every node, -1 where unknown.
        class_names: The C names that labels index.
        features: (N, F) sparse or dense, or None for a graph without features.
        node_names: (N,) how the source calls its nodes, if it does.
        num_source_links: Links counted by the source, before duplicates and self-loops were merged.
    """

    name: str
    adjacency: csr_array
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    features: Features | None = None
    node_names: NDArray[np.str_] | None = None
    num_source_links: int | None = None

    def __post_init__(self) -> None:
        _set(self, "adjacency", canonical(self.adjacency, f"{self.name}: the adjacency matrix"))
        _set(self, "labels", np.array(self.labels, dtype=np.int64))
        _set(self, "class_names", tuple(str(name) for name in self.class_names))
        if self.features is not None:
            _set(self, "features", _float_features(self.features, self.name))
        if self.node_names is not None:
            _set(self, "node_names", np.array(self.node_names, dtype=np.str_))
        self._check_adjacency()
        self._check_labels()
        self._check_features()
        if self.node_names is not None and self.node_names.shape != (self.num_nodes,):
            raise DataError(f"{self.name}: {self.node_names.shape} node names for {self.num_nodes} nodes.")
        for array in self._arrays():
            array.flags.writeable = False

    @classmethod
    def from_edges(
        cls,
        name: str,
        edges: NDArray[Any],
        num_nodes: int,
        labels: NDArray[Any],
        class_names: Sequence[str],
        *,
        weights: NDArray[Any] | None = None,
        features: Features | None = None,
        node_names: NDArray[np.str_] | None = None,
        num_source_links: int | None = None,
    ) -> Graph:
        """Build a graph from (2, M) links: directions and duplicates are merged, self-loops dropped.

        Of several weights for the same edge the largest counts.
        """
        edges = np.asarray(edges, dtype=np.int64)
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise DataError(f"{name}: edges must have shape (2, M), not {edges.shape}.")
        if edges.size and not 0 <= edges.min() <= edges.max() < num_nodes:
            raise DataError(f"{name}: an edge names a node outside 0..{num_nodes - 1}.")
        proper = edges[0] != edges[1]
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float32)[proper]
        adjacency = _symmetric(edges[:, proper], weights, num_nodes)
        return cls(name, adjacency, labels, tuple(class_names), features, node_names, num_source_links)

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Undirected edges; a self-loop, where there is one, counts as one."""
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        return int(self.adjacency.nnz + loops) // 2

    @property
    def num_features(self) -> int:
        """F; 0 for a graph without features."""
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """C, those without a labelled node included."""
        return len(self.class_names)

    @property
    def labelled(self) -> NDArray[np.int64]:
        """The nodes whose label is known, in order."""
        return np.flatnonzero(self.labels != UNLABELLED)

    @cached_property
    def label_consistency(self) -> NDArray[np.float64]:
        """(N,) the share of every labelled node's labelled neighbours that have its label; NaN if it has none."""
        degree, same = np.zeros(self.num_nodes, dtype=np.int64), np.zeros(self.num_nodes)
        for block in blocks(self.num_nodes, _ROWS):
            rows, columns = self.adjacency[block].nonzero()
            rows = rows + block.start
            others = (rows != columns) & (self.labels[rows] >= 0) & (self.labels[columns] >= 0)
            rows, columns = rows[others], columns[others]
            length, own = block.stop - block.start, rows - block.start
            degree[block] = np.bincount(own, minlength=length)
            same[block] = np.bincount(own, weights=self.labels[rows] == self.labels[columns], minlength=length)
            let_go(*csr_parts(self.adjacency))
        consistency = np.full(self.num_nodes, np.nan)
        np.divide(same, degree, out=consistency, where=degree > 0)
        return consistency

    @cached_property
    def checksum(self) -> str:
        """A sha256 over everything in the graph that can influence a result."""
        digest = hashlib.sha256()
        for array in self._arrays():
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            for block in blocks(content.size, _BYTES):
                digest.update(content[block].data)
                let_go(array)
        digest.update("\0".join(self.class_names).encode())
        return digest.hexdigest()

    def _arrays(self) -> list[NDArray[Any]]:
        arrays: list[NDArray[Any]] = [*csr_parts(self.adjacency), self.labels]
        if isinstance(self.features, csr_array):
            arrays += csr_parts(self.features)
        elif self.features is not None:
            arrays.append(self.features)
        if self.node_names is not None:
            arrays.append(self.node_names)
        return arrays

    def _check_adjacency(self) -> None:
        rows, columns = self.adjacency.shape
        if rows != columns:
            raise DataError(f"{self.name}: the adjacency matrix is {rows} x {columns}, not square.")
        if rows == 0:
            raise DataError(f"{self.name}: the graph has no nodes.")
        if not all_in_blocks(lambda values: np.isfinite(values) & (values > 0), self.adjacency.data):
            raise DataError(f"{self.name}: edge weights must be positive and finite.")
        if not is_symmetric(self.adjacency):
            raise DataError(
                f"{self.name}: the adjacency matrix is not symmetric. "
                "Build the graph with Graph.from_edges, which merges the two directions."
            )

    def _check_labels(self) -> None:
        if self.labels.shape != (self.num_nodes,):
            raise DataError(f"{self.name}: labels of shape {self.labels.shape} for {self.num_nodes} nodes.")
        if self.labels.size and not UNLABELLED <= self.labels.min() <= self.labels.max() < self.num_classes:
            raise DataError(
                f"{self.name}: labels must lie in 0..{self.num_classes - 1}, or be {UNLABELLED} if unknown."
            )
        if len(set(self.class_names)) != self.num_classes:
            raise DataError(f"{self.name}: two classes have the same name.")

    def _check_features(self) -> None:
        if self.features is None:
            return
        if self.features.ndim != 2 or self.features.shape[0] != self.num_nodes:
            raise DataError(f"{self.name}: features of shape {self.features.shape} for {self.num_nodes} nodes.")
        values = self.features.data if isinstance(self.features, csr_array) else self.features
        if not all_in_blocks(np.isfinite, values, _ROWS):
            raise DataError(f"{self.name}: features hold NaN or infinity.")


@dataclass(frozen=True, eq=False)
class Split:
    """Which nodes' labels are trained on, which choose the model and which only measure it.

    Args:
        train: Nodes whose labels the model is fitted to; may be empty where nothing is trained.
        validation: Nodes whose labels choose the epoch; may be empty.
        test: Nodes whose labels are read once, at the end; may be empty.
        name: How the split came about, for tables and records.
        chosen: Whether the training nodes were chosen, for what their labels would teach or as many of every
            class, and not drawn from all nodes.
    """

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]
    name: str = "custom"
    chosen: bool = False

    def __post_init__(self) -> None:
        for part in ("train", "validation", "test"):
            nodes = np.array(getattr(self, part), dtype=np.int64)
            if nodes.ndim != 1 or (nodes.size and nodes.min() < 0):
                raise DataError(f"The {part} part of a split must be a list of node numbers.")
            nodes.flags.writeable = False
            _set(self, part, nodes)
        together = np.concatenate([self.train, self.validation, self.test])
        if np.unique(together).size != together.size:
            raise DataError("A node is in a split twice: train, validation and test must not overlap.")

    def check(self, graph: Graph) -> None:
        """Raise DataError unless there is a node to train on, and all nodes are in the graph and have a label."""
        if not self.train.size:
            raise DataError("A split needs at least one training node.")
        together = np.concatenate([self.train, self.validation, self.test])
        if together.max() >= graph.num_nodes:
            raise DataError(f"The split names node {together.max()}; {graph.name} has {graph.num_nodes} nodes.")
        unlabelled = together[graph.labels[together] == UNLABELLED]
        if unlabelled.size:
            raise DataError(f"The split names node {unlabelled[0]} of {graph.name}, whose label is unknown.")

    def among(self, nodes: NDArray[np.int64]) -> Split:
        """The split with these nodes only."""
        train, validation, test = (part[np.isin(part, nodes)] for part in (self.train, self.validation, self.test))
        return replace(self, train=train, validation=validation, test=test)

    @cached_property
    def checksum(self) -> str:
        """A sha256 over the three parts, in their order."""
        parts = [part.tobytes() for part in (self.train, self.validation, self.test)]
        return hashlib.sha256(b"|".join(parts)).hexdigest()


def row_normalized(features: Features) -> Features:
    """Divide every row by its sum; rows that sum to zero stay zero. Sparse stays sparse."""
    sums = np.asarray(features.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
    if isinstance(features, csr_array):
        return csr_array(diags_array(scale) @ features).astype(np.float32)
    return np.asarray(features * scale[:, None], dtype=np.float32)


def _set(instance: object, field: str, value: object) -> None:
    object.__setattr__(instance, field, value)


def _float_features(features: Features, name: str) -> Features:
    check_features(name, int(features.shape[-1]) if features.ndim else 0)
    if not isinstance(features, np.ndarray):
        return canonical(features, f"{name}: the matrix of features")
    taken = np.asarray(features, dtype=np.float32, order="C")
    return np.array(taken) if taken.flags.writeable and np.may_share_memory(taken, features) else taken


def _symmetric(edges: NDArray[np.int64], weights: NDArray[np.float32] | None, num_nodes: int) -> csr_array:
    """Both directions of every edge, each once, with weight 1 or the largest of its weights."""
    rows = np.concatenate([edges[0], edges[1]])
    columns = np.concatenate([edges[1], edges[0]])
    shape = (num_nodes, num_nodes)
    if weights is None:
        matrix = csr_array(coo_array((np.ones(rows.size, dtype=np.float32), (rows, columns)), shape=shape))
        matrix.data[:] = 1.0
        return matrix
    values = np.concatenate([weights, weights])
    order = np.lexsort((-values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    largest = np.ones(rows.size, dtype=bool)
    largest[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    return csr_array((values[largest], (rows[largest], columns[largest])), shape=shape)
