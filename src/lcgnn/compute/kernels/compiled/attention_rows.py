"""Graph attention row after row, with nothing kept for a pair of nodes.

The coefficients of a row live in a small buffer while it is worked on; all that is kept of them are the largest
score and the sum of exponentials of every row, from which the backward pass computes them again. It adds to the
rows attended to as it goes, so that no pair has to find its mirror image.

Heads are lanes of the processor's vectors: eight of them take hardly longer than one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.compute.kernels.attention import NEGATIVE_SLOPE
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

_NO_SHIFTS = np.empty(0, dtype=np.int64)

Floats = NDArray[np.float32]


class AttendRows(torch.autograd.Function):
    """Attention of N nodes with rows (N, H D) over an (N, N) pattern; shifts as in ``Neighbourhood``."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        source_weight: Tensor,
        target_weight: Tensor,
        pattern: csr_array,
        shifts: NDArray[np.int64] | None,
        dropout: Dropout,
    ) -> Tensor:
        projected = projected.contiguous()
        heads, width = source_weight.shape
        scores = projected.new_empty(2, projected.shape[0], heads)
        largest, inverse = torch.empty_like(scores).unbind()
        attended = torch.empty_like(projected)
        kernels = _kernels(heads, width)
        kernels.score(projected.numpy(), source_weight.numpy(), target_weight.numpy(), scores.numpy())
        kernels.attend(
            projected.numpy(),
            scores.numpy(),
            pattern.indptr,
            pattern.indices,
            _NO_SHIFTS if shifts is None else shifts,
            *dropout.arguments(),
            attended.numpy(),
            largest.numpy(),
            inverse.numpy(),
        )
        ctx.save_for_backward(projected, source_weight, target_weight, scores, largest, inverse)
        ctx.pattern, ctx.shifts, ctx.dropout = pattern, shifts, dropout
        return attended

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
        projected, source_weight, target_weight, scores, largest, inverse = ctx.saved_tensors
        grad_projected, grad_scores = torch.zeros_like(projected), torch.zeros_like(scores)
        kernels = _kernels(*source_weight.shape)
        kernels.attend_backward(
            projected.numpy(),
            scores.numpy(),
            largest.numpy(),
            inverse.numpy(),
            grad_output.contiguous().numpy(),
            ctx.pattern.indptr,
            ctx.pattern.indices,
            _NO_SHIFTS if ctx.shifts is None else ctx.shifts,
            *ctx.dropout.arguments(),
            grad_projected.numpy(),
            grad_scores.numpy(),
        )
        grad_source, grad_target = torch.empty_like(source_weight), torch.empty_like(target_weight)
        kernels.score_backward(
            projected.numpy(),
            grad_scores.numpy(),
            source_weight.numpy(),
            target_weight.numpy(),
            grad_projected.numpy(),
            grad_source.numpy(),
            grad_target.numpy(),
        )
        return grad_projected, grad_source, grad_target, None, None, None


class _Kernels(NamedTuple):
    score: Callable[..., None]
    attend: Callable[..., None]
    attend_backward: Callable[..., None]
    score_backward: Callable[..., None]


@cache
def _kernels(heads: int, width: int) -> _Kernels:
    """The kernels for one shape. The pairs of a row are numbered by head, then by neighbour."""
    group = _heads_at_once(heads, width)
    columns, row = group * width, heads * width
    zero, one, slope = np.float32(0), np.float32(1), np.float32(NEGATIVE_SLOPE)
    lowest = np.float32(-np.inf)

    @compiled
    def attention_score(projected: Floats, source_weight: Floats, target_weight: Floats, scores: Floats) -> None:
        """Fill ``scores`` (2, N, H): how a node scores when it is attended to, and when it attends."""
        num_nodes = projected.shape[0]
        for g in range(0, heads, group):
            by_source = load(source_weight, g * width, columns)
            by_target = load(target_weight, g * width, columns)
            for i in range(num_nodes):
                values = load(projected, i * row + g * width, columns)
                store(scores, i * heads + g, sums(values * by_source, width))
                store(scores, (num_nodes + i) * heads + g, sums(values * by_target, width))

    @compiled
    def attention_forward(
        projected: Floats,
        scores: Floats,
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        shifts: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        attended: Floats,
        largest: Floats,
        inverse: Floats,
    ) -> None:
        num_nodes, last = offsets.size - 1, sources.size - 1
        key_bits, threshold = key[0], key[1]
        leak = spread(slope, group)
        weights = np.empty(np.diff(offsets).max() * group, dtype=np.float32)
        for i in range(num_nodes):
            first, degree = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
            begin = (first + (shifts[i] if shifts.size else 0)) * heads
            for e in range(first, first + degree):
                soon = np.int64(sources[min(e + AHEAD, last)])
                prefetch(scores, soon * heads)
                for k in range(0, row, LINE):
                    prefetch(projected, soon * row + k)
            for g in range(0, heads, group):
                target = load(scores, (num_nodes + i) * heads + g, group)
                top, total = spread(lowest, group), spread(zero, group)
                for e in range(degree):
                    score = load(scores, np.int64(sources[first + e]) * heads + g, group) + target
                    score = larger(score * leak, score)
                    top = larger(top, score)
                    store(weights, e * group, score)
                weighted = spread(zero, columns)
                for e in range(degree):
                    weight = exponential(load(weights, e * group, group) - top)
                    total = total + weight
                    if threshold:
                        weight = weight * kept(key_bits, begin + g * degree + e, degree, threshold, scale, group)
                    values = load(projected, np.int64(sources[first + e]) * row + g * width, columns)
                    weighted = weighted + repeated(weight, width) * values
                factor = spread(one, group) / total
                store(attended, i * row + g * width, weighted * repeated(factor, width))
                store(largest, i * heads + g, top)
                store(inverse, i * heads + g, factor)

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
        num_nodes, last = offsets.size - 1, sources.size - 1
        key_bits, threshold = key[0], key[1]
        leak, whole = spread(slope, group), spread(one, group)
        coefficients = np.empty(np.diff(offsets).max() * group, dtype=np.float32)
        products = np.empty_like(coefficients)
        for i in range(num_nodes):
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
        grad_scores: Floats,
        source_weight: Floats,
        target_weight: Floats,
        grad_projected: Floats,
        grad_source: Floats,
        grad_target: Floats,
    ) -> None:
        """Add to ``grad_projected`` what comes through the scores, and fill the gradients of their weights."""
        num_nodes = projected.shape[0]
        for g in range(0, heads, group):
            by_source = load(source_weight, g * width, columns)
            by_target = load(target_weight, g * width, columns)
            to_source, to_target = spread(zero, columns), spread(zero, columns)
            for i in range(num_nodes):
                place = i * row + g * width
                values = load(projected, place, columns)
                source = repeated(load(grad_scores, i * heads + g, group), width)
                target = repeated(load(grad_scores, (num_nodes + i) * heads + g, group), width)
                added = source * by_source + target * by_target
                store(grad_projected, place, load(grad_projected, place, columns) + added)
                to_source = to_source + source * values
                to_target = to_target + target * values
            store(grad_source, g * width, to_source)
            store(grad_target, g * width, to_target)

    return _Kernels(attention_score, attention_forward, attention_backward, attention_score_backward)


def _heads_at_once(heads: int, width: int) -> int:
    """The most heads that divide all of them and have no more columns than fit; at least one."""
    fitting = [group for group in range(2, heads + 1) if heads % group == 0 and group * width <= _MOST_COLUMNS]
    return max(fitting, default=1)
