r"""The paper's equations 2 to 6 and Theorem 1, as pure functions of tensors.

Letters as in the paper: :math:`Z` is the (N, C) label distribution of a base model, :math:`P` the row-normalised
:math:`Z Z^\top`, :math:`\hat Z = P Z`, and for the L labelled nodes :math:`N = Z Z^\top` (L, L) and
:math:`M_{ij} = 1` where i and j have the same label. No function here builds an N x N matrix.

Logarithms are taken of ``x + eps`` with the dtype's machine epsilon, so that value and gradient stay finite
when a distribution is exactly one-hot.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Reduction = Literal["mean", "sum"]


def row_normalize(matrix: Tensor) -> Tensor:
    """Divide every row by its sum, Q^-1 T in the paper's words; a row of zeros stays zero."""
    return matrix / matrix.sum(dim=1, keepdim=True).clamp_min(torch.finfo(matrix.dtype).tiny)


def agreement(label_distribution: Tensor) -> Tensor:
    r"""The (C, C) class agreement :math:`Z^\top Z`: all that one node needs to know of the others."""
    return label_distribution.T @ label_distribution


def balanced(class_agreement: Tensor) -> Tensor:
    r"""The class agreement with every class counting the same, however many nodes are of it.

    The sums of :math:`Z^\top Z` over its rows are the classes' sizes D, so that with it :math:`\hat Z` becomes
    :math:`Z D^{-1} Z^\top Z`: :math:`Z D^{-1} Z^\top` is doubly stochastic, and no class draws nodes to it by its size.
    """
    return row_normalize(class_agreement)


def aggregate(label_distribution: Tensor, class_agreement: Tensor | None = None) -> Tensor:
    r"""Average every node's label distribution over all nodes, weighted by agreement (equations 2 and 3).

    .. math:: \hat Z = \mathrm{RowNormalize}(Z Z^\top)\, Z

    computed as RowNormalize(Z (Z^T Z)) (Theorem 1), in O(N C^2).

    Args:
        label_distribution: (N, C), rows sum to one.
        class_agreement: (C, C) of a fitted graph, to aggregate nodes that were not part of it.
    """
    if class_agreement is None:
        class_agreement = agreement(label_distribution)
    return row_normalize(label_distribution @ class_agreement)


def safe_log(probability: Tensor) -> Tensor:
    """The logarithm of a probability, finite with a finite gradient at zero and just below it."""
    return torch.log(probability.clamp_min(0) + torch.finfo(probability.dtype).eps)


def classification_loss(
    aggregated: Tensor, labels: Tensor, nodes: Tensor, reduction: Reduction = "mean"
) -> Tensor:
    r"""Cross-entropy of :math:`\hat Z` at the given nodes (equation 5; the authors' code averages, too)."""
    log_likelihood = safe_log(aggregated[nodes].gather(1, labels[nodes, None]))
    return _reduce(-log_likelihood, reduction)


def same_label(labels: Tensor) -> Tensor:
    """The (L, L) label consistency matrix M among labelled nodes: true where two labels are equal."""
    return labels[:, None] == labels[None, :]


def regularization_loss(labelled_distribution: Tensor, labels: Tensor, reduction: Reduction = "mean") -> Tensor:
    r"""How badly agreement among labelled nodes matches their labels (equation 6).

    .. math:: L_R = -\sum_{i,j} M_{ij} \ln N_{ij} + (1 - M_{ij}) \ln (1 - N_{ij})

    over all ordered pairs, i = j included. The paper writes the sum; its weights (lambda 1 and 2) belong to the
    mean, which is the default here.

    Args:
        labelled_distribution: (L, C) rows of Z at the labelled nodes.
        labels: (L,) their labels.
    """
    pairwise = labelled_distribution @ labelled_distribution.T  # (L, L)
    log_likelihood = safe_log(torch.where(same_label(labels), pairwise, 1 - pairwise))
    return _reduce(-log_likelihood, reduction)


def label_consistency_loss(
    label_distribution: Tensor,
    labels: Tensor,
    nodes: Tensor,
    weight: float = 1.0,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""The full loss :math:`L_C + \lambda L_R` (equation 4) from the base model's label distribution.

    Args:
        label_distribution: (N, C), rows sum to one.
        labels: (N,) only those of ``nodes`` are read.
        nodes: (L,) the labelled nodes.
        weight: The paper's lambda; 0 leaves the regulariser out.
        reduction: Mean or sum over nodes and over pairs.
    """
    loss = classification_loss(aggregate(label_distribution), labels, nodes, reduction)
    if weight:
        loss = loss + weight * regularization_loss(label_distribution[nodes], labels[nodes], reduction)
    return loss


def _reduce(values: Tensor, reduction: Reduction) -> Tensor:
    return values.mean() if reduction == "mean" else values.sum()
