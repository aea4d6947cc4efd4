r"""Graph attention: scores, softmax over the neighbours, dropout and the weighted sum, in one operation.

For H heads of width D, projected features :math:`h` (N, H D) and a neighbourhood that includes the node itself:

.. math::
    e_{ij} = \mathrm{LeakyReLU}(a_{src} \cdot h_j + a_{dst} \cdot h_i), \quad
    \alpha_{i\cdot} = \mathrm{softmax}_{j \in N(i)}(e_{ij}), \quad
    out_i = \sum_j \mathrm{dropout}(\alpha_{ij})\, h_j
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.kernels import fused
from lcgnn.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.kernels.jit import compiled, exp, random_bits, row_key

NEGATIVE_SLOPE = 0.2


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Who attends to whom: a symmetric pattern of node pairs, each node with itself.

    Args:
        offsets: (N + 1,) where each node's neighbours begin.
        neighbours: (E,) the nodes attended to, row by row.
        reverse: (E,) the position of the pair (j, i) for every pair (i, j).
        targets: (E,) the nodes that attend.
    """

    offsets: Tensor
    neighbours: Tensor
    reverse: Tensor
    targets: Tensor

    @classmethod
    def of(cls, pattern: csr_array, device: torch.device) -> Neighbourhood:
        """From a symmetric sparse matrix, whose values do not matter."""
        offsets, neighbours = pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32)
        targets = np.repeat(np.arange(pattern.shape[0], dtype=np.int32), np.diff(offsets))
        # Sorted by (neighbour, target), the pairs appear in the order of their mirror images.
        reverse = np.empty(neighbours.size, dtype=np.int32)
        reverse[np.lexsort((targets, neighbours))] = np.arange(neighbours.size, dtype=np.int32)
        arrays = (offsets, neighbours, reverse, targets)
        return cls(*(torch.from_numpy(array).to(device) for array in arrays))


def attend(
    projected: Tensor,
    source_weight: Tensor,
    target_weight: Tensor,
    neighbourhood: Neighbourhood,
    dropout: Dropout = NO_DROPOUT,
) -> Tensor:
    """Attention over every node's neighbours.

    Args:
        projected: (N, H * D) projected features.
        source_weight: (H, D) scores a node that is attended to.
        target_weight: (H, D) scores the node that attends.
        neighbourhood: Whom each node attends to.
        dropout: Applied to the attention coefficients.

    Returns:
        (N, H * D) the heads side by side.
    """
    if fused(projected, source_weight, target_weight):
        output: Tensor = _Attend.apply(projected, source_weight, target_weight, neighbourhood, dropout)  # type: ignore[no-untyped-call]
        return output
    return _attend_plain(projected, source_weight, target_weight, neighbourhood, dropout)


def _attend_plain(
    projected: Tensor,
    source_weight: Tensor,
    target_weight: Tensor,
    neighbourhood: Neighbourhood,
    dropout: Dropout,
) -> Tensor:
    num_nodes = projected.shape[0]
    heads, width = source_weight.shape
    sources, targets = neighbourhood.neighbours.long(), neighbourhood.targets.long()
    hidden = projected.view(num_nodes, heads, width)
    source_score = (hidden * source_weight).sum(-1)  # (N, H)
    target_score = (hidden * target_weight).sum(-1)  # (N, H)
    score = torch.nn.functional.leaky_relu(source_score[sources] + target_score[targets], NEGATIVE_SLOPE)
    index = targets[:, None].expand_as(score)
    largest = torch.full_like(source_score, -torch.inf).scatter_reduce(0, index, score.detach(), "amax")
    weight = torch.exp(score - largest[targets])
    total = torch.zeros_like(source_score).scatter_add(0, index, weight)
    attention = weight / total[targets]  # (E, H)
    if dropout.rate:
        columns = sources[:, None] * heads + torch.arange(heads, device=sources.device)
        attention = attention * dropout.mask(targets[:, None], columns).to(attention.dtype)
    messages = attention[:, :, None] * hidden[sources]
    return torch.zeros_like(hidden).index_add(0, targets, messages).view(num_nodes, heads * width)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        source_weight: Tensor,
        target_weight: Tensor,
        neighbourhood: Neighbourhood,
        dropout: Dropout,
    ) -> Tensor:
        num_nodes = projected.shape[0]
        heads, width = source_weight.shape
        projected = projected.contiguous()
        hidden = projected.view(num_nodes, heads, width)
        scores = torch.empty(2, num_nodes, heads)
        attention = torch.empty(neighbourhood.neighbours.shape[0], heads)
        output = torch.empty_like(hidden)
        key, scale = dropout.arguments()
        _scores(hidden.numpy(), source_weight.numpy(), target_weight.numpy(), scores.numpy())
        _forward(
            hidden.numpy(),
            scores.numpy(),
            neighbourhood.offsets.numpy(),
            neighbourhood.neighbours.numpy(),
            key,
            scale,
            attention.numpy(),
            output.numpy(),
        )
        ctx.save_for_backward(hidden, source_weight, target_weight, scores, attention)
        ctx.neighbourhood, ctx.key, ctx.scale = neighbourhood, key, scale
        return output.view(num_nodes, heads * width)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        hidden, source_weight, target_weight, scores, attention = ctx.saved_tensors
        neighbourhood: Neighbourhood = ctx.neighbourhood
        offsets, neighbours = neighbourhood.offsets.numpy(), neighbourhood.neighbours.numpy()
        grad_output = grad_output.contiguous().view(hidden.shape)
        grad_score = torch.empty_like(attention)
        grad_scores = torch.empty_like(scores)
        grad_hidden = torch.empty_like(hidden)
        grad_source, grad_target = torch.zeros_like(source_weight), torch.zeros_like(target_weight)
        _backward_rows(
            hidden.numpy(),
            scores.numpy(),
            attention.numpy(),
            grad_output.numpy(),
            offsets,
            neighbours,
            ctx.key,
            ctx.scale,
            grad_score.numpy(),
            grad_scores.numpy(),
        )
        _backward_columns(
            attention.numpy(),
            grad_output.numpy(),
            grad_score.numpy(),
            source_weight.numpy(),
            target_weight.numpy(),
            offsets,
            neighbours,
            neighbourhood.reverse.numpy(),
            ctx.key,
            ctx.scale,
            grad_scores.numpy(),
            grad_hidden.numpy(),
        )
        _backward_weights(hidden.numpy(), grad_scores.numpy(), grad_source.numpy(), grad_target.numpy())
        return grad_hidden.view(hidden.shape[0], -1), grad_source, grad_target, None, None


@compiled
def _scores(
    hidden: NDArray[np.float32],
    source_weight: NDArray[np.float32],
    target_weight: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> None:
    num_nodes, heads, width = hidden.shape
    for i in range(num_nodes):
        for h in range(heads):
            source, target = np.float32(0), np.float32(0)
            for k in range(width):
                source += hidden[i, h, k] * source_weight[h, k]
                target += hidden[i, h, k] * target_weight[h, k]
            scores[0, i, h] = source
            scores[1, i, h] = target


@compiled
def _forward(
    hidden: NDArray[np.float32],
    scores: NDArray[np.float32],
    offsets: NDArray[np.int32],
    neighbours: NDArray[np.int32],
    key: NDArray[np.uint32],
    scale: np.float32,
    attention: NDArray[np.float32],
    output: NDArray[np.float32],
) -> None:
    num_nodes, heads, width = hidden.shape
    slope = np.float32(NEGATIVE_SLOPE)
    largest = np.empty(heads, dtype=np.float32)
    total = np.empty(heads, dtype=np.float32)
    for i in range(num_nodes):
        begin, end = offsets[i], offsets[i + 1]
        largest[:] = -np.inf
        for e in range(begin, end):
            j = neighbours[e]
            for h in range(heads):
                score = scores[0, j, h] + scores[1, i, h]
                score = max(score, slope * score)
                attention[e, h] = score
                largest[h] = max(largest[h], score)
        total[:] = 0
        for e in range(begin, end):
            for h in range(heads):
                weight = exp(attention[e, h] - largest[h])
                attention[e, h] = weight
                total[h] += weight
        for h in range(heads):
            total[h] = np.float32(1) / total[h]
        output[i] = 0
        key_of_row = row_key(key[0], i)
        for e in range(begin, end):
            j = neighbours[e]
            for h in range(heads):
                weight = attention[e, h] * total[h]
                attention[e, h] = weight
                if random_bits(key_of_row, j * heads + h) >= key[1]:
                    weight *= scale
                    for k in range(width):
                        output[i, h, k] += weight * hidden[j, h, k]


@compiled
def _backward_rows(
    hidden: NDArray[np.float32],
    scores: NDArray[np.float32],
    attention: NDArray[np.float32],
    grad_output: NDArray[np.float32],
    offsets: NDArray[np.int32],
    neighbours: NDArray[np.int32],
    key: NDArray[np.uint32],
    scale: np.float32,
    grad_score: NDArray[np.float32],
    grad_scores: NDArray[np.float32],
) -> None:
    """Through the softmax: the gradient of every pair's score, and of the attending nodes' scores."""
    num_nodes, heads, width = hidden.shape
    zero, one, slope = np.float32(0), np.float32(1), np.float32(NEGATIVE_SLOPE)
    mean = np.empty(heads, dtype=np.float32)
    for i in range(num_nodes):
        key_of_row = row_key(key[0], i)
        mean[:] = 0
        for e in range(offsets[i], offsets[i + 1]):
            j = neighbours[e]
            for h in range(heads):
                grad = zero
                if random_bits(key_of_row, j * heads + h) >= key[1]:
                    for k in range(width):
                        grad += grad_output[i, h, k] * hidden[j, h, k]
                    grad *= scale
                grad_score[e, h] = grad
                mean[h] += attention[e, h] * grad
        grad_scores[1, i] = 0
        for e in range(offsets[i], offsets[i + 1]):
            j = neighbours[e]
            for h in range(heads):
                grad = attention[e, h] * (grad_score[e, h] - mean[h])
                grad *= one if scores[0, j, h] + scores[1, i, h] > zero else slope
                grad_score[e, h] = grad
                grad_scores[1, i, h] += grad


@compiled
def _backward_columns(
    attention: NDArray[np.float32],
    grad_output: NDArray[np.float32],
    grad_score: NDArray[np.float32],
    source_weight: NDArray[np.float32],
    target_weight: NDArray[np.float32],
    offsets: NDArray[np.int32],
    neighbours: NDArray[np.int32],
    reverse: NDArray[np.int32],
    key: NDArray[np.uint32],
    scale: np.float32,
    grad_scores: NDArray[np.float32],
    grad_hidden: NDArray[np.float32],
) -> None:
    """To the nodes attended to: a gather over the mirrored pairs, so that no two rows write the same place."""
    num_nodes, heads, width = grad_hidden.shape
    for j in range(num_nodes):
        grad_hidden[j] = 0
        grad_scores[0, j] = 0
        for e in range(offsets[j], offsets[j + 1]):
            i, mirrored = neighbours[e], reverse[e]
            key_of_row = row_key(key[0], i)
            for h in range(heads):
                grad_scores[0, j, h] += grad_score[mirrored, h]
                if random_bits(key_of_row, j * heads + h) >= key[1]:
                    weight = attention[mirrored, h] * scale
                    for k in range(width):
                        grad_hidden[j, h, k] += weight * grad_output[i, h, k]
        for h in range(heads):
            for k in range(width):
                grad_hidden[j, h, k] += (
                    grad_scores[0, j, h] * source_weight[h, k] + grad_scores[1, j, h] * target_weight[h, k]
                )


@compiled
def _backward_weights(
    hidden: NDArray[np.float32],
    grad_scores: NDArray[np.float32],
    grad_source: NDArray[np.float32],
    grad_target: NDArray[np.float32],
) -> None:
    num_nodes, heads, width = hidden.shape
    for i in range(num_nodes):
        for h in range(heads):
            for k in range(width):
                grad_source[h, k] += grad_scores[0, i, h] * hidden[i, h, k]
                grad_target[h, k] += grad_scores[1, i, h] * hidden[i, h, k]
