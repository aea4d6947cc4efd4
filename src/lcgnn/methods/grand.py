"""GRAND and LC-GRAND."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.grand import GRAND


@register_network("grand", "GRAND")
@dataclass(frozen=True)
class GRANDMethod(TwoPhase):
    """Random propagation, and predictions that agree."""

    base_epochs: int = setting(5000, "Epochs of the first phase.")
    base_stop_window: int = setting(
        0, "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never."
    )
    base_patience: int = setting(
        200,
        "Stop the first phase after so many epochs without a better validation loss or accuracy; 0: never.",
        at_least=0,
    )
    hidden: int = setting(32, "Width of the hidden layer.", at_least=1)
    steps: int = setting(8, "How far features are propagated (K).", at_least=1, at_most=1000)
    samples: int = setting(4, "Random propagations a step (S).", at_least=1, at_most=100)
    temperature: float = setting(0.5, "Of the sharpened mean of the predictions.")
    agreement_weight: float = setting(1.0, "Weight.", at_least=0)
    confidence: float = setting(0.0, "conf", at_least=0)
    drop_node: float = setting(0.5, "Probability that a node's features are dropped.", at_least=0, below=1)
    dropout: float = setting(0.5, "Dropout rate on the hidden layer.", at_least=0, below=1)
    input_dropout: float = setting(0.5, "Dropout rate on the features.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> GRAND:
        return GRAND(
            num_features,
            num_classes,
            hidden=self.hidden,
            steps=self.steps,
            samples=self.samples,
            temperature=self.temperature,
            agreement_weight=self.agreement_weight,
            confidence=self.confidence,
            drop_node=self.drop_node,
            dropout=self.dropout,
            input_dropout=self.input_dropout,
            generator=generator,
        )
