"""Planetoid (Yang, Cohen and Salakhutdinov 2016): features and an embedding of the graph, trained together.

The embedding of a node predicts its context: nodes near it on random walks, and training nodes with its label,
against random others. A softmax layer over the features and one over the embedding each classify, and a third
combines their answers; all three are trained on the training labels. In the transductive form (``planetoid``) the
embedding is free, in the inductive one (``planetoid-i``) it is made of the features, so that ``classify_features``
classifies nodes that were not in the graph. The paper's table holds the better of the two forms for each graph.

Settings: dimension 50, window 3 and walks of 10 steps are the paper's. The rest was chosen by validation accuracy
on Cora and Citeseer, one seed each: number of pairs, penalty (15 to 60; inductive 10 and 30), weight decay (0 to
0.005), weight of the context loss; PubMed has twice as many walks an epoch because it has seven times the nodes.

What departs from the original: negative sampling instead of a softmax over all nodes; Adam instead of gradient
descent; after a phase on the context alone both losses are in every step, where the original alternates; dropout
on the features; an L2 penalty on embeddings and contexts, without which the embedding learns the walks by heart
(62 % instead of 73 % of Cora's validation nodes, by logistic regression on the embedding); and the epoch is chosen
by validation, where the published code reports the best test accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.device import resolve_device
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Features, Graph, Split
from lcgnn.methods.base import Context, Fit, Method, register, setting
from lcgnn.methods.classical import node_features
from lcgnn.methods.phases import fit_in_phases, nodes_on
from lcgnn.networks.planetoid import ContextSampler, Planetoid, answers, embed_features
from lcgnn.training.loop import Phase, Selection
from lcgnn.training.objectives import JointCrossEntropy, Objective


@register("planetoid", "Features and a graph embedding, trained together (Planetoid-T).", inductive=False)
@register(
    "planetoid-i",
    "Planetoid whose embedding is made of the features: classifies unseen nodes (Planetoid-I).",
    family="planetoid",
    inductive=True,
    penalty=10.0,
)
@dataclass(frozen=True)
class PlanetoidMethod(Method):
    """An embedding that predicts the context of every node, and two softmax layers whose answers are combined."""

    inductive: bool = setting(False, "Make the embedding of the features, to classify nodes unseen in training.")
    dimension: int = setting(50, "Length of a node's embedding.", at_least=1)
    walks: int = setting(1000, "Random walks an epoch.")
    length: int = setting(10, "Steps of each walk.", at_least=1)
    window: int = setting(3, "Nodes of a walk at most so many steps apart are each other's context.", at_least=1)
    label_pairs: int = setting(
        1000, "Pairs of equally labelled training nodes an epoch.", at_least=0, at_most=10**7
    )
    negatives: int = setting(2, "Random pairs for each pair that belongs together.", at_least=0, at_most=1000)
    penalty: float = setting(30.0, "L2 penalty on embeddings and contexts, beside the loss of one walk a node.")
    dropout: float = setting(0.5, "Dropout rate on the features.", at_least=0, below=1)
    context_weight: float = setting(1.0, "Weight of the context loss beside the classification loss.")
    base_epochs: int = setting(200, "Epochs on the context alone, before the classes come in.")
    epochs: int = setting(400, "Epochs on context and classes.")
    selection: Selection = setting(
        "accuracy",
        "Which epoch to keep: by validation accuracy, by validation loss, or the last (needs no validation).",
    )
    learning_rate: float = setting(0.01, "Adam's learning rate.", at_least=0)
    weight_decay: float = setting(1e-5, "L2 penalty on the weights of the features.", at_least=0)

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        context = context or Context()
        split.check(graph)
        tensors = GraphTensors(graph, resolve_device(context.device))
        network = self._network(graph, split, seed).to(tensors.device)
        phases = self._phases(tensors, nodes_on(tensors, split.train))
        fit = fit_in_phases(network, tensors, nodes_on(tensors, split.validation), seed, context, phases)
        # The phase on the context alone classifies nothing.
        return replace(fit, stages=fit.stages[-1:])

    def apply(self, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto") -> NDArray[np.float32]:  # noqa: ARG002
        return classify_features(fitted, node_features(graph))

    def _phases(self, graph: GraphTensors, train: Tensor) -> list[tuple[Phase, Objective]]:
        phases: list[tuple[Phase, Objective]] = []
        if self.base_epochs:
            alone = Phase("context", self.base_epochs, self.learning_rate, 0.0, "last")
            phases.append((alone, JointCrossEntropy(graph, train, class_weight=0.0)))
        together = Phase(
            "planetoid",
            self.epochs,
            self.learning_rate,
            self.weight_decay,
            self.selection,
            decays={"feature_weight": self.weight_decay},
        )
        phases.append((together, JointCrossEntropy(graph, train, extra_weight=self.context_weight)))
        return phases

    def _network(self, graph: Graph, split: Split, seed: int) -> Planetoid:
        sampler = ContextSampler(
            graph.adjacency,
            split.train,
            graph.labels[split.train],
            walks=self.walks,
            length=self.length,
            window=self.window,
            label_pairs=self.label_pairs,
            negatives=self.negatives,
        )
        return Planetoid(
            graph.num_features,
            graph.num_classes,
            graph.num_nodes,
            sampler,
            inductive=self.inductive,
            dimension=self.dimension,
            penalty=self.penalty,
            dropout=self.dropout,
            generator=torch.Generator().manual_seed(seed),
        )


@torch.no_grad()
def classify_features(fitted: Mapping[str, Tensor], features: Features) -> NDArray[np.float32]:
    """(M, C) what a fitted planetoid-i says of M nodes that it has not seen, by their features alone.

    Args:
        fitted: ``Fit.tensors`` of the method.
        features: (M, F), scaled as those of the graph that it was fitted to.
    """
    embedding = fitted["embedding"]
    if embedding.shape[0] != fitted["feature_weight"].shape[0]:
        raise ConfigError(
            "Only the inductive form of Planetoid classifies nodes that it has not seen. Fit 'planetoid-i'."
        )
    if features.shape[1] != embedding.shape[0]:
        raise DataError(f"The nodes have {features.shape[1]} features; the model knows {embedding.shape[0]}.")
    sparse = isinstance(features, csr_array)
    given = (
        SparseMatrix.of(features.astype(np.float32), torch.device("cpu"))
        if sparse
        else torch.tensor(features, dtype=torch.float32)
    )
    logits, _, _ = answers(fitted, given, embed_features(fitted, given))
    return torch.softmax(logits, dim=1).numpy()
