"""The first product of a network with dropout on its features, for passes whose gradient is written out."""

from __future__ import annotations

import torch
from torch import Tensor

from lcgnn.compute.kernels.dense import transposed_product
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.kernels.dropped import dropped_transposed_product
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix, dropped_product


class InputLayer:
    """``dropout(X) @ weight`` and its gradient, sparse features staying sparse.

    Args:
        graph: Holds the features.
        weight: (F, D), which changes in place.
    """

    def __init__(self, graph: Placement, weight: Tensor) -> None:
        self.features, self.weight = graph.features, weight
        self.dropped: SparseMatrix | None = None
        self.dropout = NO_DROPOUT
        self.kept: Tensor | None = None

    @torch.no_grad()
    def product(self, dropout: Dropout, kept: Tensor | None = None) -> Tensor:
        """(N, D); the gradient is that of the last call.

        Args:
            dropout: Of entries.
            kept: (N,) whether a row counts; where not, its product is zero. None for all.
        """
        self.dropout, self.kept = dropout, kept
        if isinstance(self.features, Tensor):
            return dropped_product(self.features, self.weight, dropout, kept)
        self.dropped = self.features.dropout(dropout, kept)
        return self.dropped.product(self.weight)

    def gradient(self, grad_product: Tensor) -> Tensor:
        """(F, D) by the weight."""
        if self.dropped is not None:
            return self.dropped.transposed_product(grad_product)
        assert isinstance(self.features, Tensor)
        if self.kept is not None:
            grad_product = grad_product * self.kept[:, None]
        if self.dropout.rate:
            return dropped_transposed_product(self.features, self.dropout, grad_product)
        return transposed_product(self.features, grad_product)
