"""Losses and scores straight from logits, with their gradient: label consistency's and plain cross-entropy's.

Of label consistency, only labelled nodes are ever aggregated explicitly: the others enter through the (C, C) class
agreement and its gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from lcgnn import consistency
from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.backend import Constant, constant, fused
from lcgnn.compute.kernels.divided_objective import Softmax, loss_and_gradient
from lcgnn.consistency import Reduction
from lcgnn.errors import InputError

_NO_NODES = np.empty(0, np.int64)
_NO_ROWS = np.empty((0, 0), np.float32)


def label_consistency_loss(
    logits: Tensor, labels: Tensor, nodes: Tensor, weight: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """The loss of equation 4 straight from a base model's logits; see ``consistency.label_consistency_loss``."""
    _check_nodes(logits, labels, nodes)
    labels, nodes = labels.long(), nodes.long()
    if fused(logits):
        given = logits, labels, nodes, weight, reduction
        loss: Tensor = _LabelConsistencyLoss.apply(*given)  # type: ignore[no-untyped-call]
        return loss
    distribution = torch.softmax(logits, dim=1)
    return consistency.label_consistency_loss(distribution, labels, nodes, weight, reduction)


def _check_nodes(logits: Tensor, labels: Tensor, nodes: Tensor) -> None:
    """Refuse nodes that are not there, and labels that are no classes: compiled passes look nothing up twice."""
    if logits.dim() != 2:
        raise InputError(
            f"logits: of shape {tuple(logits.shape)}. Give a row for each node, a column for each class."
        )
    num_nodes, num_classes = logits.shape
    for name, numbers in (("nodes", nodes), ("labels", labels)):
        if numbers.dim() != 1 or numbers.dtype not in (torch.int64, torch.int32, torch.int16):
            kind = str(numbers.dtype).removeprefix("torch.")
            raise InputError(
                f"{name}: {kind} of shape {tuple(numbers.shape)}. Give whole numbers in one dimension."
            )
    if labels.shape[0] != num_nodes:
        raise InputError(f"{labels.shape[0]} labels for {num_nodes} rows of logits. Give one for each node.")
    if not nodes.shape[0]:
        raise InputError("There are no labelled nodes to take the loss at.")
    low, high = (int(bound) for bound in nodes.aminmax())
    if not 0 <= low <= high < num_nodes:
        raise InputError(f"nodes: {low if low < 0 else high} is none of the {num_nodes} nodes.")
    low, high = (int(bound) for bound in labels[nodes.long()].aminmax())
    if not 0 <= low <= high < num_classes:
        raise InputError(
            f"labels: {low if low < 0 else high} is none of the {num_classes} classes. Leave out nodes without a "
            "label."
        )


def label_consistency_scores(logits: Tensor, labels: Tensor, nodes: Tensor) -> tuple[float, int]:
    """Mean cross-entropy of the aggregated distribution at the nodes, and how many of them it gets right."""
    if fused(logits) and threads.is_one_block(logits.shape[0]):
        loss, correct = _kernels().scores(*_Softmax.of(logits), labels.numpy(), nodes.numpy())
        return loss, correct
    aggregated = consistency.aggregate(torch.softmax(logits[nodes], dim=1), class_agreement(logits)[0])
    every = torch.arange(nodes.shape[0], device=logits.device)
    loss = consistency.classification_loss(aggregated, labels[nodes], every).item()
    return loss, int((aggregated.argmax(dim=1) == labels[nodes]).sum())


def class_agreement(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """The (C, C) class agreement of these rows, and what carries its gradient back to their logits (N, C)."""
    if not fused(logits):
        return _class_agreement_plain(logits)
    if not threads.is_one_block(logits.shape[0]):
        return _class_agreement_divided(logits)
    found = _Softmax.of(logits)

    def carry_back(gradient: Tensor) -> Tensor:
        return found.logits_gradient(logits.shape, gradient.contiguous().numpy(), np.zeros_like(found.totals))

    return torch.from_numpy(found.agreement), carry_back


def _class_agreement_divided(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    softmax = Softmax.of(logits)

    def carry_back(gradient: Tensor) -> Tensor:
        grad_sums = np.vstack([gradient.numpy(), np.zeros_like(softmax.sums[:1])])
        return softmax.carried_back(grad_sums, logits.shape[0])

    return torch.from_numpy(softmax.agreement), carry_back


def _class_agreement_plain(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    distribution = torch.softmax(logits.detach(), dim=1)

    def carry_back(gradient: Tensor) -> Tensor:
        by_distribution = distribution @ (gradient + gradient.T)
        return distribution * (by_distribution - (distribution * by_distribution).sum(dim=1, keepdim=True))

    return consistency.agreement(distribution), carry_back


def label_consistency_gradient(
    logits: Tensor, labels: Tensor, nodes: Tensor, weight: float, reduction: Reduction
) -> tuple[float, Tensor]:
    """The fused loss and its gradient (N, C) by the logits, without autograd."""
    count = nodes.shape[0] if reduction == "mean" else 1
    if not threads.is_one_block(logits.shape[0]):
        return loss_and_gradient(logits, labels, nodes, 1.0 / count, weight / count**2)
    found, chosen = _Softmax.of(logits), nodes.numpy()
    loss, distribution, by_distribution, by_agreement, by_totals = _kernels().loss_and_gradients(
        *found, labels.numpy(), chosen, 1.0 / count, weight / count**2
    )
    given = by_agreement, by_totals, chosen, distribution, by_distribution
    return loss, found.logits_gradient(logits.shape, *given)


class _Softmax(NamedTuple):
    """Z of all rows in blocks with what the compiled passes after it need, in the order of their arguments."""

    classes: Constant
    blocks: NDArray[np.float32]
    agreement: NDArray[np.float32]
    totals: NDArray[np.float32]

    @classmethod
    def of(cls, logits: Tensor) -> _Softmax:
        classes = constant(logits.shape[1])
        return cls(classes, *_kernels().softmax(classes, _array(logits)))

    def logits_gradient(
        self,
        shape: Sequence[int],
        by_agreement: NDArray[np.float32],
        by_totals: NDArray[np.float32],
        nodes: NDArray[np.int64] = _NO_NODES,
        distribution: NDArray[np.float32] = _NO_ROWS,
        by_distribution: NDArray[np.float32] = _NO_ROWS,
    ) -> Tensor:
        """(N, C) by the logits, given the gradients by agreement and totals, and by the rows of some nodes."""
        gradient = torch.empty(shape, dtype=torch.float32, device="cpu")
        given = by_agreement, by_totals, nodes, distribution, by_distribution
        _kernels().logits_gradient(self.classes, self.blocks, *given, gradient.numpy())
        return gradient


@cache
def _kernels() -> ModuleType:
    """The compiled passes; whether they work is known by then."""
    from lcgnn.compute.kernels.compiled import agreement

    return agreement


class _LabelConsistencyLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, labels: Tensor, nodes: Tensor, weight: float, reduction: Reduction
    ) -> Tensor:
        loss, gradient = label_consistency_gradient(logits, labels, nodes, weight, reduction)
        ctx.save_for_backward(gradient)
        return torch.tensor(loss, dtype=torch.float32, device="cpu")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_output, None, None, None, None


def _array(logits: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = logits.detach().contiguous().numpy()
    return array


def cross_entropy_scores(logits: Tensor, labels: Tensor, nodes: Tensor) -> tuple[float, int]:
    """Mean cross-entropy of the softmax at the nodes, and how many of them it gets right."""
    if fused(logits):
        from lcgnn.compute.kernels.compiled import cross_entropy

        loss, correct = cross_entropy.scores(_array(logits), labels.numpy(), nodes.numpy())
        return loss, correct
    chosen, expected = logits[nodes], labels[nodes]
    loss = torch.nn.functional.cross_entropy(chosen, expected).item()
    return loss, int((chosen.argmax(dim=1) == expected).sum())


def cross_entropy_gradient(logits: Tensor, labels: Tensor, nodes: Tensor) -> tuple[float, Tensor]:
    """Mean cross-entropy of the softmax at the nodes and its gradient (N, C) by the logits, without autograd."""
    from lcgnn.compute.kernels.compiled import cross_entropy

    gradient = torch.zeros(logits.shape, dtype=torch.float32, device="cpu")
    loss = cross_entropy.loss_and_gradient(_array(logits), labels.numpy(), nodes.numpy(), gradient.numpy())
    return loss, gradient
