"""A graph with something taken away, to see by really predicting again what that does to one node's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.graph import Features, Graph
from lcgnn.methods.fitted import FittedNetwork

# Numbers of the graph that all trials together may read.
_MOST_READ = 100_000_000
_MOST_TRIALS = 60


def trials_on(graph: Graph) -> int:
    """How often a graph can be predicted again in a few seconds."""
    features = graph.features
    stored = features.nnz if isinstance(features, csr_array) else 0 if features is None else features.size
    return int(np.clip(_MOST_READ // max(stored + graph.adjacency.nnz, 1), 2, _MOST_TRIALS))


def without_edges(graph: Graph, node: int, others: Sequence[int]) -> Graph:
    """The graph without the edges between a node and some of its neighbours."""
    adjacency = graph.adjacency
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(adjacency.indptr))
    columns = adjacency.indices
    away = np.isin(columns, others) & (rows == node) | np.isin(rows, others) & (columns == node)
    kept = ~away
    counts = np.bincount(rows[kept], minlength=graph.num_nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    cut = csr_array((adjacency.data[kept], columns[kept], indptr), shape=adjacency.shape)
    return replace(graph, adjacency=cut)


def without_features(graph: Graph, features: Sequence[int]) -> Graph:
    """The graph with some features zero at every node, which is their mean where they were standardised."""
    return replace(graph, features=blotted(graph.features, features))


def blotted(features: Features | None, columns: Sequence[int]) -> Features | None:
    """(N, F) with some columns zero; sparse stays sparse."""
    if isinstance(features, csr_array):
        kept = ~np.isin(features.indices, columns)
        rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))[kept]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=features.shape[0]))])
        return csr_array((features.data[kept], features.indices[kept], indptr), shape=features.shape)
    if features is None:
        return None
    changed = features.copy()
    changed[:, list(columns)] = 0
    return changed


def feature_slopes(networks: Sequence[FittedNetwork], node: int, label: int) -> NDArray[np.float64]:
    r"""(F,) gradient times input of every feature, over all nodes: about what blotting it out takes from log-odds.

    Features enter a network through products with weights W that have a row a feature, and so

    .. math:: \sum_v X_{vf} \frac{\partial y}{\partial X_{vf}} = \sum_h W_{fh} \frac{\partial y}{\partial W_{fh}}

    needs no gradient by the features, sparse or not. A network whose weights have no such row gets zeros.
    """
    num_features = networks[0].graph.num_features
    total = np.zeros(num_features)
    for fitted in networks:
        logits = fitted.logits()
        with torch.enable_grad():
            odds = torch.logit(fitted.answer(logits)[node, label].clamp(1e-6, 1 - 1e-6))
        parameters = [value for value in fitted.network.parameters() if num_features in value.shape]
        found = torch.autograd.grad(odds, parameters, allow_unused=True) if parameters else ()
        for value, gradient in zip(parameters, found, strict=True):
            if gradient is not None:
                axis = value.shape.index(num_features)
                product = (value.detach() * gradient).movedim(axis, 0).reshape(num_features, -1).sum(dim=1)
                total += product.double().cpu().numpy()
    return total / len(networks)
