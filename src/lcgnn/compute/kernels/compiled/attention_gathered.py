r"""Attention's backward pass for rows that are divided among threads: every row collects its own gradient.

With :math:`g` the gradient of the output, :math:`m` dropout's mask and :math:`p_{ij} = m_{ij}\, g_i \cdot h_j`,

.. math::
    \frac{\partial}{\partial h_j} = \sum_i \alpha_{ij} m_{ij}\, g_i, \quad
    \frac{\partial}{\partial e_{ij}} = \alpha_{ij} (p_{ij} - \bar p_i), \quad
    \bar p_i = \sum_j \alpha_{ij} p_{ij} = g_i \cdot out_i .

The sum over i goes through the nodes that attend to j, and reads a row of the gradient for each: half of what it
takes to add to their rows. What the scores of the node that attends get is the sum over j, each term times
LeakyReLU's slope, which is s below 0. With the same slope everywhere it is 0, so that it is 1 - s times the sum
over the pairs with a positive score, :math:`g_i \cdot out^+_i - \bar p_i\, \alpha^+_i`. The forward pass keeps
:math:`out^+` and :math:`\alpha^+`, and no pair is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.attention import NEGATIVE_SLOPE, Neighbourhood
from lcgnn.compute.kernels.compiled.jit import compiled
from lcgnn.compute.kernels.compiled.lanes import (
    exponential,
    kept,
    larger,
    load,
    repeated,
    spread,
    store,
    sums,
    where_positive,
)
from lcgnn.compute.kernels.compiled.prefetch import AHEAD, LINE, prefetch
from lcgnn.compute.kernels.dropout import Dropout

# Columns of as many heads as are worked on at once: a row that is wider would not fit into the registers.
_MOST_COLUMNS = 64

Floats = NDArray[np.float32]


def gathered(
    given: list[Floats], of_forward: tuple[Floats, ...], neighbourhood: Neighbourhood, dropout: Dropout
) -> tuple[Floats, Floats]:
    """The gradients (N, H D) by the rows, through the weighted sums, and (2, N, H) by the scores.

    Args:
        given: The rows (N, H D), their scores (2, N, H), of every node that attends the largest score and the
            inverse of the sum of exponentials (A, H), and the gradient of the output (A, H D).
        of_forward: The output (A, H D), and what pairs with a positive score have of it and of the coefficients.
        neighbourhood: Who attends to whom.
        dropout: Of the coefficients.
    """
    projected, scores, largest, inverse, gradient = given
    num_attending, heads = largest.shape
    num_nodes = projected.shape[0]
    prepare, gather = _kernels(heads, projected.shape[1] // heads)
    offsets, attending = neighbourhood.pattern.indptr, neighbourhood.attending
    shifts = np.zeros(num_attending, dtype=np.int64) if neighbourhood.shifts is None else neighbourhood.shifts
    begins = offsets[:-1] + shifts
    of_nodes = np.empty((num_attending, 4, heads), dtype=np.float32)
    grad_projected, grad_scores = np.empty_like(projected), np.empty_like(scores)
    grad_scores[1][num_attending:] = 0

    def prepare_rows(rows: slice) -> None:
        known = scores[1][rows], largest[rows], inverse[rows], gradient[rows]
        prepare(*known, *(array[rows] for array in of_forward), of_nodes[rows], grad_scores[1][rows])

    def gather_rows(rows: slice) -> None:
        pairs = attending.offsets[rows.start : rows.stop + 1], attending.nodes, attending.entries
        known = projected[rows], scores[0][rows], of_nodes, gradient, *pairs, offsets, begins
        gather(*known, *dropout.arguments(), grad_projected[rows], grad_scores[0][rows])

    threads.for_rows(prepare_rows, num_attending)
    threads.for_rows(gather_rows, num_nodes, attending.offsets)
    return grad_projected, grad_scores


@cache
def _kernels(heads: int, width: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """What is known of the nodes that attend, then what those get that are attended to; for one shape."""
    group = heads_at_once(heads, width)
    columns, row = group * width, heads * width
    zero, one, slope = np.float32(0), np.float32(1), np.float32(NEGATIVE_SLOPE)
    rest = np.float32(1 - NEGATIVE_SLOPE)

    @compiled
    def attention_prepare(
        of_targets: Floats,
        largest: Floats,
        inverse: Floats,
        grad_output: Floats,
        attended: Floats,
        positive: Floats,
        share: Floats,
        of_nodes: Floats,
        grad_targets: Floats,
    ) -> None:
        """Fill ``of_nodes`` (A, 4, H), side by side what a pair reads of the node that attends."""
        for i in range(of_targets.shape[0]):
            for g in range(0, heads, group):
                place, here = i * row + g * width, i * heads + g
                gradient = load(grad_output, place, columns)
                mean = sums(gradient * load(attended, place, columns), width)
                above = sums(gradient * load(positive, place, columns), width)
                total = spread(rest, group) * (above - mean * load(share, here, group))
                store(grad_targets, here, total)
                there = 4 * i * heads + g
                store(of_nodes, there, load(of_targets, here, group))
                store(of_nodes, there + heads, load(largest, here, group))
                store(of_nodes, there + 2 * heads, load(inverse, here, group))
                store(of_nodes, there + 3 * heads, mean)

    @compiled
    def attention_gather(
        projected: Floats,
        of_sources: Floats,
        of_nodes: Floats,
        grad_output: Floats,
        own_offsets: NDArray[np.int32],
        nodes: NDArray[np.int32],
        entries: NDArray[np.int32],
        offsets: NDArray[np.int32],
        begins: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        grad_projected: Floats,
        grad_sources: Floats,
    ) -> None:
        """Fill the gradients by the rows and by the scores of the nodes that are attended to."""
        last = nodes.size - 1
        key_bits, threshold = key[0], key[1]
        leak, whole = spread(slope, group), spread(one, group)
        for j in range(own_offsets.size - 1):
            first, end = np.int64(own_offsets[j]), np.int64(own_offsets[j + 1])
            for e in range(first, end):
                soon = np.int64(nodes[min(e + AHEAD, last)])
                for k in range(0, 4 * heads, LINE):
                    prefetch(of_nodes, soon * 4 * heads + k)
                for k in range(0, row, LINE):
                    prefetch(grad_output, soon * row + k)
            for g in range(0, heads, group):
                values = load(projected, j * row + g * width, columns)
                source = load(of_sources, j * heads + g, group)
                collected, total = spread(zero, columns), spread(zero, group)
                for e in range(first, end):
                    i = np.int64(nodes[e])
                    there = 4 * i * heads + g
                    gradient = load(grad_output, i * row + g * width, columns)
                    score = source + load(of_nodes, there, group)
                    coefficient = exponential(larger(score * leak, score) - load(of_nodes, there + heads, group))
                    coefficient = coefficient * load(of_nodes, there + 2 * heads, group)
                    product, weight = sums(gradient * values, width), coefficient
                    if threshold:
                        begin, degree = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
                        number = begins[i] * heads + g * degree + np.int64(entries[e]) - begin
                        mask = kept(key_bits, number, degree, threshold, scale, group)
                        product, weight = product * mask, weight * mask
                    collected = collected + repeated(weight, width) * gradient
                    grad = coefficient * (product - load(of_nodes, there + 3 * heads, group))
                    total = total + grad * where_positive(score, whole, leak)
                store(grad_projected, j * row + g * width, collected)
                store(grad_sources, j * heads + g, total)

    return attention_prepare, attention_gather


def heads_at_once(heads: int, width: int) -> int:
    """The most heads that divide all of them and have no more columns than fit; at least one."""
    fitting = [group for group in range(2, heads + 1) if heads % group == 0 and group * width <= _MOST_COLUMNS]
    return max(fitting, default=1)
