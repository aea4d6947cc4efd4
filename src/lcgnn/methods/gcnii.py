"""GCNII: many graph convolutions, each of which keeps a share of the first layer (Chen et al. 2020).

On the benchmarks, layers, width, lambda, dropout and the two weight decays are those of the authors' scripts
(``defaults.toml``), as are alpha, the learning rate, the patience of 100 epochs and the choice by validation
loss. Any other graph gets 8 layers of 64 units, of which training keeps 2.3 kB for every node. What departs
from the original: patience also counts a better validation accuracy; the dense layers start from Glorot's
weights and zero biases; and there are at most 500 epochs instead of 1,500, so that a fit that keeps its last
epoch, for which patience cannot act, has a sensible length.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.gcnii import GCNII


@register_network("gcnii", "GCNII")
@dataclass(frozen=True)
class GCNIIMethod(TwoPhase):
    """Eight graph convolutions of 64 units between two dense layers."""

    base_epochs: int = setting(500, "Epochs of the first phase.")
    base_stop_window: int = setting(
        0,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    epochs: int = setting(300, "Epochs of the second phase.")
    weight_decay: float = setting(5e-4, "L2 penalty on the two dense layers.", at_least=0)
    base_patience: int = setting(
        100,
        "Stop the first phase after so many epochs without a better validation loss or accuracy; 0: never.",
        at_least=0,
    )
    patience: int = setting(100, "The same for the second phase.", at_least=0)
    layers: int = setting(8, "Graph convolutions.", at_least=1, at_most=1000)
    hidden: int = setting(64, "Width of every layer.", at_least=1)
    dropout: float = setting(0.5, "Dropout rate on the features and before every layer.", at_least=0, below=1)
    teleport: float = setting(
        0.1, "The share of the first layer in every convolution (the paper's alpha).", above=0, at_most=1
    )
    strength: float = setting(0.5, "How much the convolutions' weights matter (the paper's lambda).", at_least=0)
    convolution_decay: float = setting(0.01, "L2 penalty on the convolutions' weights.", at_least=0)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> GCNII:
        return GCNII(
            num_features,
            num_classes,
            layers=self.layers,
            hidden=self.hidden,
            dropout=self.dropout,
            teleport=self.teleport,
            strength=self.strength,
            generator=generator,
        )

    def decays(self) -> dict[str, float]:
        dense = ("weight_0", "bias_0", "weight_1", "bias_1")
        return dict.fromkeys(dense, self.weight_decay) | {"convolutions": self.convolution_decay}
