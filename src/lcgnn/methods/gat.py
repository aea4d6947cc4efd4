"""GAT* and LC-GAT: the graph attention network with the settings of the LC-GNN paper."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.gat import GAT


@register_network("gat", "GAT")
@dataclass(frozen=True)
class GATMethod(TwoPhase):
    """Two attention layers, 8 heads of 8 hidden units, dropout 0.6 everywhere.

    The learning rate is the paper's 0.005; the authors' code uses 0.01 (see ``defaults.toml``).
    """

    base_epochs: int = setting(1000, "Epochs of the first phase.")
    base_stop_window: int = setting(
        100,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    epochs: int = setting(2000, "Epochs of the second phase.")
    learning_rate: float = setting(0.005, "Adam's learning rate.", at_least=0)
    hidden: int = setting(8, "Width of each head of the first layer.", at_least=1)
    heads: int = setting(8, "Attention heads of the first layer.", at_least=1)
    output_heads: int = setting(1, "Attention heads of the second layer, which are averaged.", at_least=1)
    dropout: float = setting(0.6, "Dropout rate on input, hidden layer and attention.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> GAT:
        return GAT(
            num_features,
            num_classes,
            hidden=self.hidden,
            heads=self.heads,
            output_heads=self.output_heads,
            dropout=self.dropout,
            generator=generator,
        )
