"""Features for nodes that have none, made from the edges alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lcgnn.graph import Graph

STRUCTURAL_DIMENSIONS = 64
_STEPS = 3
_SEED = 0


def with_structural_features(graph: Graph) -> Graph:
    """The graph with features made from its edges, in place of any that it has."""
    return replace(graph, features=structural_features(graph.adjacency))


def structural_features(adjacency: csr_array) -> NDArray[np.float32]:
    """(N, 65) where a node lies in the graph, and its degree; nodes with common neighbours get similar features.

    Random directions are averaged over the neighbours once, twice and three times and added up (as FastRP does:
    Chen et al. 2019), which costs one pass over the edges a step. The same graph always gives the same features.
    """
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float32).ravel()
    averaging = csr_array(diags_array(1.0 / np.maximum(degree, 1e-12)) @ adjacency).astype(np.float32)
    generator = np.random.default_rng(_SEED)
    shape = (adjacency.shape[0], STRUCTURAL_DIMENSIONS)
    step = generator.standard_normal(shape, dtype=np.float32)
    position = np.zeros(shape, dtype=np.float32)
    for _ in range(_STEPS):
        step = averaging @ step
        position += _standardised(step)
    return np.column_stack([_standardised(position), _standardised(np.log1p(degree)[:, None])])


def _standardised(values: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0), dtype=np.float32)
