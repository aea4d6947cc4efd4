"""Where nodes lie on the map: neighbours near each other, all others apart. Computed once, and kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds

from lcgnn.errors import OutputError
from lcgnn.files import written_atomically
from lcgnn.graph import Graph

MOST_SHOWN = 20_000
MOST_EDGES = 100_000
# Whoever changes what a layout looks like counts this up.
_KIND = 1

_STEPS = 150
_APART = 5
_FIRST_STEP, _LONGEST_MOVE = 1.0, 4.0


@dataclass(frozen=True, eq=False)
class Layout:
    """The nodes that are drawn, and where.

    Args:
        nodes: (S,) their numbers, in order.
        places: (S, 2) x and y, within -1 and 1.
        edges: (M, 2) pairs of positions among these nodes.
        sampled: Whether they are not all nodes.
        edges_sampled: Whether these nodes are joined by more edges than those.
    """

    nodes: NDArray[np.int64]
    places: NDArray[np.float32]
    edges: NDArray[np.uint32]
    sampled: bool
    edges_sampled: bool

    @classmethod
    def of(
        cls, graph: Graph, nodes: NDArray[np.int64], places: NDArray[np.float32], joined: NDArray[np.int64]
    ) -> Layout:
        """These nodes of a graph at these places, with all edges that join them, or a sample of many."""
        edges = _drawn(joined)
        return cls(nodes, places, edges, nodes.size < graph.num_nodes, edges.shape[0] < joined.shape[0])


def kept_layout(graph: Graph, folder: Path) -> Layout:
    """The layout of a graph from a folder, or computed and kept there where it can be."""
    path = folder / "layout.npz"
    found = _read(path, graph)
    if found is not None:
        return found
    made = layout_of(graph)
    try:
        with written_atomically(path) as temporary, temporary.open("wb") as file:
            np.savez(file, key=np.array(_key(graph)), nodes=made.nodes, places=made.places)
    except OutputError:
        # It is made again the next time.
        pass
    return made


def layout_of(graph: Graph, most: int = MOST_SHOWN) -> Layout:
    """A layout that depends on nothing but the graph."""
    nodes = sample(graph, most)
    adjacency = csr_array(graph.adjacency[nodes][:, nodes]) if nodes.size < graph.num_nodes else graph.adjacency
    edges = _pairs(adjacency)
    places = _moved(_first_places(graph, adjacency, nodes), edges, nodes.size)
    return Layout.of(graph, nodes, _fitted(places), edges)


def sample(graph: Graph, most: int) -> NDArray[np.int64]:
    """All nodes, or so many of them, spread over the graph, the same at every call."""
    if graph.num_nodes <= most:
        return np.arange(graph.num_nodes)
    return np.sort(np.random.default_rng(0).choice(graph.num_nodes, most, replace=False))


def _read(path: Path, graph: Graph) -> Layout | None:
    try:
        with np.load(path, allow_pickle=False) as kept:
            if str(kept["key"]) != _key(graph):
                return None
            nodes, places = kept["nodes"].astype(np.int64), kept["places"].astype(np.float32)
    except (OSError, ValueError, KeyError, EOFError):
        return None
    if not np.array_equal(nodes, sample(graph, MOST_SHOWN)) or places.shape != (nodes.size, 2):
        return None
    adjacency = csr_array(graph.adjacency[nodes][:, nodes]) if nodes.size < graph.num_nodes else graph.adjacency
    return Layout.of(graph, nodes, places, _pairs(adjacency))


def _key(graph: Graph) -> str:
    """What a layout that was kept must have been made of."""
    return json.dumps([_KIND, graph.num_nodes, graph.adjacency.nnz, _sum_of(graph)])


def _sum_of(graph: Graph) -> int:
    """A number that another graph with as many nodes and edges hardly has."""
    indices = graph.adjacency.indices.astype(np.uint64)
    weights = np.arange(indices.size, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(1)
    return int((indices * weights).sum() & np.uint64(2**53 - 1))


def _pairs(adjacency: csr_array) -> NDArray[np.int64]:
    """(M, 2) every edge once."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    columns = adjacency.indices.astype(np.int64)
    once = rows < columns
    return np.stack([rows[once], columns[once]], axis=1)


def _drawn(edges: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The edges that are drawn: all, or a sample of many."""
    if edges.shape[0] > MOST_EDGES:
        edges = edges[np.sort(np.random.default_rng(0).choice(edges.shape[0], MOST_EDGES, replace=False))]
    return edges.astype(np.uint32)


def _first_places(graph: Graph, adjacency: csr_array, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The two main directions of features averaged over neighbours; of the graph where there are none."""
    count = nodes.size
    degree = np.asarray(adjacency.sum(axis=1)).ravel() + 1
    smooth = diags_array(1 / degree) @ (adjacency + diags_array(np.ones(count)))
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((count, 2))
    if graph.features is None:
        seen = generator.standard_normal((count, 16))
    else:
        features = graph.features[nodes] if count < graph.num_nodes else graph.features
        # Directions at random keep distances, and cost little whatever the features are.
        seen = np.asarray(features @ generator.standard_normal((graph.num_features, 16)))
    for _ in range(4):
        seen = smooth @ seen
    seen = seen - seen.mean(axis=0)
    if count < 4 or not np.isfinite(seen).all() or not seen.any():
        return noise
    left, strength, _ = svds(seen, k=2, v0=np.ones(min(seen.shape)))
    order = np.argsort(-strength)
    spread = left[:, order] * np.where(left[:, order].sum(axis=0) < 0, -1, 1) * np.sqrt(count)
    return np.asarray(10 * spread + 0.5 * noise)


def _moved(places: NDArray[np.float64], edges: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Edges pull their ends together, and every node is pushed away from a few others drawn at random."""
    if count < 2:
        return places
    generator = np.random.default_rng(1)
    ends = np.concatenate([edges[:, 0], edges[:, 1]])
    others = np.concatenate([edges[:, 1], edges[:, 0]])
    degree = np.maximum(np.bincount(ends, minlength=count), 1)
    for step in range(_STEPS):
        rate = _FIRST_STEP * (1 - step / _STEPS)
        way = places[others] - places[ends]
        pull = way / (1 + (way**2).sum(axis=1, keepdims=True)) ** 0.5
        force = _summed(pull, ends, count) / np.sqrt(degree)[:, None]
        for shift in generator.integers(1, count, size=_APART):
            away = places - np.roll(places, int(shift), axis=0)[generator.permutation(count)]
            force += 2.0 * away / (0.05 + (away**2).sum(axis=1, keepdims=True))
        force -= 0.01 * places
        length = np.sqrt((force**2).sum(axis=1, keepdims=True))
        places = places + rate * force * np.minimum(1, _LONGEST_MOVE / np.maximum(length, 1e-12))
    return places


def _summed(values: NDArray[np.float64], at: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    return np.stack([np.bincount(at, weights=values[:, axis], minlength=count) for axis in (0, 1)], axis=1)


def _fitted(places: NDArray[np.float64]) -> NDArray[np.float32]:
    """Within -1 and 1; the farthest few are drawn in, so that they do not make all others small."""
    centred = places - np.median(places, axis=0)
    reach = np.quantile(np.abs(centred), 0.995) or 1.0
    scaled = centred / reach
    length = np.sqrt((scaled**2).sum(axis=1, keepdims=True))
    drawn_in = np.where(
        length > 1, scaled / np.maximum(length, 1e-12) * (1 + np.log(np.maximum(length, 1))), scaled
    )
    return np.asarray(drawn_in / max(float(np.abs(drawn_in).max()), 1e-12), dtype=np.float32)
