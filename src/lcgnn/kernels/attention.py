r"""Graph attention: scores, softmax over the neighbours, dropout and the weighted sum, in one operation.

For H heads of width D, projected features :math:`h` (N, H D) and a neighbourhood that includes the node itself:

.. math::
    e_{ij} = \mathrm{LeakyReLU}(a_{src} \cdot h_j + a_{dst} \cdot h_i), \quad
    \alpha_{i\cdot} = \mathrm{softmax}_{j \in N(i)}(e_{ij}), \quad
    out_i = \sum_j \mathrm{dropout}(\alpha_{ij})\, h_j

Several heads are one head on a graph of N H nodes, in which node (i, h) sees the nodes (j, h): the projected
features (N, H D) are, without moving a byte, that graph's (N H, D), and the weighted sum of all heads is a single
sparse product. A pair is an edge of that graph; there are P of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.kernels import fused
from lcgnn.kernels.attention_pairs import AttendPairs, Pairs
from lcgnn.kernels.attention_rows import AttendRows, shift_numbers
from lcgnn.kernels.attention_scores import NEGATIVE_SLOPE
from lcgnn.kernels.dropout import NO_DROPOUT, Dropout

# From so many pairs on, nothing is kept for each of them.
_MANY_PAIRS = 2**22


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The pairs of a graph, for any number of heads.

    Args:
        pattern: (N, N) symmetric, with self-loops; its values do not matter.
        device: Where the pairs live.
        shifts: (N,) how far a row of the pattern begins later in the whole graph's pattern, for a part of a graph.
    """

    pattern: csr_array
    device: torch.device
    shifts: NDArray[np.int64] | None = None
    _pairs: dict[int, Pairs] = field(default_factory=dict)

    def extended(self, rows: Tensor) -> Tensor:
        """(N, D) the rows of all nodes of the pattern, given those of the nodes that attend."""
        return rows

    def num_pairs(self, heads: int) -> int:
        """How many pairs ``pairs`` has."""
        return int(self.pattern.nnz) * heads

    def pairs(self, heads: int) -> Pairs:
        """The pairs of the graph in which every node appears once a head."""
        if heads not in self._pairs:
            self._pairs[heads] = self._expand(heads)
        return self._pairs[heads]

    def _expand(self, heads: int) -> Pairs:
        indptr, indices = self.pattern.indptr.astype(np.int64), self.pattern.indices
        degree = np.diff(indptr)
        offsets = np.concatenate([[0], np.cumsum(np.repeat(degree, heads))])
        targets = np.repeat(np.arange(degree.size * heads), np.repeat(degree, heads))
        within = np.arange(offsets[-1]) - offsets[targets]
        sources = indices[indptr[targets // heads] + within] * np.int64(heads) + targets % heads
        # Sorted by (source, target), the pairs appear in the order of their mirror images.
        reverse = np.empty(sources.size, dtype=np.int64)
        in_order = np.arange(sources.size) if self.pattern.has_sorted_indices else np.lexsort((sources, targets))
        reverse[np.lexsort((targets, sources))] = in_order
        return Pairs(
            offsets=self._tensor(offsets),
            sources=self._tensor(sources),
            targets=self._tensor(targets),
            reverse=self._tensor(reverse),
            shifts=self._repeated_shifts(heads),
        )

    def _repeated_shifts(self, heads: int) -> Tensor | None:
        if self.shifts is None:
            return None
        return torch.tensor(np.repeat(self.shifts * heads, heads), device=self.device)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.tensor(array.astype(np.int32), device=self.device)


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
    heads, width = source_weight.shape
    hidden = neighbourhood.extended(projected).reshape(-1, width)  # (N H, D)
    weights = source_weight, target_weight
    attended: Tensor
    if not fused(projected, *weights):
        attended = _attend_plain(hidden, *weights, neighbourhood.pairs(heads), dropout)
    elif neighbourhood.num_pairs(heads) < _MANY_PAIRS:
        attended = AttendPairs.apply(hidden, *weights, neighbourhood.pairs(heads), dropout)  # type: ignore[no-untyped-call]
    else:
        pattern, shifts = neighbourhood.pattern, shift_numbers(neighbourhood.shifts)
        attended = AttendRows.apply(hidden, *weights, pattern, shifts, dropout)  # type: ignore[no-untyped-call]
    return attended.view(-1, heads * width)[: projected.shape[0]]


def _attend_plain(
    hidden: Tensor, source_weight: Tensor, target_weight: Tensor, pairs: Pairs, dropout: Dropout
) -> Tensor:
    heads, width = source_weight.shape
    by_head = hidden.view(-1, heads, width)
    source_score = (by_head * source_weight).sum(-1).view(-1)  # (N H,)
    target_score = (by_head * target_weight).sum(-1).view(-1)  # (N H,)
    sources, targets = pairs.sources.long(), pairs.targets.long()
    score = torch.nn.functional.leaky_relu(source_score[sources] + target_score[targets], NEGATIVE_SLOPE)
    largest = torch.full_like(source_score, -torch.inf).scatter_reduce(0, targets, score.detach(), "amax")
    weight = torch.exp(score - largest[targets])
    total = torch.zeros_like(source_score).scatter_add(0, targets, weight)
    attention = weight / total[targets]  # (P,)
    if dropout.rate:
        attention = attention * pairs.mask(dropout).to(attention.dtype)
    return torch.zeros_like(hidden).index_add(0, targets, attention[:, None] * hidden[sources])
