"""DAGNN: a perceptron whose answers every node weighs by their distance, with gates (Liu, Gao and Ji 2020).

Width, learning rate, steps, dropout and weight decay are those of the authors' scripts (``defaults.toml``); a
graph that is not there gets Cora's. Of the first phase the epoch with the lowest validation loss is kept, as
they do. They train for at most 1,000 epochs and stop, from half of them on, as soon as the validation loss
exceeds its mean over 100 epochs: in trials that was after 501 to 505 epochs on all three benchmarks. So there
are 500, without a stop, and a fit that keeps its last epoch has a length that does not depend on validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.dagnn import DAGNN


@register_network("dagnn", "DAGNN")
@dataclass(frozen=True)
class DAGNNMethod(TwoPhase):
    """A perceptron of 64 hidden units, ten steps over the edges, and a gate for each."""

    base_epochs: int = setting(500, "Epochs of the first phase.")
    base_stop_window: int = setting(
        0,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    epochs: int = setting(500, "Epochs of the second phase.")
    weight_decay: float = setting(5e-3, "L2 penalty on all parameters.", at_least=0)
    patience: int = setting(
        100,
        "Stop the second phase after so many epochs without a better validation loss or accuracy; 0: never.",
        at_least=0,
    )
    hidden: int = setting(64, "Width of the hidden layer.", at_least=1)
    dropout: float = setting(0.8, "Dropout rate on features and hidden layer.", at_least=0, below=1)
    steps: int = setting(10, "Steps over the edges (the paper's K).", at_least=1, at_most=1000)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> DAGNN:
        return DAGNN(
            num_features,
            num_classes,
            hidden=self.hidden,
            dropout=self.dropout,
            steps=self.steps,
            generator=generator,
        )
