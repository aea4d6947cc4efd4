"""MLP and LC-MLP: a perceptron on the features, alone and as the base of label consistency.

Width, dropout rate, learning rate and weight decay are those of Kipf and Welling (2017), whose MLP the paper's
table quotes. As there, dropout acts on the features as well as on the hidden layer; on the validation nodes this
is the better choice on all three benchmarks (Cora 60.7 against 56.6 without, Citeseer 56.5 against 55.9, PubMed
72.4 against 71.4). It departs from them in its weight decay, which covers both layers, and in keeping the best
of all 200 epochs by validation accuracy instead of stopping early. Label consistency's weight is the paper's for
GCN (see ``defaults.toml``).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.mlp import MLP
from lcgnn.training.loop import Selection


@register_network("mlp", "MLP")
@dataclass(frozen=True)
class MLPMethod(TwoPhase):
    """Two layers of 16 hidden units, dropout 0.5 on features and hidden layer."""

    base_selection: Selection = setting("accuracy", "Which epoch of the base to report: accuracy, loss or last.")
    base_stop_window: int = setting(
        0,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    hidden: int = setting(16, "Width of the hidden layer.", at_least=1)
    dropout: float = setting(0.5, "Dropout rate on the hidden layer.", at_least=0, below=1)
    input_dropout: float = setting(0.5, "Dropout rate on the features.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> MLP:
        return MLP(
            num_features,
            num_classes,
            hidden=self.hidden,
            dropout=self.dropout,
            input_dropout=self.input_dropout,
            generator=generator,
        )
