"""Coverage as in Grain: nodes that influence many others, which in turn are like many others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, register
from lcgnn.assessment.suggestion.landscape import Landscape
from lcgnn.limits import check_memory

Bits = NDArray[np.uint8]

# Distance within which a node stands for another, where the largest is 1: the paper's.
_RADIUS = 0.05
_BLOCK = 1024


@register("coverage", "Nodes whose influence reaches many others, and many that are like these (Grain, ball-D).")
class Coverage(Strategy):
    """Greedy coverage by influence and by balls around what is influenced.

    After Zhang et al. 2021, "Grain: improving data efficiency of graph neural networks via diversified influence
    maximization", with its ball-D diversity: a node activates what two steps of propagation reach from it; a node
    is covered if it lies within a radius of an activated one, by the distance between propagated features of unit
    length. The next node is the one that adds most to the shares of activated and of covered nodes. Sets of nodes
    are rows of bits; each node has two, so that memory grows with the square of the nodes.
    """

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        activated, covered = landscape.once(self.name, _sets)
        done = [np.bitwise_or.reduce(sets[question.labelled], axis=0, initial=0) for sets in (activated, covered)]
        free = np.zeros(landscape.num_nodes, dtype=bool)
        free[question.candidates] = True
        chosen = []
        for _ in range(question.count):
            gains = [
                np.bitwise_count(sets & ~old).sum(axis=1, dtype=np.int64)
                for sets, old in zip((activated, covered), done, strict=True)
            ]
            node = int(np.where(free, gains[0] + gains[1], -1).argmax())
            done = [old | sets[node] for sets, old in zip((activated, covered), done, strict=True)]
            free[node] = False
            chosen.append(node)
        return np.array(chosen, dtype=np.int64)

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        return (
            f"Within two steps of it lies much that no other covers; it has {landscape.degree[node]:,} neighbours"
        )


def _sets(landscape: Landscape) -> tuple[Bits, Bits]:
    """(N, N / 8) each: the nodes that every node activates, and those that it covers."""
    check_memory("The strategy 'coverage', which compares all pairs of nodes,", landscape.num_nodes**2 // 2)
    itself = np.packbits(np.eye(landscape.num_nodes, dtype=bool), axis=1)
    return _reached(landscape, itself), _reached(landscape, _balls(landscape.propagated))


def _balls(places: NDArray[np.float32]) -> Bits:
    """(N, N / 8) which nodes lie within the radius of each."""
    length = np.linalg.norm(places, axis=1, keepdims=True)
    unit = places / np.where(length > 0, length, 1)
    rows = []
    for start in range(0, unit.shape[0], _BLOCK):
        # Half of the distance between unit vectors lies between 0 and 1.
        squared = np.maximum(2 - 2 * unit[start : start + _BLOCK] @ unit.T, 0)
        near = np.sqrt(squared) / 2 <= _RADIUS
        near[np.arange(near.shape[0]), np.arange(start, start + near.shape[0])] = True
        rows.append(np.packbits(near, axis=1))
    return np.concatenate(rows)


def _reached(landscape: Landscape, sets: Bits) -> Bits:
    """(N, N / 8) the union of the sets of all nodes within two steps of each."""
    indptr, indices = landscape.graph.adjacency.indptr, landscape.graph.adjacency.indices
    for _ in range(2):
        united = sets.copy()
        for node in np.flatnonzero(np.diff(indptr)):
            united[node] |= np.bitwise_or.reduce(sets[indices[indptr[node] : indptr[node + 1]]], axis=0)
        sets = united
    return sets
