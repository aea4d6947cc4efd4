"""Batch normalisation and dropout of features averaged over the graph, without the averages themselves."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels.dropout import NO_DROPOUT, derive_key
from lcgnn.compute.kernels.noise import noise_like
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix, dropped_product

# So many random propagations are measured, so many columns at a time.
_DRAWS, _COLUMNS = 4, 64
# Added to every variance, as in torch.nn.BatchNorm1d. Where rows of features sum to 1 it is larger than most.
_LEAST_VARIANCE = 1e-5
_LEAST_NOISE = 1e-12


class AveragedNorm(nn.Module):
    r"""What a layer's weights are to be multiplied with, so that it sees normalised averages of the features.

    GRAND's authors normalise the columns of the (N, F) matrix :math:`Y = \bar A (m \odot X)` in every step and
    drop some of its entries. Over thousands of nodes a column's mean and variance hardly depend on the nodes that
    are dropped: they are measured once, before training, a few columns at a time, and then

    .. math:: \frac{Y - \mu}{\sigma} W = \bar A (m \odot X \tfrac{W}{\sigma}) - \tfrac{\mu}{\sigma} W,

    which needs X W only; a learnt scale and shift of every column come in the same way. Dropout on the normalised
    Z adds to (Z W)_{ih} noise of mean 0 and variance :math:`\frac{p}{1 - p} \sum_f Z_{if}^2 W_{fh}^2`; with the
    squares taken for a product of a node's and a column's share, :math:`Z_{if}^2 \approx r_i q_f`, this is
    :math:`\frac{p}{1 - p} r_i \sum_f q_f W_{fh}^2`. A sum over many features is nearly normal; so is the noise.

    Args:
        num_features: F.
    """

    mean: Tensor
    deviation: Tensor
    squares: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(num_features)), nn.Parameter(torch.zeros(num_features))
        self.register_buffer("mean", torch.zeros(num_features))
        self.register_buffer("deviation", torch.ones(num_features))
        self.register_buffer("squares", torch.ones(num_features))  # q, of mean 1
        self.node_squares: Tensor | None = None  # (N, 1) r, of the graph that is trained on

    @torch.no_grad()
    def measure(
        self, graph: Placement, drop_node: float, average: Callable[[SparseMatrix, Tensor], Tensor], key: int
    ) -> None:
        """Take over the columns' means and variances, and how large a node's normalised averages are."""
        kept = [
            graph.dropout(drop_node, derive_key(key, draw)).mask_like(graph.zeros(1)) > 0 for draw in range(_DRAWS)
        ]
        self.node_squares = graph.zeros(1)
        for first in range(0, graph.num_features, _COLUMNS):
            chosen = slice(first, min(first + _COLUMNS, graph.num_features))
            columns = _columns(graph, chosen)
            averages = torch.stack([average(graph.adjacency, columns * one) for one in kept])
            self.mean[chosen] = averages.mean(dim=(0, 1))
            variance = averages.var(dim=1, correction=0).mean(dim=0)
            self.deviation[chosen] = (variance + _LEAST_VARIANCE).sqrt()
            squares = averages.sub_(self.mean[chosen]).div_(self.deviation[chosen]).square_()
            self.squares[chosen] = squares.mean(dim=(0, 1))
            self.node_squares += squares.mean(dim=0).sum(dim=1, keepdim=True)
        self.node_squares /= graph.num_features
        self.squares /= self.squares.mean().clamp(min=torch.finfo(torch.float32).tiny)

    def folded(self, weight: Tensor) -> Tensor:
        """(F, D) what the features are to be multiplied with in place of the weight."""
        return weight * (self.scale / self.deviation)[:, None]

    def bias(self, weight: Tensor) -> Tensor:
        """(D,) what is to be added after the propagation."""
        return (self.shift - self.mean * self.scale / self.deviation) @ weight

    def noise(self, graph: Placement, weight: Tensor, rate: float, key: int) -> Tensor:
        """(N, D) what dropout of the averages adds to their product with the weight."""
        assert self.node_squares is not None, "A network is prepared for a graph before it is trained."
        squared = weight.square()
        by_node, for_all = (self.squares * self.scale.square()) @ squared, self.shift.square() @ squared
        # Nothing is dropped of a sum that is zero; the root's slope there is not finite.
        variance = torch.addcmul(for_all + _LEAST_NOISE, self.node_squares, by_node) * (rate / (1 - rate))
        return variance.sqrt() * noise_like(variance, graph.dropout(rate, key, "input"))


def _columns(graph: Placement, chosen: slice) -> Tensor:
    """(N, D) some columns of the features, dense."""
    if isinstance(graph.features, Tensor):
        return graph.features[:, chosen].contiguous()
    selection = torch.zeros(graph.num_features, chosen.stop - chosen.start, device=graph.device)
    selection[chosen].fill_diagonal_(1)
    return dropped_product(graph.features, selection, NO_DROPOUT)
