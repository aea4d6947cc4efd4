"""The two-layer Chebyshev network of Defferrard et al. (2016)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array
from torch import Tensor, nn

from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.dropout import NO_DROPOUT
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix, dropped_product
from lcgnn.networks.forms import kept_with_graph
from lcgnn.networks.network import Network, glorot


class Cheby(Network):
    r"""Two layers :math:`\sum_{k<K} T_k(\hat L) X W_k + b` with a ReLU between them.

    :math:`T_k` are Chebyshev's polynomials and :math:`\hat L = 2 L / \lambda_{max} - I` is the symmetrically
    normalised Laplacian, scaled with :math:`\lambda_{max} = 2`; so :math:`\hat L = -D^{-1/2} A D^{-1/2}`, without
    self-loops. Each layer equals PyTorch Geometric's ``ChebConv`` with the same weights.

    Dropout acts on the hidden layer only, so that training and validation share the first layer.

    Args:
        num_features: F.
        num_classes: C.
        order: K, the number of polynomials of each layer: K - 1 hops.
        hidden: Width of the hidden layer.
        dropout: Rate on the hidden layer.
        generator: Draws the initial weights.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        order: int = 3,
        hidden: int = 16,
        dropout: float = 0.5,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.weight_0 = glorot(order, num_features, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(hidden))
        self.weight_1 = glorot(order, hidden, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))

    def embed(self, graph: Placement) -> Tensor:
        weights = torch.cat(tuple(self.weight_0), dim=1)  # (F, K * H)
        products = dropped_product(graph.features, weights, NO_DROPOUT)
        return chebyshev_sum(scaled_laplacian(graph), products.chunk(len(self.weight_0), dim=1))

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        assert embedding is not None
        hidden = activate(embedding, self.bias_0, "relu", graph.dropout(self.dropout, key))
        products = [hidden @ weight for weight in self.weight_1]
        return chebyshev_sum(scaled_laplacian(graph), products) + self.bias_1


def chebyshev_sum(matrix: SparseMatrix, terms: Sequence[Tensor]) -> Tensor:
    r""":math:`\sum_k T_k(M) Y_k` for terms :math:`Y_0, Y_1, \dots` (N, D), with one sparse product a term.

    By Clenshaw's recurrence :math:`B_k = Y_k + 2 M B_{k+1} - B_{k+2}`, which multiplies M with sums of width D;
    the recurrence of the polynomials themselves would multiply it with all F features.
    """
    if len(terms) == 1:
        return terms[0]
    later, current = None, terms[-1]  # B_{k+2}, B_{k+1}
    for term in reversed(terms[1:-1]):
        propagated = term + 2 * (matrix @ current.contiguous())
        later, current = current, propagated if later is None else propagated - later
    total = terms[0] + matrix @ current.contiguous()
    return total if later is None else total - later


@kept_with_graph
def scaled_laplacian(graph: Placement) -> SparseMatrix:
    r"""(N, N) :math:`-D^{-1/2} A D^{-1/2}`, self-loops left out; a node without neighbours has a zero row."""
    return SparseMatrix.of(_scaled_laplacian(graph.links), graph.device, symmetric=True)


def _scaled_laplacian(adjacency: csr_array) -> csr_array:
    proper = csr_array(adjacency - diags_array(adjacency.diagonal()))
    proper.eliminate_zeros()
    degree = np.asarray(proper.sum(axis=1), dtype=np.float64).ravel()
    scale = diags_array(np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0))
    return csr_array(-(scale @ proper @ scale)).astype(np.float32)
