r"""Edges that look wrong: between nodes that are seldom joined, as far as classes, features and neighbours tell.

How much likelier a pair of nodes is to be an edge than a pair at random is estimated from the graph itself, by
three things that are told apart by their reasons:

- the classes: with Z the label distributions and :math:`d` the degrees, edges join classes a and b
  :math:`B_{ab} = (Z^\top A Z)_{ab}\, m / (Z^\top d)_a (Z^\top d)_b` times as often as by chance (m the sum of all
  degrees), so that an edge has :math:`Z_u B Z_v`; where neighbours differ as a rule, differing is not doubtful;
- the features: how often edges have this cosine, beside how often pairs at random have it;
- the neighbours: the same with whether the two have a neighbour in common.

The sum of their logarithms ranks the edges. One is doubted if by all together it is at most half as likely as a
pair at random, and neither the classes nor the others together say that it is likelier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lcgnn.assessment.doubt import name_of_node
from lcgnn.graph import Graph

Floats: TypeAlias = NDArray[np.float64]

# The logarithm of how many times as likely as a pair at random an edge is at most that is doubted.
_MOST_LIKELY = np.log(0.5)
# Pairs at random that edges are compared with.
_PAIRS = 100_000
# Parts of the range of cosines, each with about as many of the random pairs.
_BINS = 10
# Products that counting common neighbours may take; beyond that they are not counted.
_MOST_PRODUCTS = 500_000_000
# Rows whose neighbours' neighbours are held at a time.
_ROWS = 4096


@dataclass(frozen=True)
class EdgeDoubt:
    """An edge that looks wrong.

    Args:
        source: One end, the lower number.
        target: The other.
        classes: What the two look to be of, in the same order.
        likelihood: How many times as likely such a pair is an edge as a pair at random; well below 1.
        reason: Why, in a sentence or two.
    """

    source: int
    target: int
    classes: tuple[int, int]
    likelihood: float
    reason: str

    def to_json(self, graph: Graph) -> dict[str, Any]:
        """As plain data, with the names that the graph has for nodes and classes."""
        return {
            "source": name_of_node(graph, self.source),
            "target": name_of_node(graph, self.target),
            "nodes": [self.source, self.target],
            "classes": [graph.class_names[label] for label in self.classes],
            "likelihood": float(f"{self.likelihood:.4g}"),
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class EdgeLikelihood:
    """How many times as likely every edge is as a pair at random, in logarithms.

    Args:
        ends: (2, E) the edges, the lower number first; self-loops are none.
        classes: (E,) by the classes.
        features: (E,) by the features; zeros where there are none.
        neighbours: (E,) by whether the ends have a neighbour in common; zeros where that was not counted.
        cosines: (E,) of the ends' features, NaN where there are none.
        in_common: (E,) whether they have a neighbour in common; None where that was not counted.
    """

    ends: NDArray[np.int64]
    classes: Floats
    features: Floats
    neighbours: Floats
    cosines: Floats
    in_common: NDArray[np.bool_] | None

    @property
    def total(self) -> Floats:
        """(E,) all three together: the lower, the more doubtful."""
        return self.classes + self.features + self.neighbours


def doubtful_edges(
    graph: Graph, distribution: NDArray[np.floating[Any]], count: int | None = None
) -> tuple[EdgeDoubt, ...]:
    """The edges that look wrong, the most doubtful first.

    Args:
        graph: The graph; its features may be left out.
        distribution: (N, C) what is predicted for every node.
        count: So many at most; None for all.
    """
    likelihood = edge_likelihood(graph, distribution)
    others = likelihood.features + likelihood.neighbours
    doubted = np.flatnonzero((likelihood.total <= _MOST_LIKELY) & (likelihood.classes < 0) & (others <= 0))
    order = doubted[np.argsort(likelihood.total[doubted], kind="stable")]
    return tuple(_doubt(graph, distribution, likelihood, int(edge)) for edge in order[:count])


def edge_likelihood(graph: Graph, distribution: NDArray[np.floating[Any]]) -> EdgeLikelihood:
    """What classes, features and neighbours say of every edge."""
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.adjacency.indptr))
    upper = rows < graph.adjacency.indices
    ends = np.stack([rows[upper], graph.adjacency.indices[upper].astype(np.int64)])
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, graph.num_nodes, (2, _PAIRS))
    pairs = pairs[:, pairs[0] != pairs[1]]
    cosines = _cosines(graph, ends)
    features = np.zeros(ends.shape[1]) if np.isnan(cosines).all() else _by_bins(cosines, _cosines(graph, pairs))
    in_common, neighbours = _by_neighbours(graph, ends, pairs)
    return EdgeLikelihood(ends, _by_classes(graph, distribution, ends), features, neighbours, cosines, in_common)


def _by_classes(graph: Graph, distribution: NDArray[np.floating[Any]], ends: NDArray[np.int64]) -> Floats:
    """log(Z_u B Z_v): how much likelier the classes of both ends are joined than by chance."""
    every = np.asarray(distribution, dtype=np.float64)
    adjacency = _without_loops(graph.adjacency)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    mixing = every.T @ (adjacency @ every)  # (C, C), sums to the degrees' sum
    mass = every.T @ degrees
    # Half a pair more at either side keeps a class that has hardly any edge from being certain.
    expected = np.outer(mass, mass) / max(degrees.sum(), 1.0)
    lift = (mixing + 0.5) / (expected + 0.5)
    return np.asarray(np.log(np.einsum("ec,ec->e", every[ends[0]] @ lift, every[ends[1]])))


def _by_bins(of_edges: Floats, of_pairs: Floats) -> Floats:
    """log of how many times as often edges have a value in this range as pairs at random."""
    inner = np.unique(np.quantile(of_pairs, np.linspace(0, 1, _BINS + 1)[1:-1]))
    place, random_place = (np.searchsorted(inner, values, side="right") for values in (of_edges, of_pairs))
    return np.asarray(_log_ratio(place, random_place, inner.size + 1)[place])


def _log_ratio(place: NDArray[np.int64], other: NDArray[np.int64], bins: int) -> Floats:
    """(bins,) log of the share of the first in each bin over the share of the second; never infinite."""
    ours, theirs = (np.bincount(values, minlength=bins) + 0.5 for values in (place, other))
    return np.asarray(np.log(ours / ours.sum()) - np.log(theirs / theirs.sum()))


def _by_neighbours(
    graph: Graph, ends: NDArray[np.int64], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.bool_] | None, Floats]:
    """Whether ends have a neighbour in common, and how many times as often edges are like that as random pairs."""
    adjacency = _without_loops(graph.adjacency)
    degrees = np.diff(adjacency.indptr)
    if float(np.square(degrees, dtype=np.float64).sum()) > _MOST_PRODUCTS or not ends.size:
        return None, np.zeros(ends.shape[1])
    adjacency.data = np.ones_like(adjacency.data)
    every = np.concatenate([ends, pairs], axis=1)
    found = np.zeros(every.shape[1], dtype=bool)
    for start in range(0, graph.num_nodes, _ROWS):
        of_slice = np.flatnonzero((every[0] >= start) & (every[0] < start + _ROWS))
        if of_slice.size:
            two_steps = csr_array(adjacency[start : start + _ROWS] @ adjacency)
            found[of_slice] = np.asarray(two_steps[every[0][of_slice] - start, every[1][of_slice]]).ravel() > 0
    in_common, of_pairs = found[: ends.shape[1]], found[ends.shape[1] :]
    none, some = _log_ratio(in_common.astype(np.int64), of_pairs.astype(np.int64), 2)
    return in_common, np.where(in_common, max(some, 0.0), min(none, 0.0))


def _cosines(graph: Graph, pairs: NDArray[np.int64]) -> Floats:
    """(P,) of the features of both nodes of every pair; 0 where one has none, NaN without features."""
    features = graph.features
    if features is None or not features.shape[1]:
        return np.full(pairs.shape[1], np.nan)
    squares = features.multiply(features) if isinstance(features, csr_array) else np.square(features)
    norms = np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).ravel())
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    found = np.empty(pairs.shape[1])
    for start in range(0, pairs.shape[1], 16 * _ROWS):
        one, other = pairs[:, start : start + 16 * _ROWS]
        if isinstance(features, csr_array):
            products = np.asarray(features[one].multiply(features[other]).sum(axis=1)).ravel()
        else:
            products = np.einsum("pf,pf->p", features[one], features[other])
        found[start : start + 16 * _ROWS] = products * scale[one] * scale[other]
    return found


def _without_loops(adjacency: csr_array) -> csr_array:
    return csr_array(adjacency - diags_array(adjacency.diagonal()), dtype=np.float64)


def _doubt(
    graph: Graph, distribution: NDArray[np.floating[Any]], likelihood: EdgeLikelihood, edge: int
) -> EdgeDoubt:
    source, target = (int(end) for end in likelihood.ends[:, edge])
    classes = (int(distribution[source].argmax()), int(distribution[target].argmax()))
    names = [graph.class_names[label] for label in classes]
    sure = [float(distribution[node].max()) for node in (source, target)]
    how = "seldom do" if likelihood.classes[edge] <= _MOST_LIKELY else "do less often than by chance"
    sentences = [
        f"It joins {names[0]} ({100 * sure[0]:.0f} %) to {names[1]} ({100 * sure[1]:.0f} %), which edges {how}."
    ]
    if likelihood.features[edge] < 0:
        sentences.append("Their features are less alike than those of most neighbours.")
    if likelihood.in_common is not None and not likelihood.in_common[edge] and likelihood.neighbours[edge] < 0:
        sentences.append("They have no neighbour in common.")
    return EdgeDoubt(source, target, classes, float(np.exp(likelihood.total[edge])), " ".join(sentences))
