"""How well embeddings predict their context: the loss over pairs of nodes, with its gradient in the same pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels import fused


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of nodes that belong together, or do not.

    Args:
        nodes: (P,) whose embedding is trained.
        contexts: (P,) the node in whose context it stands.
        signs: (P,) 1 where the two belong together, -1 where not.
    """

    nodes: NDArray[np.int64]
    contexts: NDArray[np.int64]
    signs: NDArray[np.float32]


def context_loss(embedding: Tensor, context: Tensor, pairs: Pairs) -> Tensor:
    r"""The sum of :math:`-\ln \sigma(s\, e_i \cdot c_j)` over pairs (i, j) of sign s.

    Args:
        embedding: (N, D).
        context: (N, D).
        pairs: Of nodes.
    """
    loss: Tensor
    if fused(embedding, context):
        from lcgnn.compute.kernels.compiled.context import ContextLoss

        loss = ContextLoss.apply(embedding, context, pairs)  # type: ignore[no-untyped-call]
        return loss
    nodes, contexts, signs = (
        torch.from_numpy(array).to(embedding.device) for array in (pairs.nodes, pairs.contexts, pairs.signs)
    )
    agreement = signs * (embedding[nodes] * context[contexts]).sum(dim=1)
    loss = torch.nn.functional.softplus(-agreement).sum()
    return loss
