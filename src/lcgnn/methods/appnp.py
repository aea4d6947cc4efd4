"""APPNP: a perceptron whose answers personalised PageRank averages over the graph (Klicpera et al. 2019).

Width, dropout, steps, alpha, learning rate, the penalty on the first layer alone and the patience of 100 epochs
are the paper's. What departs from the original: there is no dropout on the entries of the adjacency, which
would need a mask for every edge and step; the layers have biases; and there are at most 500 epochs instead of
10,000, so that a fit that keeps its last epoch, for which patience cannot act, has a sensible length. On the
validation nodes of Cora that loses nothing (80.6 % against 80.7 % with at most 1,500, Citeseer 73.7 against
73.1 %; three seeds).

With ``smoothing`` the perceptron's answers are averaged by SSGC's mean of the powers (Zhu and Koniusz 2021) or
by SGC's last power instead; ``sgc`` is SGC itself, with a linear layer and no dropout.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.appnp import APPNP
from lcgnn.networks.propagation import Smoothing


@register_network("appnp", "APPNP")
@dataclass(frozen=True)
class APPNPMethod(TwoPhase):
    """A perceptron of 64 hidden units, then ten steps of personalised PageRank."""

    base_epochs: int = setting(500, "Epochs of the first phase.")
    base_stop_window: int = setting(
        0,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    epochs: int = setting(500, "Epochs of the second phase.")
    weight_decay: float = setting(5e-3, "L2 penalty on the first layer's weights.", at_least=0)
    base_patience: int = setting(
        100,
        "Stop the first phase after so many epochs without a better validation loss or accuracy; 0: never.",
        at_least=0,
    )
    patience: int = setting(100, "The same for the second phase.", at_least=0)
    hidden: int = setting(64, "Width of the hidden layer.", at_least=1)
    dropout: float = setting(0.5, "Dropout rate on the hidden layer.", at_least=0, below=1)
    input_dropout: float = setting(0.5, "Dropout rate on the features.", at_least=0, below=1)
    steps: int = setting(10, "Steps over the edges (the paper's K).", at_least=1, at_most=1000)
    teleport: float = setting(
        0.1, "The share of a node's own answer in every step (the paper's alpha).", above=0, at_most=1
    )
    smoothing: Smoothing = setting(
        "personalized",
        "How answers are averaged: by personalised PageRank, by the 'mean' of the powers of the adjacency (SSGC) "
        "or by its last 'power' (SGC).",
    )

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> APPNP:
        return APPNP(
            num_features,
            num_classes,
            hidden=self.hidden,
            dropout=self.dropout,
            input_dropout=self.input_dropout,
            steps=self.steps,
            teleport=self.teleport,
            smoothing=self.smoothing,
            generator=generator,
        )

    def decays(self) -> dict[str, float]:
        return {"weight_0": self.weight_decay}
