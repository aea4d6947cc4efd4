"""Graph attention with one number kept for every pair: the kernels of ``attention`` for graphs of usual size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn.kernels.attention_rows import shift_numbers
from lcgnn.kernels.attention_scores import NEGATIVE_SLOPE, add_score_gradients, fill_scores
from lcgnn.kernels.csr import csr_tensor
from lcgnn.kernels.dropout import Dropout
from lcgnn.kernels.jit import compiled, exp, inlined, random_bits


@dataclass(frozen=True, eq=False)
class Pairs:
    """Who attends to whom: a symmetric pattern over R rows, each with itself.

    Args:
        offsets: (R + 1,) where each row's pairs begin.
        sources: (P,) the row attended to.
        targets: (P,) the row that attends.
        reverse: (P,) the position of the pair (j, i) for every pair (i, j).
        shifts: (R,) what to add to a pair's position for its number in the whole graph, by the row that attends;
            None for the whole graph itself.
    """

    offsets: Tensor
    sources: Tensor
    targets: Tensor
    reverse: Tensor
    shifts: Tensor | None = None

    @property
    def num_rows(self) -> int:
        return self.offsets.shape[0] - 1

    @property
    def shift_numbers(self) -> NDArray[np.int64]:
        """The shifts as the compiled kernels take them: none for the whole graph."""
        return shift_numbers(None if self.shifts is None else self.shifts.numpy())

    def mask(self, dropout: Dropout) -> Tensor:
        """(P,) the mask of every pair."""
        numbers = torch.arange(self.sources.shape[0], device=self.sources.device)
        if self.shifts is not None:
            numbers = numbers + self.shifts[self.targets.long()]
        return dropout.mask(numbers)

    def weighted_sum(self, weights: Tensor, dense: Tensor) -> Tensor:
        """(R, D): every row's sum over the rows that it attends to."""
        shape = (self.num_rows, self.num_rows)
        product: Tensor = csr_tensor(self.offsets, self.sources, weights, shape) @ dense
        return product


class AttendPairs(torch.autograd.Function):
    """Attention of the rows (R, D) over pairs of them."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        source_weight: Tensor,
        target_weight: Tensor,
        pairs: Pairs,
        dropout: Dropout,
    ) -> Tensor:
        hidden = hidden.contiguous()
        scores = hidden.new_empty(2, pairs.num_rows)
        attention = hidden.new_empty(pairs.sources.shape[0])
        fill_scores(hidden.numpy(), source_weight.numpy(), target_weight.numpy(), scores.numpy())
        _attention(scores.numpy(), pairs.offsets.numpy(), pairs.sources.numpy(), attention.numpy())
        weights = torch.empty_like(attention) if dropout.rate else attention
        if dropout.rate:
            _drop(
                attention.numpy(),
                pairs.offsets.numpy(),
                pairs.shift_numbers,
                *dropout.arguments(),
                weights.numpy(),
            )
        ctx.save_for_backward(hidden, source_weight, target_weight, scores, attention, weights)
        ctx.pairs, ctx.dropout = pairs, dropout
        return pairs.weighted_sum(weights, hidden)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        hidden, source_weight, target_weight, scores, attention, weights = ctx.saved_tensors
        pairs: Pairs = ctx.pairs
        dropout: Dropout = ctx.dropout
        grad_output = grad_output.contiguous()
        grad_score, mirrored = torch.empty_like(attention), torch.empty_like(weights)
        grad_scores = torch.empty_like(scores)
        _grad_score(hidden.shape[1])(
            hidden.numpy(),
            grad_output.numpy(),
            scores.numpy(),
            attention.numpy(),
            pairs.offsets.numpy(),
            pairs.sources.numpy(),
            pairs.shift_numbers,
            *dropout.arguments(),
            grad_score.numpy(),
            grad_scores.numpy(),
        )
        _mirror(
            weights.numpy(),
            grad_score.numpy(),
            pairs.offsets.numpy(),
            pairs.reverse.numpy(),
            mirrored.numpy(),
            grad_scores.numpy(),
        )
        grad_hidden = pairs.weighted_sum(mirrored, grad_output)
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


@compiled
def _attention(
    scores: NDArray[np.float32],
    offsets: NDArray[np.int32],
    sources: NDArray[np.int32],
    attention: NDArray[np.float32],
) -> None:
    """Softmax of the pairs' scores row by row."""
    slope, zero = np.float32(NEGATIVE_SLOPE), np.float32(0)
    for r in range(offsets.size - 1):
        target = scores[1, r]
        largest = np.float32(-np.inf)
        for p in range(offsets[r], offsets[r + 1]):
            score = scores[0, sources[p]] + target
            score = max(score, slope * score)
            attention[p] = score
            largest = max(largest, score)
        for p in range(offsets[r], offsets[r + 1]):
            attention[p] -= largest
    for p in range(attention.size):
        attention[p] = exp(attention[p])
    for r in range(offsets.size - 1):
        total = zero
        for p in range(offsets[r], offsets[r + 1]):
            total += attention[p]
        inverse = np.float32(1) / total
        for p in range(offsets[r], offsets[r + 1]):
            attention[p] *= inverse


@compiled
def _drop(
    attention: NDArray[np.float32],
    offsets: NDArray[np.int32],
    shifts: NDArray[np.int64],
    key: NDArray[np.uint32],
    scale: np.float32,
    weights: NDArray[np.float32],
) -> None:
    _fill_mask(offsets, shifts, key, scale, weights)
    for p in range(attention.size):
        weights[p] *= attention[p]


@inlined
def _fill_mask(
    offsets: NDArray[np.int32],
    shifts: NDArray[np.int64],
    key: NDArray[np.uint32],
    scale: np.float32,
    mask: NDArray[np.float32],
) -> None:
    """The scale for every pair that is kept, 0 for the others; without shifts in one loop, which is faster."""
    zero, key_bits, threshold = np.float32(0), key[0], key[1]
    if shifts.size == 0:
        for p in range(mask.size):
            mask[p] = scale if random_bits(key_bits, p) >= threshold else zero
        return
    for r in range(shifts.size):
        for p in range(offsets[r], offsets[r + 1]):
            mask[p] = scale if random_bits(key_bits, p + shifts[r]) >= threshold else zero


@cache
def _grad_score(width: int) -> Callable[..., None]:
    """The kernel for heads of one width: only with a constant does the compiler unroll the products over it."""

    @compiled
    def grad_score_kernel(
        hidden: NDArray[np.float32],
        grad_output: NDArray[np.float32],
        scores: NDArray[np.float32],
        attention: NDArray[np.float32],
        offsets: NDArray[np.int32],
        sources: NDArray[np.int32],
        shifts: NDArray[np.int64],
        key: NDArray[np.uint32],
        scale: np.float32,
        grad_score: NDArray[np.float32],
        grad_scores: NDArray[np.float32],
    ) -> None:
        """Through dropout, softmax and LeakyReLU, to every pair's score and the attending rows' part of it."""
        zero, one, slope = np.float32(0), np.float32(1), np.float32(NEGATIVE_SLOPE)
        _fill_mask(offsets, shifts, key, scale, grad_score)
        for r in range(offsets.size - 1):
            mean, target = zero, scores[1, r]
            for p in range(offsets[r], offsets[r + 1]):
                source = sources[p]
                product = zero
                for k in range(width):
                    product += grad_output[r, k] * hidden[source, k]
                product *= grad_score[p]
                grad_score[p] = product
                mean += attention[p] * product
            total = zero
            for p in range(offsets[r], offsets[r + 1]):
                grad = attention[p] * (grad_score[p] - mean)
                grad *= one if scores[0, sources[p]] + target > zero else slope
                grad_score[p] = grad
                total += grad
            grad_scores[1, r] = total

    return grad_score_kernel


@compiled
def _mirror(
    weights: NDArray[np.float32],
    grad_score: NDArray[np.float32],
    offsets: NDArray[np.int32],
    reverse: NDArray[np.int32],
    mirrored: NDArray[np.float32],
    grad_scores: NDArray[np.float32],
) -> None:
    """The transposed weights, and the attended rows' part of the scores' gradient."""
    for r in range(offsets.size - 1):
        total = np.float32(0)
        for p in range(offsets[r], offsets[r + 1]):
            mirrored[p] = weights[reverse[p]]
            total += grad_score[reverse[p]]
        grad_scores[0, r] = total
