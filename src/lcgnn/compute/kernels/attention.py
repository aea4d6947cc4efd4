r"""Graph attention: scores, softmax over the neighbours, dropout and the weighted sum, in one operation.

For H heads of width D, projected features :math:`h` (N, H D) and a neighbourhood that includes the node itself:

.. math::
    e_{ij} = \mathrm{LeakyReLU}(a_{src} \cdot h_j + a_{dst} \cdot h_i), \quad
    \alpha_{i\cdot} = \mathrm{softmax}_{j \in N(i)}(e_{ij}), \quad
    out_i = \sum_j \mathrm{dropout}(\alpha_{ij})\, h_j

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout

NEGATIVE_SLOPE = 0.2


class Attending(NamedTuple):
    """Who attends to a node, for every node in turn.

    Args:
        offsets: (N + 1,) where a node's pairs begin in what follows.
        nodes: (E,) those that attend to it.
        entries: (E,) the pair's place in the pattern.
    """

    offsets: NDArray[np.int32]
    nodes: NDArray[np.int32]
    entries: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The pairs of a graph, for any number of heads.

    Args:
        pattern: (A, N) a row for every node that attends, which are the first of the nodes, itself among its
            neighbours; the values do not matter.
        device: Where the pairs live.
        shifts: (A,) how far a row of the pattern begins later in the whole graph's pattern, for a part of a graph.
    """

    pattern: csr_array
    device: torch.device
    shifts: NDArray[np.int64] | None = None

    def extended(self, rows: Tensor) -> Tensor:
        """(N, D) the rows of all nodes that are attended to, given those (A, D) of the nodes that attend."""
        return rows

    def edges(self) -> tuple[Tensor, Tensor]:
        """(E,) the node attended to, and (E,) the one that attends."""
        targets = np.repeat(np.arange(self.pattern.shape[0]), np.diff(self.pattern.indptr))
        return self._tensor(self.pattern.indices), self._tensor(targets)

    def pair_numbers(self, heads: int) -> Tensor:
        """(E, H) the number that every pair has in the whole graph: by node that attends, head and neighbour."""
        starts, degrees = self.pattern.indptr[:-1].astype(np.int64), np.diff(self.pattern.indptr)
        within = np.arange(self.pattern.nnz) - np.repeat(starts, degrees)
        begins = (starts if self.shifts is None else starts + self.shifts) * heads
        by_edge = np.repeat(begins, degrees) + within
        return self._tensor(by_edge[:, None] + np.repeat(degrees, degrees)[:, None] * np.arange(heads))

    @cached_property
    def attending(self) -> Attending:
        """The pairs by the node that is attended to."""
        entries = np.arange(self.pattern.nnz, dtype=np.int32)
        parts = entries, self.pattern.indices, self.pattern.indptr
        by_source = csr_array(parts, shape=self.pattern.shape).tocsc()
        # Of a symmetric pattern, whose rows are sorted, these are the neighbours in their order.
        same = np.array_equal(by_source.indices, self.pattern.indices)
        return Attending(by_source.indptr, self.pattern.indices if same else by_source.indices, by_source.data)

    def _tensor(self, array: NDArray[np.integer[Any]]) -> Tensor:
        return torch.tensor(array.astype(np.int64), device=self.device)


def attend(
    projected: Tensor,
    source_weight: Tensor,
    target_weight: Tensor,
    neighbourhood: Neighbourhood,
    dropout: Dropout = NO_DROPOUT,
) -> Tensor:
    """Attention over every node's neighbours.

    Args:
        projected: (A, H * D) projected features of the nodes that attend.
        source_weight: (H, D) scores a node that is attended to.
        target_weight: (H, D) scores the node that attends.
        neighbourhood: Whom each node attends to.
        dropout: Applied to the attention coefficients.

    Returns:
        (A, H * D) the heads side by side.
    """
    extended = neighbourhood.extended(projected)
    if fused(projected, source_weight, target_weight):
        from lcgnn.compute.kernels.compiled.attention_rows import AttendRows

        attended: Tensor = AttendRows.apply(extended, source_weight, target_weight, neighbourhood, dropout)  # type: ignore[no-untyped-call]
        return attended
    return _attend_plain(extended, source_weight, target_weight, neighbourhood, dropout)


def _attend_plain(
    projected: Tensor,
    source_weight: Tensor,
    target_weight: Tensor,
    neighbourhood: Neighbourhood,
    dropout: Dropout,
) -> Tensor:
    heads, width = source_weight.shape
    hidden = projected.view(-1, heads, width)
    source_score = (hidden * source_weight).sum(-1)  # (N, H)
    target_score = (hidden[: neighbourhood.pattern.shape[0]] * target_weight).sum(-1)  # (A, H)
    sources, targets = neighbourhood.edges()
    score = torch.nn.functional.leaky_relu(source_score[sources] + target_score[targets], NEGATIVE_SLOPE)
    ends = targets[:, None].expand_as(score)
    largest = torch.full_like(target_score, -torch.inf).scatter_reduce(0, ends, score.detach(), "amax")
    weight = torch.exp(score - largest[targets])
    total = torch.zeros_like(target_score).scatter_add(0, ends, weight)
    attention = weight / total[targets]  # (E, H)
    if dropout.rate:
        attention = attention * dropout.mask(neighbourhood.pair_numbers(heads)).to(attention.dtype)
    attended = hidden.new_zeros(*target_score.shape, width)
    return attended.index_add(0, targets, attention[:, :, None] * hidden[sources]).flatten(1)
