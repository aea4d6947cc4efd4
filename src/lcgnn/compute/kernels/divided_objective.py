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

_NO_NODES: NDArray[np.int64] = np.empty(0, np.int64)
_NO_ROWS: Floats = np.empty((0, 0), np.float32)


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
        from lcgnn.compute.kernels.compiled import agreement as kernels

        array, classes = logits.detach().contiguous().numpy(), constant(logits.shape[1])
        blocks: dict[int, Floats] = {}

        def of_rows(rows: slice) -> NDArray[np.float64]:
            blocks[rows.start], agreement, totals = kernels.softmax(classes, array[rows])
            return np.vstack([agreement, totals]).astype(np.float64)

        sums = threads.sum_over_rows(of_rows, array.shape[0])
        return cls(blocks, sums.astype(np.float32))

    @property
    def agreement(self) -> Floats:
        """(C, C) the class agreement."""
        return self.sums[:-1]

    def carried_back(self, grad_sums: Floats, num_nodes: int) -> Tensor:
        """(N, C) by the logits, given the gradient (C + 1, C) by the sums."""
        from lcgnn.compute.kernels.compiled import agreement as kernels

        gradient = torch.empty(num_nodes, grad_sums.shape[1], dtype=torch.float32)
        written, classes = gradient.numpy(), constant(grad_sums.shape[1])

        def of_rows(rows: slice) -> None:
            blocks, by_sums = self.blocks[rows.start], (grad_sums[:-1], grad_sums[-1])
            kernels.logits_gradient(classes, blocks, *by_sums, _NO_NODES, _NO_ROWS, _NO_ROWS, written[rows])

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
    from lcgnn.compute.kernels.compiled import agreement as kernels

    softmax, own = Softmax.of(logits), logits.detach()[nodes]
    classes, every = constant(own.shape[1]), np.arange(own.shape[0])
    # Labelled rows by themselves: the blocks of all rows are not side by side in memory.
    blocks, _, _ = kernels.softmax(classes, own.numpy())
    loss, distribution, by_distribution, *by_sums = kernels.loss_and_gradients(
        classes,
        blocks,
        softmax.agreement,
        softmax.sums[-1],
        labels[nodes].numpy(),
        every,
        node_weight,
        pair_weight,
    )
    nothing = np.zeros_like(softmax.sums)
    grad_own = torch.empty_like(own)
    kernels.logits_gradient(
        classes, blocks, nothing[:-1], nothing[-1], every, distribution, by_distribution, grad_own.numpy()
    )
    through_sums = softmax.carried_back(np.vstack(by_sums), logits.shape[0])
    return loss, through_sums.index_add_(0, nodes, grad_own)
