"""The loss of embeddings over pairs of nodes, with its gradient in the same pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels.compiled.jit import compiled
from lcgnn.compute.kernels.compiled.lanes import load, single, spread, store, sums
from lcgnn.compute.kernels.compiled.prefetch import AHEAD, LINE, prefetch
from lcgnn.compute.kernels.context import Pairs


class ContextLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, embedding: Tensor, context: Tensor, pairs: Pairs) -> Tensor:
        embedding, context = embedding.contiguous(), context.contiguous()
        gradients = torch.zeros_like(embedding), torch.zeros_like(context)
        loss = _loss(embedding.shape[1])(
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


@cache
def _loss(width: int) -> Callable[..., float]:
    """The kernel for one width of the embeddings."""

    @compiled
    def context_loss_kernel(
        embedding: NDArray[np.float32],
        context: NDArray[np.float32],
        nodes: NDArray[np.int64],
        contexts: NDArray[np.int64],
        signs: NDArray[np.float32],
        grad_embedding: NDArray[np.float32],
        grad_context: NDArray[np.float32],
    ) -> float:
        total, last = 0.0, nodes.size - 1
        for p in range(nodes.size):
            soon = min(p + AHEAD, last)
            for k in range(0, width, LINE):
                prefetch(embedding, nodes[soon] * width + k)
                prefetch(grad_embedding, nodes[soon] * width + k)
                prefetch(context, contexts[soon] * width + k)
                prefetch(grad_context, contexts[soon] * width + k)
            i, j, sign = nodes[p] * width, contexts[p] * width, signs[p]
            node, neighbour = load(embedding, i, width), load(context, j, width)
            agreement = sign * single(sums(node * neighbour, width))
            # With t = e^-|a|: the loss is max(-a, 0) + ln(1 + t), its slope -sigma(-a).
            t = np.exp(-abs(agreement))
            total += max(-agreement, np.float32(0)) + np.log1p(t)
            slope = spread(-sign * (t if agreement > 0 else np.float32(1)) / (np.float32(1) + t), width)
            store(grad_embedding, i, load(grad_embedding, i, width) + slope * neighbour)
            store(grad_context, j, load(grad_context, j, width) + slope * node)
        return total

    return context_loss_kernel
