"""MoNet: Gaussian mixture kernels over the degrees of neighbouring nodes (Monti et al. 2017).

Settings: 3 kernels and 32 hidden units, as others found good on these graphs; epochs, dropout and weight decay
were chosen by validation accuracy among dropout 0.5, 0.7, 0.8, 0.9 and weight decay 0.001, 0.003, 0.005, 0.01, not
in all combinations (PubMed's are in ``defaults.toml``).

What departs from the original: a node is its own neighbour, messages are averaged rather than added (which was
better on validation, and is what PyTorch Geometric's layer does), and the epoch is chosen by validation accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.monet import MoNet
from lcgnn.training.loop import Selection


@register_network("monet", "MoNet")
@dataclass(frozen=True)
class MoNetMethod(TwoPhase):
    """Two mixture layers of 3 kernels and 32 hidden units, strong dropout and weight decay."""

    base_epochs: int = setting(300, "Epochs of the first phase.")
    base_selection: Selection = setting("accuracy", "Which epoch of the base to report: accuracy, loss or last.")
    base_stop_window: int = setting(
        0,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    weight_decay: float = setting(0.005, "L2 penalty on all parameters.", at_least=0)
    kernels: int = setting(3, "Gaussian kernels of each layer.", at_least=1)
    hidden: int = setting(32, "Width of the hidden layer.", at_least=1)
    dropout: float = setting(0.7, "Dropout rate on features and hidden layer.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> MoNet:
        return MoNet(
            num_features,
            num_classes,
            kernels=self.kernels,
            hidden=self.hidden,
            dropout=self.dropout,
            generator=generator,
        )
