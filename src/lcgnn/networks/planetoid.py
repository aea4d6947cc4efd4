"""Planetoid (Yang, Cohen and Salakhutdinov 2016): classes from features and from an embedding of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from lcgnn.compute.kernels.context import Pairs, context_loss
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout, derive_key
from lcgnn.compute.kernels.walks import random_walks
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix, dropped_product
from lcgnn.networks.network import Network, TrainingOutput, glorot


@dataclass(frozen=True, eq=False)
class ContextSampler:
    """Draws pairs of nodes that belong together, on a walk or by their label, and pairs that do not.

    Args:
        adjacency: (N, N) of the graph.
        train: (L,) nodes whose labels are known.
        labels: (L,) theirs.
        walks: Walks a draw.
        length: Steps of each walk.
        window: Nodes of a walk at most so many steps apart belong together.
        label_pairs: Pairs of equally labelled nodes a draw.
        negatives: Pairs that do not belong together, for each that does.
    """

    adjacency: csr_array
    train: NDArray[np.int64]
    labels: NDArray[np.int64]
    walks: int = 200
    length: int = 10
    window: int = 3
    label_pairs: int = 100
    negatives: int = 5

    def draw(self, key: int) -> Pairs:
        """Pairs that are a pure function of the key."""
        generator = np.random.default_rng(key)
        parts = [self._from_walks(generator, derive_key(key, "walks")), self._from_labels(generator)]
        return Pairs(
            np.concatenate([part.nodes for part in parts]),
            np.concatenate([part.contexts for part in parts]),
            np.concatenate([part.signs for part in parts]),
        )

    @property
    def num_starts(self) -> int:
        """How many walks there are, by which the loss over their pairs is divided."""
        return max(min(self.walks, self._connected.size), 1)

    @cached_property
    def _connected(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.diff(self.adjacency.indptr))

    def _from_walks(self, generator: np.random.Generator, key: int) -> Pairs:
        """Nodes near each other on walks from random nodes, each beside random nodes of the graph."""
        starts = generator.permutation(self._connected)[: self.walks]
        walks = random_walks(self.adjacency, starts, self.length + 1, key).astype(np.int64)
        places = np.arange(self.length + 1)
        apart = abs(places[:, None] - places)
        centre, near = np.nonzero((apart > 0) & (apart <= self.window))
        nodes, contexts = walks[:, centre].ravel(), walks[:, near].ravel()
        strangers = generator.integers(self.adjacency.shape[0], size=(self.negatives, nodes.size))
        return _pairs(nodes, contexts, strangers)

    def _from_labels(self, generator: np.random.Generator) -> Pairs:
        """Training nodes of the same class, each beside training nodes of other classes."""
        if np.unique(self.labels).size < 2:
            return _pairs(*(np.empty(0, np.int64),) * 2, np.empty((0, 0), np.int64))
        order = np.argsort(self.labels, kind="stable")
        sizes = np.bincount(self.labels)
        first = np.cumsum(sizes) - sizes
        chosen = generator.integers(self.train.size, size=self.label_pairs)
        label = self.labels[chosen]
        same = first[label] + generator.integers(sizes[label])
        # The other classes' nodes follow this class's in a circle.
        others = generator.integers(self.train.size - sizes[label], size=(self.negatives, chosen.size))
        different = (first[label] + sizes[label] + others) % self.train.size
        return _pairs(self.train[chosen], self.train[order[same]], self.train[order[different]])


def _pairs(nodes: NDArray[np.int64], contexts: NDArray[np.int64], strangers: NDArray[np.int64]) -> Pairs:
    """Positive pairs, followed by the negative ones: every row of strangers (K, P) beside the nodes (P,)."""
    signs = np.ones(nodes.size + strangers.size, dtype=np.float32)
    signs[nodes.size :] = -1
    return Pairs(
        np.concatenate([nodes, np.tile(nodes, len(strangers))]),
        np.concatenate([contexts, strangers.ravel()]),
        signs,
    )


class Planetoid(Network):
    r"""Logits :math:`[\mathrm{softmax}(X W_x), \mathrm{softmax}(E W_e)]\, W + b` (biases left out inside).

    In the transductive form the embedding E is a parameter (N, D) for every node; in the inductive form it is
    :math:`\mathrm{ReLU}(X V)`, so that a node's features alone give its class.

    In training the logits of the two inner softmax layers are further logits, and the extra loss is the context
    loss of a draw of pairs per walk, plus the penalty on embeddings and contexts,
    :math:`\lambda / 2N \sum_i |e_i|^2 + |c_i|^2`. Without it the embedding learns the walks by heart.

    Args:
        num_features: F.
        num_classes: C.
        num_nodes: N.
        sampler: Draws pairs from the graph that the network is trained on.
        inductive: Which of the two forms.
        dimension: D.
        penalty: :math:`\lambda`.
        dropout: Rate on the features of the softmax layer over them.
        generator: Draws the initial weights.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_nodes: int,
        sampler: ContextSampler,
        *,
        inductive: bool = False,
        dimension: int = 50,
        penalty: float = 30.0,
        dropout: float = 0.5,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.sampler = sampler
        self.inductive = inductive
        self.penalty = penalty
        self.dropout = dropout
        self.embedding = glorot(num_features if inductive else num_nodes, dimension, generator=generator)
        self.context = glorot(num_nodes, dimension, generator=generator)
        self.feature_weight = glorot(num_features, num_classes, generator=generator)
        self.feature_bias = nn.Parameter(torch.zeros(num_classes))
        self.embedding_weight = glorot(dimension, num_classes, generator=generator)
        self.embedding_bias = nn.Parameter(torch.zeros(num_classes))
        self.weight = glorot(2 * num_classes, num_classes, generator=generator)
        self.bias = nn.Parameter(torch.zeros(num_classes))

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        return self._answers(graph, self._embedded(graph), key)[0]

    def train_pass(self, graph: Placement, embedding: Tensor | None, key: int) -> TrainingOutput:  # noqa: ARG002
        embedded = self._embedded(graph)
        logits, *further = self._answers(graph, embedded, key)
        loss = context_loss(embedded, self.context, self.sampler.draw(key)) / self.sampler.num_starts
        squares = embedded.square().sum(dim=1, keepdim=True) + self.context.square().sum(dim=1, keepdim=True)
        extra_loss = ((loss + self.penalty / 2 * squares) / graph.num_nodes).sum()
        return TrainingOutput(logits, tuple(further), extra_loss)

    def _embedded(self, graph: Placement) -> Tensor:
        return embed_features(dict(self.named_parameters()), graph.features) if self.inductive else self.embedding

    def _answers(self, graph: Placement, embedded: Tensor, key: int | None) -> tuple[Tensor, Tensor, Tensor]:
        dropout = graph.dropout(self.dropout, key, "features")
        return answers(dict(self.named_parameters()), graph.features, embedded, dropout)


def embed_features(parameters: Mapping[str, Tensor], features: SparseMatrix | Tensor) -> Tensor:
    """(M, D) the inductive form's embedding of feature rows (M, F)."""
    return torch.relu(dropped_product(features, parameters["embedding"], NO_DROPOUT))


def answers(
    parameters: Mapping[str, Tensor],
    features: SparseMatrix | Tensor,
    embedded: Tensor,
    dropout: Dropout = NO_DROPOUT,
) -> tuple[Tensor, Tensor, Tensor]:
    """Logits (M, C): of both together, of the features alone and of the embedding alone."""
    by_features = dropped_product(features, parameters["feature_weight"], dropout) + parameters["feature_bias"]
    by_embedding = embedded @ parameters["embedding_weight"] + parameters["embedding_bias"]
    both = torch.cat([torch.softmax(by_features, dim=1), torch.softmax(by_embedding, dim=1)], dim=1)
    return both @ parameters["weight"] + parameters["bias"], by_features, by_embedding
