"""Graph attention row after row, with nothing kept for a pair of nodes.

The coefficients of a row live in a small buffer while it is worked on; all that is kept of them are the largest
score and the sum of exponentials of every row, from which the backward pass computes them again. It adds to the
rows attended to as it goes, so that no pair has to find its mirror image. Threads must not add to the same rows:
where rows are divided among them, ``attention_gathered`` has another backward pass.

Heads are lanes of the processor's vectors: eight of them take hardly longer than one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.attention import NEGATIVE_SLOPE, Neighbourhood
from lcgnn.compute.kernels.compiled.attention_gathered import gathered, heads_at_once
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

_NO_SHIFTS = np.empty(0, dtype=np.int64)
_NOTHING = torch.empty(0, 0, dtype=torch.float32)

Floats = NDArray[np.float32]


class AttendRows(torch.autograd.Function):
    """Attention over N nodes with rows (N, H D) by the (A, N) pattern of a neighbourhood."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        source_weight: Tensor,
        target_weight: Tensor,
        neighbourhood: Neighbourhood,
        dropout: Dropout,
    ) -> Tensor:
        projected = projected.contiguous()
        heads, width = source_weight.shape
        pattern = neighbourhood.pattern
        num_attending, num_nodes = pattern.shape
        gathers = not threads.is_one_block(num_nodes)
        keeps = gathers and ctx.needs_input_grad[0]
        scores = projected.new_empty(2, num_nodes, heads)
        largest, inverse = projected.new_empty(2, num_attending, heads).unbind()
        attended = projected.new_empty(num_attending, heads * width)
        positive = torch.empty_like(attended) if keeps else _NOTHING
        share = torch.empty_like(largest) if keeps else _NOTHING
        kernels = _kernels(heads, width, keeps)
        values, (of_sources, of_targets) = projected.numpy(), scores.numpy()
        weights = source_weight.numpy(), target_weight.numpy()
        filled = [tensor.numpy() for tensor in (attended, largest, inverse, positive, share)]
        shifts = _NO_SHIFTS if neighbourhood.shifts is None else neighbourhood.shifts

        def score(rows: slice) -> None:
            kernels.score(values[rows], *weights, of_sources[rows], of_targets[rows])

        def attend(rows: slice) -> None:
            offsets = pattern.indptr[rows.start : rows.stop + 1]
            given = values, of_sources, of_targets[rows], offsets, pattern.indices, shifts[rows]
            kernels.attend(*given, *dropout.arguments(), *(array[rows] for array in filled))

        threads.for_rows(score, num_nodes)
        threads.for_rows(attend, num_attending, pattern.indptr)
        ctx.save_for_backward(projected, source_weight, target_weight, scores, largest, inverse)
        ctx.neighbourhood, ctx.dropout = neighbourhood, dropout
        ctx.kept = (attended.numpy(), positive.numpy(), share.numpy()) if keeps else None
        return attended

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        projected, source_weight, target_weight, scores, largest, inverse = ctx.saved_tensors
        kernels = _kernels(*source_weight.shape)
        given = [tensor.numpy() for tensor in (projected, scores, largest, inverse, grad_output.contiguous())]
        if ctx.kept is None:
            through_sums = _scattered(kernels, given, ctx.neighbourhood, ctx.dropout)
        else:
            through_sums = gathered(given, ctx.kept, ctx.neighbourhood, ctx.dropout)
        grad_projected, grad_scores = through_sums
        weights = source_weight.numpy(), target_weight.numpy()

        def score_backward(rows: slice) -> Tensor:
            by_weights: Tensor = source_weight.new_empty(2, *source_weight.shape)
            of_rows = given[0][rows], grad_scores[0][rows], grad_scores[1][rows]
            kernels.score_backward(*of_rows, *weights, grad_projected[rows], *by_weights.numpy())
            return by_weights

        grad_source, grad_target = threads.sum_over_rows(score_backward, projected.shape[0]).unbind()
        return torch.from_numpy(grad_projected), grad_source, grad_target, None, None


def _scattered(
    kernels: _Kernels, given: list[Floats], neighbourhood: Neighbourhood, dropout: Dropout
) -> tuple[Floats, Floats]:
    """The gradients (N, H D) by the rows, through the weighted sums, and (2, N, H) by the scores."""
    gradients = np.zeros_like(given[0]), np.zeros_like(given[1])
    pattern = neighbourhood.pattern
    shifts = _NO_SHIFTS if neighbourhood.shifts is None else neighbourhood.shifts
    kernels.attend_backward(*given, pattern.indptr, pattern.indices, shifts, *dropout.arguments(), *gradients)
    return gradients


class _Kernels(NamedTuple):
    score: Callable[..., None]
    attend: Callable[..., None]
    attend_backward: Callable[..., None]
    score_backward: Callable[..., None]


@cache
def _kernels(heads: int, width: int, keeps: bool = False) -> _Kernels:
    """The kernels for one shape. The pairs of a row are numbered by head, then by neighbour.

    Args:
        heads: H.
        width: D.
        keeps: Whether what comes from neighbours with a positive score is kept by itself, for ``gathered``.
    """
    group = heads_at_once(heads, width)
    columns, row = group * width, heads * width
    zero, one, slope = np.float32(0), np.float32(1), np.float32(NEGATIVE_SLOPE)
    lowest = np.float32(-np.inf)

    @compiled
    def attention_score(
        projected: Floats, source_weight: Floats, target_weight: Floats, of_sources: Floats, of_targets: Floats
    ) -> None:
        """Fill in (N, H) how a node scores when it is attended to, and when it attends."""
        num_nodes = projected.shape[0]
        for g in range(0, heads, group):
            by_source = load(source_weight, g * width, columns)
            by_target = load(target_weight, g * width, columns)
            for i in range(num_nodes):
                values = load(projected, i * row + g * width, columns)
                store(of_sources, i * heads + g, sums(values * by_source, width))
                store(of_targets, i * heads + g, sums(values * by_target, width))

    @compiled
    def attention_forward(
        projected: Floats,
        of_sources: Floats,
        of_targets: Floats,
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        shifts: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        attended: Floats,
        largest: Floats,
        inverse: Floats,
        positive: Floats,
        share: Floats,
    ) -> None:
        num_attending, last = offsets.size - 1, sources.size - 1
        key_bits, threshold = key[0], key[1]
        leak = spread(slope, group)
        weights = np.empty(np.diff(offsets).max() * group, dtype=np.float32)
        for i in range(num_attending):
            first, degree = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
            begin = (first + (shifts[i] if shifts.size else 0)) * heads
            for e in range(first, first + degree):
                soon = np.int64(sources[min(e + AHEAD, last)])
                prefetch(of_sources, soon * heads)
                for k in range(0, row, LINE):
                    prefetch(projected, soon * row + k)
            for g in range(0, heads, group):
                target = load(of_targets, i * heads + g, group)
                top, total = spread(lowest, group), spread(zero, group)
                for e in range(degree):
                    score = load(of_sources, np.int64(sources[first + e]) * heads + g, group) + target
                    score = larger(score * leak, score)
                    top = larger(top, score)
                    store(weights, e * group, score)
                weighted, above, of_above = spread(zero, columns), spread(zero, columns), spread(zero, group)
                for e in range(degree):
                    score = load(weights, e * group, group)
                    weight = exponential(score - top)
                    total = total + weight
                    if keeps:
                        of_above = of_above + where_positive(score, weight, spread(zero, group))
                    if threshold:
                        weight = weight * kept(key_bits, begin + g * degree + e, degree, threshold, scale, group)
                    values = load(projected, np.int64(sources[first + e]) * row + g * width, columns)
                    weighted = weighted + repeated(weight, width) * values
                    if keeps:
                        weight = where_positive(score, weight, spread(zero, group))
                        above = above + repeated(weight, width) * values
                factor = spread(one, group) / total
                store(attended, i * row + g * width, weighted * repeated(factor, width))
                store(largest, i * heads + g, top)
                store(inverse, i * heads + g, factor)
                if keeps:
                    store(positive, i * row + g * width, above * repeated(factor, width))
                    store(share, i * heads + g, of_above * factor)

    @compiled
    def attention_backward(
        projected: Floats,
        scores: Floats,
        largest: Floats,
        inverse: Floats,
        grad_output: Floats,
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        shifts: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        grad_projected: Floats,
        grad_scores: Floats,
    ) -> None:
        """Add to ``grad_projected`` what comes through the sums, fill ``grad_scores`` with what the scores get."""
        num_nodes, num_attending, last = projected.shape[0], offsets.size - 1, sources.size - 1
        key_bits, threshold = key[0], key[1]
        leak, whole = spread(slope, group), spread(one, group)
        coefficients = np.empty(np.diff(offsets).max() * group, dtype=np.float32)
        products = np.empty_like(coefficients)
        for i in range(num_attending):
            first, degree = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
            begin = (first + (shifts[i] if shifts.size else 0)) * heads
            for e in range(first, first + degree):
                soon = np.int64(sources[min(e + AHEAD, last)])
                prefetch(scores, soon * heads)
                prefetch(grad_scores, soon * heads)
                for k in range(0, row, LINE):
                    prefetch(projected, soon * row + k)
                    prefetch(grad_projected, soon * row + k)
            for g in range(0, heads, group):
                target = load(scores, (num_nodes + i) * heads + g, group)
                top, factor = load(largest, i * heads + g, group), load(inverse, i * heads + g, group)
                gradient = load(grad_output, i * row + g * width, columns)
                mean, total = spread(zero, group), spread(zero, group)
                for e in range(degree):
                    source = np.int64(sources[first + e])
                    score = load(scores, source * heads + g, group) + target
                    coefficient = exponential(larger(score * leak, score) - top) * factor
                    place = source * row + g * width
                    product, weight = sums(gradient * load(projected, place, columns), width), coefficient
                    if threshold:
                        mask = kept(key_bits, begin + g * degree + e, degree, threshold, scale, group)
                        product, weight = product * mask, weight * mask
                    mean = mean + coefficient * product
                    added = repeated(weight, width) * gradient
                    store(grad_projected, place, load(grad_projected, place, columns) + added)
                    store(coefficients, e * group, coefficient)
                    store(products, e * group, product)
                for e in range(degree):
                    place = np.int64(sources[first + e]) * heads + g
                    score = load(scores, place, group) + target
                    grad = load(coefficients, e * group, group) * (load(products, e * group, group) - mean)
                    grad = grad * where_positive(score, whole, leak)
                    total = total + grad
                    store(grad_scores, place, load(grad_scores, place, group) + grad)
                store(grad_scores, (num_nodes + i) * heads + g, total)

    @compiled
    def attention_score_backward(
        projected: Floats,
        of_sources: Floats,
        of_targets: Floats,
        source_weight: Floats,
        target_weight: Floats,
        grad_projected: Floats,
        grad_source: Floats,
        grad_target: Floats,
    ) -> None:
        """Add to ``grad_projected`` what comes through the scores' gradients, and fill those of the weights."""
        num_nodes = projected.shape[0]
        for g in range(0, heads, group):
            by_source = load(source_weight, g * width, columns)
            by_target = load(target_weight, g * width, columns)
            to_source, to_target = spread(zero, columns), spread(zero, columns)
            for i in range(num_nodes):
                place = i * row + g * width
                values = load(projected, place, columns)
                source = repeated(load(of_sources, i * heads + g, group), width)
                target = repeated(load(of_targets, i * heads + g, group), width)
                added = source * by_source + target * by_target
                store(grad_projected, place, load(grad_projected, place, columns) + added)
                to_source = to_source + source * values
                to_target = to_target + target * values
            store(grad_source, g * width, to_source)
            store(grad_target, g * width, to_target)

    return _Kernels(attention_score, attention_forward, attention_backward, attention_score_backward)
