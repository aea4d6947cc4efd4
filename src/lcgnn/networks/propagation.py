r"""Several steps over the edges at a time: polynomials of the normalised adjacency, as one operation of autograd.

A polynomial of a symmetric matrix is symmetric, so that the gradient of such an operation is the operation itself.
All of them are made of one step, :math:`f \hat A Y + s X`, after Horner: nothing but the last result is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor

from lcgnn.compute.sparse import SparseMatrix

Smoothing = Literal["personalized", "mean", "power"]


def smoothed(adjacency: SparseMatrix, start: Tensor, smoothing: Smoothing, steps: int, teleport: float) -> Tensor:
    """One of the three ways to average (N, D) rows over nodes up to so many steps away.

    Args:
        adjacency: The normalised adjacency, symmetric.
        start: (N, D).
        smoothing: Personalised PageRank, the mean of the powers from 1 on (SSGC), or the last power alone (SGC).
        steps: K.
        teleport: The share of a node's own row; without effect on the last power.
    """
    if smoothing == "power":
        return _linear(start, lambda rows: power(adjacency, rows, steps))
    if smoothing == "mean":
        return _linear(start, lambda rows: _mean_from_one(adjacency, rows, steps, teleport))
    return personalized(adjacency, start, steps, teleport)


def personalized(adjacency: SparseMatrix, start: Tensor, steps: int, teleport: float) -> Tensor:
    r"""Personalised PageRank after K steps: :math:`Y \leftarrow (1 - \alpha) \hat A Y + \alpha X` from Y = X."""
    return _linear(start, lambda rows: adjacency.repeated(rows, 1 - teleport, teleport, steps))


def powers_mean(adjacency: SparseMatrix, start: Tensor, steps: int) -> Tensor:
    r"""The mean of the powers 0 to K: :math:`\frac{1}{K + 1} \sum_{k = 0}^K \hat A^k X`."""
    return _linear(start, lambda rows: mean_of_powers(adjacency, rows, steps))


def blended(adjacency: SparseMatrix, dense: Tensor, factor: float, added: Tensor, share: float) -> Tensor:
    r"""One step :math:`f \hat A Y + s X` for (N, D) matrices Y and X."""
    result: Tensor = _Blended.apply(dense, added, adjacency, factor, share)  # type: ignore[no-untyped-call]
    return result


def powers(adjacency: SparseMatrix, start: Tensor, steps: int) -> Tensor:
    r"""(K + 1, N, D) the rows themselves and after every step: :math:`X, \hat A X, \dots, \hat A^K X`."""
    result: Tensor = _Powers.apply(start, adjacency, steps)  # type: ignore[no-untyped-call]
    return result


def power(adjacency: SparseMatrix, rows: Tensor, steps: int) -> Tensor:
    r""":math:`\hat A^K X`, outside of autograd."""
    for _ in range(steps):
        rows = adjacency.product(rows)
    return rows


def mean_of_powers(adjacency: SparseMatrix, rows: Tensor, steps: int) -> Tensor:
    """The same as ``powers_mean``, outside of autograd."""
    share = 1 / (steps + 1)
    return adjacency.blended(_powers_sum(adjacency, rows, steps - 1), share, rows, share)


def _powers_sum(adjacency: SparseMatrix, rows: Tensor, steps: int) -> Tensor:
    return adjacency.repeated(rows, 1.0, 1.0, steps)


def _mean_from_one(adjacency: SparseMatrix, rows: Tensor, steps: int, teleport: float) -> Tensor:
    """SSGC's: the mean of the powers 1 to K, and a share of the rows themselves."""
    return adjacency.blended(_powers_sum(adjacency, rows, steps - 1), (1 - teleport) / steps, rows, teleport)


def _linear(start: Tensor, propagate: Callable[[Tensor], Tensor]) -> Tensor:
    result: Tensor = _SelfAdjoint.apply(start, propagate)  # type: ignore[no-untyped-call]
    return result


class _SelfAdjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, start: Tensor, propagate: Callable[[Tensor], Tensor]) -> Tensor:
        ctx.propagate = propagate
        return propagate(start)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        return ctx.propagate(grad_output.contiguous()), None


class _Blended(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, dense: Tensor, added: Tensor, adjacency: SparseMatrix, factor: float, share: float
    ) -> Tensor:
        ctx.step = adjacency, factor, share
        return adjacency.blended(dense, factor, added, share)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        adjacency, factor, share = ctx.step
        return (
            adjacency.transposed_product(grad_output.contiguous()) * factor,
            grad_output * share,
            None,
            None,
            None,
        )


class _Powers(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, start: Tensor, adjacency: SparseMatrix, steps: int) -> Tensor:
        ctx.adjacency = adjacency
        result = start.new_empty(steps + 1, *start.shape)
        result[0] = start
        for step in range(steps):
            result[step + 1] = adjacency.product(result[step])
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        return powers_gradient(ctx.adjacency, grad_output.contiguous()), None, None


def powers_gradient(adjacency: SparseMatrix, gradient: Tensor) -> Tensor:
    """(N, D) by the rows, given the gradient (K + 1, N, D) by their powers."""
    result = gradient[-1]
    for by_power in reversed(gradient[:-1]):
        result = adjacency.blended(result, 1.0, by_power, 1.0)
    return result
