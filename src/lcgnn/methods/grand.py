"""GRAND (Feng et al. 2020), alone and as the base of label consistency.

Random propagation: in every step the features of half of the nodes are dropped, what is left is averaged over up
to K steps along the edges, and a perceptron classifies the result. Several such samples a step are trained for the
labels and brought to agree on all nodes, labelled or not. Width, steps, samples, temperature, weight, rates and
patience are those of the authors' scripts (THUDM/GRAND); see ``defaults.toml``.

What departs from the original: features are projected before they are propagated, so that dropout on the input
acts on the features themselves and not on their averages, and there is no batch normalisation, which the
original has on PubMed alone; ``normalized`` brings both back, without the averages
(``networks/averaged_norm.py``). As there, the epoch of the lowest validation loss is kept, and training ends
when neither it nor the accuracy has improved for so many epochs.

``confidence`` is not the original's: with few labels the first predictions are hardly better than chance, and
bringing them to agree makes that worse. Following GRAND+ (Feng et al. 2022), nodes count once their mean
prediction gives a class at least ``confidence`` times what chance would. Neither are ``smoothing`` and
``averaged_weights``, which are off: what they are worth is in docs/grand.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.grand import GRAND, GRANDSmoothing
from lcgnn.training.loop import Phase


@register_network("grand", "GRAND")
@dataclass(frozen=True)
class GRANDMethod(TwoPhase):
    """A perceptron of 32 hidden units on randomly propagated features, whose predictions are to agree."""

    base_epochs: int = setting(500, "Epochs of the first phase.")
    base_stop_window: int = setting(
        0,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    base_patience: int = setting(
        200,
        "Stop the first phase after so many epochs without a better validation loss or accuracy; 0: never.",
        at_least=0,
    )
    epochs: int = setting(300, "Epochs of the second phase.")
    patience: int = setting(100, "The same as base_patience, for the second phase.", at_least=0)
    hidden: int = setting(32, "Width of the hidden layer.", at_least=1)
    steps: int = setting(8, "How far features are propagated (the paper's K).", at_least=1, at_most=1000)
    samples: int = setting(4, "Random propagations a step (the paper's S).", at_least=1, at_most=100)
    temperature: float = setting(
        0.5, "Of the mean prediction that all samples are brought to; below 1 it is sharper.", above=0, at_most=1
    )
    agreement_weight: float = setting(1.0, "Weight of the samples' agreement (the paper's lambda).", at_least=0)
    confidence: float = setting(
        2.0,
        "Nodes count in the agreement once a class has so many times chance's probability, or one halfway from "
        "chance to 1 where that is no probability; 0: all (the paper).",
        at_least=0,
    )
    drop_node: float = setting(0.5, "Probability that a node's features are dropped.", at_least=0, below=1)
    dropout: float = setting(0.5, "Dropout rate on the hidden layer.", at_least=0, below=1)
    input_dropout: float = setting(0.5, "Dropout rate on the features.", at_least=0, below=1)
    normalized: bool = setting(
        False,
        "Whether averaged features and hidden layer are batch-normalised, as in the original on PubMed; dropout "
        "on the features then acts on their averages. Trains on the whole graph only.",
        added="0.3",
    )
    smoothing: GRANDSmoothing = setting(
        "mean",
        "How features are averaged over the edges: by the 'mean' of the powers of the adjacency (the paper) or by "
        "'personalized' PageRank.",
        added="0.3",
    )
    teleport: float = setting(
        0.1,
        "The share of a node's own features in every step of personalised PageRank (its alpha).",
        above=0,
        at_most=1,
        added="0.3",
    )
    averaged_weights: float = setting(
        0.0,
        "Answer with the mean of the weights over the epochs, each of which counts so many times what the next "
        "one does; 0: with the weights of one epoch (the paper).",
        at_least=0,
        below=1,
        added="0.3",
    )

    @property
    def passes_a_step(self) -> int:
        return self.samples

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
            normalized=self.normalized,
            smoothing=self.smoothing,
            teleport=self.teleport,
            generator=generator,
        )

    def base_phase(self) -> Phase:
        return replace(super().base_phase(), averaging=self.averaged_weights)

    def second_phase(self) -> Phase | None:
        second = super().second_phase()
        return second and replace(second, averaging=self.averaged_weights)
