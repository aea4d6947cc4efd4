"""How well embeddings predict their context: the loss over pairs of nodes, with its gradient in the same pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.kernels import fused
from lcgnn.kernels.jit import compiled


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
        loss = _ContextLoss.apply(embedding, context, pairs)  # type: ignore[no-untyped-call]
        return loss
    nodes, contexts, signs = (
        torch.from_numpy(array).to(embedding.device) for array in (pairs.nodes, pairs.contexts, pairs.signs)
    )
    agreement = signs * (embedding[nodes] * context[contexts]).sum(dim=1)
    loss = torch.nn.functional.softplus(-agreement).sum()
    return loss


class _ContextLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, embedding: Tensor, context: Tensor, pairs: Pairs) -> Tensor:
        embedding, context = embedding.contiguous(), context.contiguous()
        gradients = torch.zeros_like(embedding), torch.zeros_like(context)
        loss = _loss(
            embedding.numpy(),
            context.numpy(),
            pairs.nodes,
            pairs.contexts,
            pairs.signs,
            *(gradient.numpy() for gradient in gradients),
        )
        ctx.save_for_backward(*gradients)
        return embedding.new_tensor(loss)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None]:
        of_embedding, of_context = ctx.saved_tensors
        return of_embedding * grad_output, of_context * grad_output, None


@compiled
def _loss(
    embedding: NDArray[np.float32],
    context: NDArray[np.float32],
    nodes: NDArray[np.int64],
    contexts: NDArray[np.int64],
    signs: NDArray[np.float32],
    grad_embedding: NDArray[np.float32],
    grad_context: NDArray[np.float32],
) -> float:
    width = embedding.shape[1]
    total = 0.0
    for p in range(nodes.size):
        i, j, sign = nodes[p], contexts[p], signs[p]
        agreement = np.float32(0)
        for k in range(width):
            agreement += embedding[i, k] * context[j, k]
        agreement *= sign
        # With t = e^-|a|: the loss is max(-a, 0) + ln(1 + t), its slope -sigma(-a).
        t = np.exp(-abs(agreement))
        total += max(-agreement, np.float32(0)) + np.log1p(t)
        slope = -sign * (t if agreement > 0 else np.float32(1)) / (np.float32(1) + t)
        for k in range(width):
            grad_embedding[i, k] += slope * context[j, k]
            grad_context[j, k] += slope * embedding[i, k]
    return total
