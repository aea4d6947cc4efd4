"""Generated graphs with a few labels and the truth about all others, as different as users' own graphs are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.graph import UNLABELLED, Graph


@dataclass(frozen=True)
class Case:
    """What a generated graph is like.

    Args:
        seed: Of everything random in it.
        nodes: How many.
        classes: How many.
        balanced: Whether all classes are equally large.
        degree: Edges a node begins.
        consistency: Share of them that end in the node's own class.
        elsewhere: Where the other edges end: in any other class, or in the one that follows the node's own.
        informative: Whether the features alone tell most classes apart.
        labels_per_class: Labels a class on average.
        fair: Whether the labelled nodes are a fair sample of all, or so many of each class.
    """

    seed: int
    nodes: int
    classes: int
    balanced: bool
    degree: int
    consistency: float
    elsewhere: str
    informative: bool
    labels_per_class: int
    fair: bool

    @classmethod
    def draw(cls, seed: int) -> Case:
        """A case at random; the same seed is the same case."""
        generator = np.random.default_rng([seed, 0])
        return cls(
            seed=seed,
            nodes=int(generator.integers(300, 1501)),
            classes=int(generator.integers(2, 7)),
            balanced=bool(generator.random() < 0.5),
            degree=int(generator.integers(2, 7)),
            consistency=float(generator.uniform(0.3, 0.95)),
            elsewhere=str(generator.choice(["any", "next"])),
            informative=bool(generator.random() < 0.5),
            labels_per_class=int(generator.integers(5, 31)),
            fair=bool(generator.random() < 0.5),
        )

    def generate(self) -> tuple[Graph, NDArray[np.int64]]:
        """The graph as its user has it, and the true class of every node."""
        generator = np.random.default_rng([self.seed, 1])
        shares = np.full(self.classes, 1 / self.classes)
        if not self.balanced:
            shares = 0.5 * shares + 0.5 * generator.dirichlet(np.full(self.classes, 2.0))
        truth = generator.choice(self.classes, self.nodes, p=shares)
        labels = np.full(self.nodes, UNLABELLED)
        labelled = self._labelled(truth, generator)
        labels[labelled] = truth[labelled]
        graph = Graph.from_edges(
            f"case {self.seed}",
            self._edges(truth, generator),
            self.nodes,
            labels,
            [f"class {label}" for label in range(self.classes)],
            features=self._features(truth, generator),
        )
        return graph, truth

    def _edges(self, truth: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        sources = np.repeat(np.arange(self.nodes), self.degree)
        step = generator.integers(1, self.classes, sources.size) if self.elsewhere == "any" else 1
        same = generator.random(sources.size) < self.consistency
        classes = (truth[sources] + np.where(same, 0, step)) % self.classes
        targets = np.empty_like(sources)
        for label in range(self.classes):
            members = np.flatnonzero(truth == label)
            targets[classes == label] = generator.choice(members, int((classes == label).sum()))
        return np.stack([sources, targets])

    def _features(self, truth: NDArray[np.int64], generator: np.random.Generator) -> csr_array:
        centres = generator.standard_normal((self.classes, 12))
        centres *= (2.5 if self.informative else 0.8) / np.linalg.norm(centres, axis=1, keepdims=True)
        values = centres[truth] + generator.standard_normal((self.nodes, 12))
        return csr_array((values - values.mean(axis=0)) / values.std(axis=0), dtype=np.float32)

    def _labelled(self, truth: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """At least two of every class, so that each can be held out."""
        by_class = [generator.permutation(np.flatnonzero(truth == label)) for label in range(self.classes)]
        if not self.fair:
            return np.concatenate([nodes[: self.labels_per_class] for nodes in by_class])
        certain = np.concatenate([nodes[:2] for nodes in by_class])
        others = generator.permutation(np.setdiff1d(np.arange(self.nodes), certain))
        return np.concatenate([certain, others[: self.classes * self.labels_per_class - certain.size]])
