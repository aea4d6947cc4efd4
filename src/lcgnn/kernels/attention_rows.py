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


class AttendRows(torch.autograd.Function):
    """Attention of the rows (N H, D) over a symmetric (N, N) pattern with self-loops."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        source_weight: Tensor,
        target_weight: Tensor,
        pattern: csr_array,
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
            *dropout.arguments(),
            attended.view(-1, heads * width).numpy(),
            largest.numpy(),
            inverse.numpy(),
        )
        ctx.save_for_backward(hidden, source_weight, target_weight, scores, largest, inverse)
        ctx.pattern, ctx.dropout = pattern, dropout
        return attended

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
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
        return grad_hidden, grad_source, grad_target, None, None


@cache
def _kernels(heads: int, width: int) -> tuple[Kernel, Kernel]:
    """Forward and backward for one shape: the compiler unrolls loops over what it knows."""
    slope, zero, one = np.float32(NEGATIVE_SLOPE), np.float32(0), np.float32(1)

    @compiled
    def attend_rows_forward(
        projected: NDArray[np.float32],
        scores: NDArray[np.float32],
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        key: NDArray[np.uint32],
        scale: np.float32,
        attended: NDArray[np.float32],
        largest: NDArray[np.float32],
        inverse: NDArray[np.float32],
    ) -> None:
        key_bits, threshold, last = key[0], key[1], sources.size - 1
        coefficients = np.empty((np.diff(offsets).max(), heads), dtype=np.float32)
        for i in range(offsets.size - 1):
            first, degree = offsets[i], offsets[i + 1] - offsets[i]
            top, total, row = largest[i], inverse[i], attended[i]
            top[:] = -np.inf
            for e in range(degree):
                soon = np.int64(sources[min(first + e + AHEAD, last)])
                prefetch(scores, soon * heads)
                for k in range(0, heads * width, LINE):
                    prefetch(projected, soon * heads * width + k)
            for e in range(degree):
                for h in range(heads):
                    score = scores[0, sources[first + e], h] + scores[1, i, h]
                    score = max(score, slope * score)
                    coefficients[e, h] = score
                    top[h] = max(top[h], score)
            total[:] = 0
            for e in range(degree):
                for h in range(heads):
                    coefficients[e, h] = exp(coefficients[e, h] - top[h])
                    total[h] += coefficients[e, h]
            for h in range(heads):
                total[h] = one / total[h]
            row[:] = 0
            for e in range(degree):
                neighbour = projected[sources[first + e]]
                for h in range(heads):
                    # The number that the pair has where all pairs are kept: by node, head and neighbour.
                    number = np.int64(first) * heads + h * degree + e
                    weight = coefficients[e, h] * total[h] * scale
                    weight = weight if random_bits(key_bits, number) >= threshold else zero
                    for k in range(width):
                        row[h * width + k] += weight * neighbour[h * width + k]

    @compiled
    def attend_rows_backward(
        projected: NDArray[np.float32],
        scores: NDArray[np.float32],
        largest: NDArray[np.float32],
        inverse: NDArray[np.float32],
        grad_output: NDArray[np.float32],
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        key: NDArray[np.uint32],
        scale: np.float32,
        grad_projected: NDArray[np.float32],
        grad_scores: NDArray[np.float32],
    ) -> None:
        key_bits, threshold, last = key[0], key[1], sources.size - 1
        most = np.diff(offsets).max()
        coefficients = np.empty((most, heads), dtype=np.float32)
        slopes = np.empty((most, heads), dtype=np.float32)
        gradients = np.empty((most, heads), dtype=np.float32)
        mean = np.empty(heads, dtype=np.float32)
        for i in range(offsets.size - 1):
            first, degree = offsets[i], offsets[i + 1] - offsets[i]
            top, total, upstream = largest[i], inverse[i], grad_output[i]
            for e in range(degree):
                soon = np.int64(sources[min(first + e + AHEAD, last)])
                prefetch(scores, soon * heads)
                for k in range(0, heads * width, LINE):
                    prefetch(projected, soon * heads * width + k)
                    prefetch(grad_projected, soon * heads * width + k)
            for e in range(degree):
                for h in range(heads):
                    score = scores[0, sources[first + e], h] + scores[1, i, h]
                    slopes[e, h] = one if score > zero else slope
                    coefficients[e, h] = exp(max(score, slope * score) - top[h]) * total[h]
            mean[:] = 0
            for e in range(degree):
                neighbour, downstream = projected[sources[first + e]], grad_projected[sources[first + e]]
                for h in range(heads):
                    number = np.int64(first) * heads + h * degree + e
                    kept = scale if random_bits(key_bits, number) >= threshold else zero
                    weight, product = coefficients[e, h] * kept, zero
                    for k in range(width):
                        product += upstream[h * width + k] * neighbour[h * width + k]
                    for k in range(width):
                        downstream[h * width + k] += weight * upstream[h * width + k]
                    gradients[e, h] = product * kept
                    mean[h] += coefficients[e, h] * product * kept
            for e in range(degree):
                source = sources[first + e]
                for h in range(heads):
                    grad = coefficients[e, h] * (gradients[e, h] - mean[h]) * slopes[e, h]
                    grad_scores[0, source, h] += grad
                    grad_scores[1, i, h] += grad

    return attend_rows_forward, attend_rows_backward
