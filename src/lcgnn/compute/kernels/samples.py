"""Several predictions of every node that are to agree (GRAND): how far apart they are, and its gradient."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.backend import fused


def disagreement(logits: Tensor, temperature: float, surest: float = 0.0) -> tuple[float, Tensor]:
    r"""The sum of :math:`|Z^{(s)}_i - \bar Z'_i|^2` over nodes and samples, and its gradient (S, N, C).

    :math:`\bar Z'` is the mean of the samples' softmax, sharpened: to the power of 1 / temperature and
    normalised. It is a target and has no gradient.

    Args:
        logits: (S, N, C).
        temperature: Of the mean; 1 leaves it as it is.
        surest: Nodes whose mean's largest probability is below this count nothing.
    """
    if not fused(logits):
        return _disagreement_plain(logits, temperature, surest)
    from lcgnn.compute.kernels.compiled import samples

    gradient = torch.empty(logits.shape)
    arrays = logits.contiguous().numpy(), np.float32(temperature), np.float32(surest), gradient.numpy()

    def of_rows(rows: slice) -> float:
        return samples.disagreement(*arrays, rows.start, rows.stop)

    return threads.sum_over_rows(of_rows, logits.shape[1]), gradient


def _disagreement_plain(logits: Tensor, temperature: float, surest: float) -> tuple[float, Tensor]:
    leaf = logits.detach().requires_grad_()
    with torch.enable_grad():
        predictions = torch.softmax(leaf, dim=2)
        mean = predictions.detach().mean(dim=0)
        sharpened = torch.softmax(mean.log() / temperature, dim=1)
        counted = (mean.amax(dim=1) >= surest).to(logits.dtype)
        loss = ((predictions - sharpened).square().sum(dim=(0, 2)) * counted).sum()
    (gradient,) = torch.autograd.grad(loss, leaf)
    return loss.item(), gradient
