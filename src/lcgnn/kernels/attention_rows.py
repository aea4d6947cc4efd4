r"""Graph attention for large graphs: row after row, with nothing kept for a pair of nodes.

The same function as in ``attention``, for a neighbourhood of which even one number for every pair and head would
be too much. A row's coefficients live in a small buffer while the row is worked on; all that is kept of them are
the largest score and the sum of exponentials of every row, from which the backward pass computes them again. It
adds to the rows attended to as it goes, so that no pair has to find its mirror image.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.kernels.attention_scores import NEGATIVE_SLOPE, add_score_gradients, fill_scores
from lcgnn.kernels.dropout import Dropout
from lcgnn.kernels.jit import compiled, exp, random_bits
from lcgnn.kernels.prefetch import AHEAD, LINE, prefetch

Kernel = Callable[..., None]

_NO_SHIFTS = np.empty(0, dtype=np.int64)


def shift_numbers(shifts: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Shifts as the compiled kernels take them: none for the whole graph."""
    return _NO_SHIFTS if shifts is None else shifts


class AttendRows(torch.autograd.Function):
    """Attention of the rows (N H, D) over an (N, N) pattern with self-loops; shifts as in ``Neighbourhood``."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        source_weight: Tensor,
        target_weight: Tensor,
        pattern: csr_array,
        shifts: NDArray[np.int64],
        dropout: Dropout,
    ) -> Tensor:
        hidden = hidden.contiguous()
        heads, width = source_weight.shape
        scores = hidden.new_empty(2, hidden.shape[0])
        largest, inverse = hidden.new_empty(2, hidden.shape[0] // heads, heads).unbind()
        attended = torch.empty_like(hidden)
        fill_scores(hidden.numpy(), source_weight.numpy(), target_weight.numpy(), scores.numpy())
        forward, _ = _kernels(heads, width)
        forward(
            hidden.view(-1, heads * width).numpy(),
            scores.view(2, -1, heads).numpy(),
            pattern.indptr,
            pattern.indices,
            shifts,
            *dropout.arguments(),
            attended.view(-1, heads * width).numpy(),
            largest.numpy(),
            inverse.numpy(),
        )
        ctx.save_for_backward(hidden, source_weight, target_weight, scores, largest, inverse)
        ctx.pattern, ctx.shifts, ctx.dropout = pattern, shifts, dropout
        return attended

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
        hidden, source_weight, target_weight, scores, largest, inverse = ctx.saved_tensors
        heads, width = source_weight.shape
        grad_hidden, grad_scores = torch.zeros_like(hidden), torch.zeros_like(scores)
        _, backward = _kernels(heads, width)
        backward(
            hidden.view(-1, heads * width).numpy(),
            scores.view(2, -1, heads).numpy(),
            largest.numpy(),
            inverse.numpy(),
            grad_output.contiguous().view(-1, heads * width).numpy(),
            ctx.pattern.indptr,
            ctx.pattern.indices,
            ctx.shifts,
            *ctx.dropout.arguments(),
            grad_hidden.view(-1, heads * width).numpy(),
            grad_scores.view(2, -1, heads).numpy(),
        )
        grad_source, grad_target = torch.zeros_like(source_weight), torch.zeros_like(target_weight)
        add_score_gradients(
            hidden.numpy(),
            grad_scores.numpy(),
            source_weight.numpy(),
            target_weight.numpy(),
            grad_hidden.numpy(),
            grad_source.numpy(),
            grad_target.numpy(),
        )
        return grad_hidden, grad_source, grad_target, None, None, None


@cache
def _kernels(heads: int, width: int) -> tuple[Kernel, Kernel]:
    """Forward and backward for one shape.

    A row's pairs are numbered by head and neighbour. Loops over a head's columns take four at a time, in scalars:
    the compiler makes a vector of them, which it would not of sums that it has to write to memory meanwhile.
    """
    slope, zero, one = np.float32(NEGATIVE_SLOPE), np.float32(0), np.float32(1)
    whole = width // 4 * 4

    @compiled
    def attend_rows_forward(
        projected: NDArray[np.float32],
        scores: NDArray[np.float32],
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        shifts: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        attended: NDArray[np.float32],
        largest: NDArray[np.float32],
        inverse: NDArray[np.float32],
    ) -> None:
        key_bits, threshold, last = key[0], key[1], sources.size - 1
        weights = np.empty(np.diff(offsets).max() * heads, dtype=np.float32)
        for i in range(offsets.size - 1):
            first, degree = offsets[i], offsets[i + 1] - offsets[i]
            begin = (first + (shifts[i] if shifts.size else 0)) * heads
            for e in range(degree):
                soon = np.int64(sources[min(first + e + AHEAD, last)])
                prefetch(scores, soon * heads)
                for k in range(0, heads * width, LINE):
                    prefetch(projected, soon * heads * width + k)
            for h in range(heads):
                top, target = np.float32(-np.inf), scores[1, i, h]
                for e in range(degree):
                    score = scores[0, sources[first + e], h] + target
                    score = max(score, slope * score)
                    weights[h * degree + e] = score
                    top = max(top, score)
                for e in range(degree):
                    weights[h * degree + e] -= top
                largest[i, h] = top
            for p in range(degree * heads):
                weights[p] = exp(weights[p])
            for h in range(heads):
                total = zero
                for e in range(degree):
                    total += weights[h * degree + e]
                inverse[i, h] = one / total
            for p in range(degree * heads):
                weights[p] = weights[p] * scale if random_bits(key_bits, begin + p) >= threshold else zero
            for h in range(heads):
                factor = inverse[i, h]
                for c in range(h * width, h * width + whole, 4):
                    sum_0, sum_1, sum_2, sum_3 = zero, zero, zero, zero
                    for e in range(degree):
                        weight, row = weights[h * degree + e], projected[sources[first + e]]
                        sum_0 += weight * row[c]
                        sum_1 += weight * row[c + 1]
                        sum_2 += weight * row[c + 2]
                        sum_3 += weight * row[c + 3]
                    attended[i, c] = factor * sum_0
                    attended[i, c + 1] = factor * sum_1
                    attended[i, c + 2] = factor * sum_2
                    attended[i, c + 3] = factor * sum_3
                for c in range(h * width + whole, (h + 1) * width):
                    total = zero
                    for e in range(degree):
                        total += weights[h * degree + e] * projected[sources[first + e], c]
                    attended[i, c] = factor * total

    @compiled
    def attend_rows_backward(
        projected: NDArray[np.float32],
        scores: NDArray[np.float32],
        largest: NDArray[np.float32],
        inverse: NDArray[np.float32],
        grad_output: NDArray[np.float32],
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        shifts: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        grad_projected: NDArray[np.float32],
        grad_scores: NDArray[np.float32],
    ) -> None:
        key_bits, threshold, last = key[0], key[1], sources.size - 1
        most = np.diff(offsets).max()
        coefficients = np.empty(most * heads, dtype=np.float32)
        kept = np.empty(most * heads, dtype=np.float32)
        gradients = np.empty(most, dtype=np.float32)
        for i in range(offsets.size - 1):
            first, degree = offsets[i], offsets[i + 1] - offsets[i]
            begin = (first + (shifts[i] if shifts.size else 0)) * heads
            for e in range(degree):
                soon = np.int64(sources[min(first + e + AHEAD, last)])
                prefetch(scores, soon * heads)
                prefetch(grad_scores, soon * heads)
                for k in range(0, heads * width, LINE):
                    prefetch(projected, soon * heads * width + k)
                    prefetch(grad_projected, soon * heads * width + k)
            for h in range(heads):
                top, target = largest[i, h], scores[1, i, h]
                for e in range(degree):
                    score = scores[0, sources[first + e], h] + target
                    coefficients[h * degree + e] = max(score, slope * score) - top
            for p in range(degree * heads):
                coefficients[p] = exp(coefficients[p])
            for p in range(degree * heads):
                kept[p] = scale if random_bits(key_bits, begin + p) >= threshold else zero
            for h in range(heads):
                mean, factor, p = zero, inverse[i, h], h * degree
                for e in range(degree):
                    row, product = projected[sources[first + e]], zero
                    for c in range(h * width, (h + 1) * width):
                        product += grad_output[i, c] * row[c]
                    coefficients[p + e] *= factor
                    gradients[e] = product * kept[p + e]
                    mean += coefficients[p + e] * gradients[e]
                for c in range(h * width, h * width + whole, 4):
                    grad_0, grad_1 = grad_output[i, c], grad_output[i, c + 1]
                    grad_2, grad_3 = grad_output[i, c + 2], grad_output[i, c + 3]
                    for e in range(degree):
                        weight, row = coefficients[p + e] * kept[p + e], grad_projected[sources[first + e]]
                        row[c] += weight * grad_0
                        row[c + 1] += weight * grad_1
                        row[c + 2] += weight * grad_2
                        row[c + 3] += weight * grad_3
                for c in range(h * width + whole, (h + 1) * width):
                    for e in range(degree):
                        weight = coefficients[p + e] * kept[p + e]
                        grad_projected[sources[first + e], c] += weight * grad_output[i, c]
                total, target = zero, scores[1, i, h]
                for e in range(degree):
                    source = sources[first + e]
                    grad = coefficients[p + e] * (gradients[e] - mean)
                    grad *= one if scores[0, source, h] + target > zero else slope
                    grad_scores[0, source, h] += grad
                    total += grad
                grad_scores[1, i, h] = total

    return attend_rows_forward, attend_rows_backward
