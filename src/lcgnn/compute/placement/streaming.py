"""Who holds which nodes, found by reading the edges in order: for graphs that METIS has no memory for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.mapping import blocks, let_go

# Nodes that are placed at a time, and how much work beyond its share a part may get.
_NODES, _SLACK = 256, 1.03
# The nodes are gone through until fewer than this share of them move, or so often.
_SETTLED, _MOST_PASSES = 0.002, 30
# The edges' pages are let go of after so many nodes.
_HELD = 2**17


def assigned_by_stream(adjacency: csr_array, work: NDArray[np.int64], num_parts: int) -> NDArray[np.int64]:
    """(N,) the part of every node: where most of its neighbours are, among the parts that have room.

    Linear deterministic greedy placement (Stanton and Kliot, KDD 2012), again and again from what the pass before
    left (Nishimura and Ugander, KDD 2013). It holds a few numbers for every node, and no edges.

    Args:
        adjacency: (N, N) whose arrays may be memory maps.
        work: (N,) what every node costs the part that holds it.
        num_parts: K.
    """
    num_nodes = adjacency.shape[0]
    # Nodes that nobody has placed yet are in a part of their own, the last.
    assignment = np.full(num_nodes, num_parts, dtype=np.int32)
    load = np.zeros(num_parts + 1)
    at_once = max(1, min(_NODES, num_nodes // (32 * num_parts)))
    capacity = _SLACK * work.sum() / num_parts
    for _ in range(_MOST_PASSES):
        moved = 0
        for rows in blocks(num_nodes, at_once):
            moved += _place(adjacency, work, assignment, load, rows, capacity)
            if rows.stop % _HELD < at_once:
                let_go(adjacency.indices)
        if moved <= _SETTLED * num_nodes:
            break
    return assignment.astype(np.int64)


def _place(
    adjacency: csr_array,
    work: NDArray[np.int64],
    assignment: NDArray[np.int32],
    load: NDArray[np.float64],
    rows: slice,
    capacity: float,
) -> int:
    """Place some nodes anew, and return how many of them moved."""
    offsets, num_parts = adjacency.indptr[rows.start : rows.stop + 1], load.size - 1
    before, cost = assignment[rows].copy(), work[rows]
    own = np.arange(before.size)
    cells = np.repeat(own * load.size, np.diff(offsets)) + assignment[adjacency.indices[offsets[0] : offsets[-1]]]
    neighbours = np.bincount(cells, minlength=before.size * load.size).reshape(before.size, load.size)
    load -= np.bincount(before, weights=cost, minlength=load.size)
    room = np.maximum(1 - load[:num_parts] / capacity, 0)
    # A node without neighbours anywhere goes to where most room is; one that may as well stay does.
    score = np.empty((before.size, load.size))
    score[:, :num_parts] = (neighbours[:, :num_parts] + 1e-3) * room
    score[:, num_parts] = -1
    score[own, before] += np.where(before < num_parts, 1e-6, 0)
    assignment[rows] = score.argmax(axis=1)
    load += np.bincount(assignment[rows], weights=cost, minlength=load.size)
    return int((assignment[rows] != before).sum())
