"""What a graph and its features tell before anybody has labelled anything, each fact computed when first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components

from lcgnn.features.structure import structural_features
from lcgnn.graph import Features, Graph, row_normalized

# Propagated features are compared in so many dimensions at most.
_DIMENSIONS = 64
# Further directions that are looked at to find these (Halko, Martinsson and Tropp 2011).
_OVERSAMPLED = 16
_STEPS = 2
_SEED = 0


class Landscape:
    """A graph as a strategy sees it. Labels of the graph are not read.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @property
    def num_nodes(self) -> int:
        return self.graph.num_nodes

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """(N,) how many neighbours every node has."""
        return np.diff(self.graph.adjacency.indptr).astype(np.int64)

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """(N,) which connected part of the graph every node is in."""
        return np.asarray(connected_components(self.graph.adjacency, directed=False)[1])

    @cached_property
    def propagation(self) -> csr_array:
        """(N, N) the adjacency with self-loops, symmetrically normalised, as in GCN."""
        loops = csr_array(self.graph.adjacency + eye_array(self.num_nodes, format="csr"))
        scale = diags_array(1 / np.sqrt(np.asarray(loops.sum(axis=1)).ravel()))
        return csr_array(scale @ loops @ scale).astype(np.float32)

    @cached_property
    def smoothed(self) -> NDArray[np.float32]:
        """(N, D) the features averaged over two steps of the edges, in their main directions.

        Nodes are near each other here if a GCN without training could not tell them apart.
        """
        features = self.graph.features
        if features is None:
            features = structural_features(self.graph.adjacency)
        return _main_directions(self.propagation, row_normalized(features))


def _main_directions(propagation: csr_array, features: Features) -> NDArray[np.float32]:
    """(N, D) the propagated features turned into their main directions, by a randomised range finder."""

    def propagated(values: NDArray[np.float32]) -> NDArray[np.float32]:
        for _ in range(_STEPS):
            values = propagation @ values
        return np.asarray(values, dtype=np.float32)

    width = int(features.shape[1])
    if width <= _DIMENSIONS:
        dense = features.toarray() if isinstance(features, csr_array) else features
        return propagated(np.asarray(dense, dtype=np.float32))
    generator = np.random.default_rng(_SEED)
    start = generator.standard_normal((width, min(width, _DIMENSIONS + _OVERSAMPLED)), dtype=np.float32)
    for _ in range(2):
        basis = np.linalg.qr(propagated(features @ start))[0]
        start = np.linalg.qr(np.asarray(features.T @ propagated(basis), dtype=np.float32))[0]
    found = propagated(np.asarray(features @ start, dtype=np.float32))
    _, _, turn = np.linalg.svd(found.T @ found)
    return np.asarray(found @ turn[:_DIMENSIONS].T, dtype=np.float32)
