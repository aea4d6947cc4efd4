"""GCN* and LC-GCN: the graph convolutional network with the settings of the LC-GNN paper."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.gcn import GCN


@register_network("gcn", "GCN")
@dataclass(frozen=True)
class GCNMethod(TwoPhase):
    """Two graph convolutions of 16 hidden units, dropout 0.5 on the hidden layer."""

    hidden: int = setting(16, "Width of the hidden layer.", at_least=1)
    dropout: float = setting(0.5, "Dropout rate on the hidden layer.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> GCN:
        return GCN(num_features, num_classes, hidden=self.hidden, dropout=self.dropout, generator=generator)
