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

    @torch.no_grad()
    def product(self, dropout: Dropout) -> Tensor:
        """(N, D); the gradient is that of the last call."""
        self.dropout = dropout
        if isinstance(self.features, Tensor):
            return dropped_product(self.features, self.weight, dropout)
        self.dropped = self.features.dropout(dropout)
        return self.dropped.product(self.weight)

    def gradient(self, grad_product: Tensor) -> Tensor:
        """(F, D) by the weight."""
        if self.dropped is not None:
            return self.dropped.transposed_product(grad_product)
        assert isinstance(self.features, Tensor)
        if self.dropout.rate:
            return dropped_transposed_product(self.features, self.dropout, grad_product)
        return transposed_product(self.features, grad_product)
