"""Label consistency around any module that returns logits."""

from __future__ import annotations

from typing import Any, get_args

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels.objective import label_consistency_loss
from lcgnn.consistency import Reduction, aggregate, agreement, safe_log
from lcgnn.errors import ConfigError, InputError


class LabelConsistency(nn.Module):
    r"""Add label consistency to a node classifier in one line.

    The wrapped module's logits become a label distribution Z, every node is averaged with the nodes that agree
    with it, and :math:`\ln \hat Z` comes out: log-probabilities, which ``cross_entropy`` and ``argmax`` take in
    place of logits. Train the base first; from scratch the aggregation pulls all nodes into one class::

        model = LabelConsistency(base, weight=2.0)           # base: trained, returns logits (N, C)
        loss = model.loss(y, train_nodes, x, edge_index)     # the paper's full loss
        predictions = model(x, edge_index).argmax(dim=1)

    Args:
        base: Any module; what it is called with is passed on, what it returns is taken as logits (N, C).
        weight: Weight of the regulariser (the paper's lambda); 0 turns it off.
        reduction: Mean or sum over labelled nodes and their pairs.
    """

    class_agreement: Tensor | None

    def __init__(self, base: nn.Module, weight: float = 1.0, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.base = base
        self.weight = weight
        if reduction not in get_args(Reduction):
            raise ConfigError(f"reduction is {reduction!r}. It can be {' or '.join(get_args(Reduction))}.")
        self.reduction: Reduction = reduction
        self.register_buffer("class_agreement", None)

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        r""":math:`\ln \hat Z` (N, C) for whatever the base module takes."""
        distribution = self.label_distribution(*args, **kwargs)
        frozen = self.class_agreement
        with torch.autocast(distribution.device.type, enabled=False):
            return safe_log(aggregate(distribution, None if frozen is None else frozen.to(distribution.dtype)))

    def label_distribution(self, *args: Any, **kwargs: Any) -> Tensor:
        """Z (N, C): what the base module says alone."""
        return torch.softmax(_in_full(self.base(*args, **kwargs)), dim=1)

    def loss(self, labels: Tensor, nodes: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The full loss at the labelled nodes; what follows ``nodes`` goes to the base module.

        Args:
            labels: (N,) or (N, 1), of which only those of ``nodes`` are read.
            nodes: Numbers of the labelled nodes, or a mask (N,).
        """
        logits = _in_full(self.base(*args, **kwargs))
        labels = labels.view(-1)
        if nodes.dtype in (torch.bool, torch.uint8):
            if nodes.shape != labels.shape[:1]:
                raise InputError(f"nodes: a mask of shape {tuple(nodes.shape)} for {labels.shape[0]} nodes.")
            nodes = nodes.nonzero().view(-1)
        with torch.autocast(logits.device.type, enabled=False):
            return label_consistency_loss(logits, labels, nodes, self.weight, self.reduction)

    @torch.no_grad()
    def freeze_agreement(self, *args: Any, **kwargs: Any) -> None:
        """Keep this graph's (C, C) class agreement, so that nodes of another graph are compared with its nodes."""
        distribution = self.label_distribution(*args, **kwargs)
        with torch.autocast(distribution.device.type, enabled=False):
            self.class_agreement = agreement(distribution)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Make room for a saved agreement: torch loads no buffer where there is none, and misses one that is."""
        saved = state_dict.get(f"{prefix}class_agreement")
        like = next((parameter for parameter in self.base.parameters() if parameter.is_floating_point()), saved)
        self.class_agreement = None if saved is None or like is None else like.new_empty(saved.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)


def _in_full(logits: Tensor) -> Tensor:
    """Logits in single precision at least: sums over all nodes go beyond what half of it can hold."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
