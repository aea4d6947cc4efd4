"""Label consistency where the nodes are divided among threads: blocks of rows, and labelled rows by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.backend import constant

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Softmax:
    """The label distributions Z of all nodes.

    Args:
        blocks: By the first row of every block of rows, its part of Z as the kernels take it.
        sums: (C + 1, C) the class agreement Z'Z, and below it the column sums of Z.
    """

    blocks: dict[int, Floats]
    sums: Floats

    @classmethod
    def of(cls, logits: Tensor) -> Softmax:
        """From the logits (N, C)."""
        from lcgnn.compute.kernels.compiled import divided_agreement

        array, classes = logits.detach().contiguous().numpy(), constant(logits.shape[1])
        blocks: dict[int, Floats] = {}

        def of_rows(rows: slice) -> NDArray[np.float64]:
            blocks[rows.start], agreement, totals = divided_agreement.softmax_sums(classes, array[rows])
            return np.vstack([agreement, totals]).astype(np.float64)

        sums = threads.sum_over_rows(of_rows, array.shape[0])
        return cls(blocks, sums.astype(np.float32))

    @property
    def agreement(self) -> Floats:
        """(C, C) the class agreement."""
        return self.sums[:-1]

    def carried_back(self, grad_sums: Floats, num_nodes: int) -> Tensor:
        """(N, C) by the logits, given the gradient (C + 1, C) by the sums."""
        from lcgnn.compute.kernels.compiled import divided_agreement

        gradient = torch.empty(num_nodes, grad_sums.shape[1], dtype=torch.float32)
        written, classes = gradient.numpy(), constant(grad_sums.shape[1])

        def of_rows(rows: slice) -> None:
            by_sums = grad_sums[:-1], grad_sums[-1]
            divided_agreement.carry_back(classes, self.blocks[rows.start], *by_sums, written[rows])

        threads.for_rows(of_rows, num_nodes)
        return gradient


def loss_and_gradient(
    logits: Tensor, labels: Tensor, nodes: Tensor, node_weight: float, pair_weight: float
) -> tuple[float, Tensor]:
    """Label consistency's loss and its gradient (N, C) by the logits.

    Args:
        logits: (N, C).
        labels: (N,).
        nodes: (L,) the labelled ones.
        node_weight: Of a node in the classification loss.
        pair_weight: Of a pair in the regularisation loss.
    """
    from lcgnn.compute.kernels.compiled import divided_agreement

    softmax, own = Softmax.of(logits), logits.detach()[nodes]
    grad_sums, grad_own = np.zeros_like(softmax.sums), torch.empty_like(own)
    loss = divided_agreement.loss_at(
        constant(own.shape[1]),
        own.numpy(),
        labels[nodes].int().numpy(),
        softmax.agreement,
        softmax.sums[-1],
        node_weight,
        pair_weight,
        grad_sums[:-1],
        grad_sums[-1],
        grad_own.numpy(),
    )
    return loss, softmax.carried_back(grad_sums, logits.shape[0]).index_add_(0, nodes, grad_own)
