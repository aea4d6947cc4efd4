"""What a graph and its features tell before anybody has labelled anything, computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from lcgnn.assessment.suggestion.clusters import nearest
from lcgnn.features.structure import structural_features
from lcgnn.graph import Features, Graph

# Steps over the edges, as many as a GCN has layers.
STEPS = 2
# Directions in which propagated features are compared, and further ones that help to find them (Halko, Martinsson
# and Tropp 2011).
_DIRECTIONS, _OVERSAMPLED = 16, 16
_SEED = 0
# Powers of two whose squares, summed up, are far from the ends of single precision.
_SQUARED = 40
# Numbers of propagated features that are held in full.
_MOST_NUMBERS = 2**27
# Nodes that all others are compared with.
_MOST_COMPARED = 4096
Made = TypeVar("Made")

# PageRank's: the share of jumps, and where further steps change nothing.
_JUMP, _CONVERGED, _MOST_STEPS = 0.15, 1e-8, 100


class Landscape:
    """A graph as a strategy sees it. The graph's labels are not read.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._made: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[Landscape], Made]) -> Made:
        """What a strategy makes of the landscape alone: made at its first question, and kept for all others."""
        if name not in self._made:
            self._made[name] = make(self)
        made: Made = self._made[name]
        return made

    @property
    def num_nodes(self) -> int:
        return self.graph.num_nodes

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """(N,) how many neighbours every node has."""
        return np.asarray(np.diff(self.graph.adjacency.indptr), dtype=np.int64)

    @cached_property
    def pagerank(self) -> NDArray[np.float64]:
        """(N,) how often somebody comes by who walks along the edges and now and then jumps anywhere."""
        strength = np.asarray(self.graph.adjacency.sum(axis=1), dtype=np.float64).ravel()
        inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
        rank = np.full(self.num_nodes, 1 / self.num_nodes)
        for _ in range(_MOST_STEPS):
            stuck = rank[strength == 0].sum()
            walked = self.graph.adjacency @ (rank * inverse) + stuck / self.num_nodes
            previous, rank = rank, (1 - _JUMP) * walked + _JUMP / self.num_nodes
            if np.abs(rank - previous).sum() < _CONVERGED:
                break
        return rank

    @cached_property
    def features(self) -> Features:
        """(N, F) the graph's, or some made from the edges where it has none; in a unit that can be squared."""
        features = self.graph.features
        if features is None:
            return structural_features(self.graph.adjacency)
        largest = float(max(features.max(), -features.min())) if features.shape[1] else 0.0
        exponent = int(np.frexp(largest)[1])
        # A power of two changes no digit.
        return features if abs(exponent) <= _SQUARED else features * np.float32(2.0**-exponent)

    @cached_property
    def propagated(self) -> NDArray[np.float32]:
        """(N, F) the features after two steps of GCN's propagation; `directions` if that were too large."""
        if self.num_nodes * self.features.shape[1] > _MOST_NUMBERS:
            return self.directions
        dense = self.features.toarray() if isinstance(self.features, csr_array) else self.features
        return self._propagate(np.asarray(dense, dtype=np.float32))

    @cached_property
    def directions(self) -> NDArray[np.float32]:
        """(N, D) the propagated features in their main directions, found by a randomised range finder."""
        width = int(self.features.shape[1])
        if width <= _DIRECTIONS:
            dense = self.features.toarray() if isinstance(self.features, csr_array) else self.features
            return self._propagate(np.asarray(dense, dtype=np.float32))
        generator = np.random.default_rng(_SEED)
        turn = generator.standard_normal((width, min(width, _DIRECTIONS + _OVERSAMPLED)), dtype=np.float32)
        for _ in range(2):
            basis = np.linalg.qr(self._propagate(np.asarray(self.features @ turn, dtype=np.float32)))[0]
            turn = np.linalg.qr(np.asarray(self.features.T @ self._propagate(basis), dtype=np.float32))[0]
        found = self._propagate(np.asarray(self.features @ turn, dtype=np.float32))
        main = np.linalg.svd(found.T @ found)[2][:_DIRECTIONS]
        return np.asarray(found @ main.T, dtype=np.float32)

    @cached_property
    def places(self) -> NDArray[np.float32]:
        """(N, D) where every node lies: the main directions of its propagated features, at unit length.

        Nodes lie near each other if a GCN that has learnt nothing sees them alike.
        """
        length = np.linalg.norm(self.directions, axis=1, keepdims=True)
        return np.asarray(self.directions / np.where(length > 0, length, 1), dtype=np.float32)

    def distance_from(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """(N,) how far every node lies from the nearest of some nodes, squared; infinite if there are none.

        Of very many nodes some thousands, evenly taken, stand for all.
        """
        some = nodes[:: -(-nodes.size // _MOST_COMPARED) or 1]
        return nearest(self.places, self.places[some])[1]

    @cached_property
    def _propagation(self) -> csr_array:
        """(N, N) the adjacency with self-loops, symmetrically normalised, as in GCN."""
        loops = csr_array(self.graph.adjacency + eye_array(self.num_nodes, format="csr", dtype=np.float32))
        scale = diags_array(1 / np.sqrt(np.asarray(loops.sum(axis=1)).ravel()))
        return csr_array(scale @ loops @ scale).astype(np.float32)

    def _propagate(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        for _ in range(STEPS):
            values = self._propagation @ values
        return np.asarray(values, dtype=np.float32)
