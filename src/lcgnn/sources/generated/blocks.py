r"""Large graphs with known truth, generated: what ``lcgnn generate`` writes.

A degree-corrected block model. Nodes lie in classes, and inside a class in communities of a bounded size, as those
of real graphs do; numbers run through one community after the other. An edge stays in its first end's class with
the probability that is asked for, and then mostly in its community. Inside a block of n nodes, an edge's end is
the node :math:`\lfloor n u^{1/(1-a)} \rfloor` for a uniform u, which gives degrees with a tail of
:math:`d^{-(1 + 1/a)}`. A feature is its class's mean plus noise.

Edges and features are drawn in blocks of a fixed size, each from a generator of its own, so that the graph depends
on the seed alone, and no more than a chunk of it is ever in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import ConfigError

# Edges, and nodes, that one generator draws.
BLOCK = 2**14
# Of the edges inside a class, how many stay inside a community.
_SAME_COMMUNITY = 0.75


@dataclass(frozen=True)
class Blocks:
    """What a generated graph is like.

    Args:
        num_nodes: N.
        num_edges: Edges that are drawn; one that is drawn twice counts once, so the graph has slightly fewer.
        num_features: F.
        num_classes: C.
        label_consistency: Of the edges, how many join nodes of one class.
        labels_per_class: Training labels of every class.
        degree_exponent: Of the degrees' power law; the smaller, the larger the hubs.
        imbalance: How many times larger the first class is than the last.
        community_size: Nodes of a community, about.
        feature_signal: Distance of two classes' means, in standard deviations of the noise.
        seed: Determines the graph.
    """

    num_nodes: int
    num_edges: int
    num_features: int = 64
    num_classes: int = 20
    label_consistency: float = 0.8
    labels_per_class: int = 20
    degree_exponent: float = 3.0
    imbalance: float = 1.0
    community_size: int = 2000
    feature_signal: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.num_nodes, self.num_edges, self.num_features, self.labels_per_class) < 1:
            raise ConfigError("Nodes, edges, features and labels per class must be 1 or more each.")
        if self.num_classes < 2 or self.imbalance < 1 or self.community_size < 2 or self.seed < 0:
            raise ConfigError(
                "Classes and community size must be 2 or more, imbalance 1 or more, the seed 0 or more."
            )
        if not 0 <= self.label_consistency <= 1 or self.degree_exponent <= 2:
            raise ConfigError("Label consistency must lie in 0..1, and the degree exponent above 2.")
        if self.num_edges > self.num_nodes * (self.num_nodes - 1) // 8:
            raise ConfigError(f"{self.num_edges} edges are too many for {self.num_nodes} nodes. Ask for fewer.")
        smallest = int(np.diff(self.class_starts).min())
        if smallest < 2 * self.labels_per_class:
            raise ConfigError(
                f"The smallest class has {smallest} nodes, too few for {self.labels_per_class} training labels. "
                "Ask for more nodes, fewer classes or fewer labels."
            )

    @cached_property
    def class_starts(self) -> NDArray[np.int64]:
        """(C + 1,) where every class's nodes begin."""
        share = self.imbalance ** -np.linspace(0, 1, self.num_classes)
        ends = np.round(np.cumsum(share) / share.sum() * self.num_nodes).astype(np.int64)
        return np.concatenate([[0], ends])

    @property
    def class_names(self) -> tuple[str, ...]:
        width = len(str(self.num_classes - 1))
        return tuple(f"class-{label:0{width}d}" for label in range(self.num_classes))

    def labels(self, first: int, last: int) -> NDArray[np.int32]:
        """The true classes of the nodes first..last - 1."""
        found = np.searchsorted(self.class_starts, np.arange(first, last), side="right") - 1
        return found.astype(np.int32)

    def edges(self) -> Iterator[NDArray[np.int64]]:
        """All edges, a block (2, B) at a time; one may come twice, and none joins a node with itself."""
        for number, first in enumerate(range(0, self.num_edges, BLOCK)):
            generator = np.random.default_rng((self.seed, 0, number))
            yield self._drawn_edges(generator.random((7, BLOCK))[:, : self.num_edges - first])

    def features(self) -> Iterator[NDArray[np.float32]]:
        """The features of all nodes, a block (B, F) at a time."""
        means = np.random.default_rng((self.seed, 1)).standard_normal((self.num_classes, self.num_features))
        means = (means * self.feature_signal / np.sqrt(2 * self.num_features)).astype(np.float32)
        for number, first in enumerate(range(0, self.num_nodes, BLOCK)):
            generator = np.random.default_rng((self.seed, 2, number))
            last = min(first + BLOCK, self.num_nodes)
            noise = generator.standard_normal((last - first, self.num_features), dtype=np.float32)
            yield means[self.labels(first, last)] + noise

    def split(self) -> NDArray[np.uint8]:
        """(N,) 1 for training nodes, so many of every class; 2 and 3 for a tenth each, at most 10,000."""
        generator = np.random.default_rng((self.seed, 3))
        codes = np.zeros(self.num_nodes, dtype=np.uint8)
        for start, end in zip(self.class_starts, self.class_starts[1:], strict=False):
            codes[start + generator.choice(end - start, self.labels_per_class, replace=False)] = 1
        size = min(self.num_nodes // 10, 10_000)
        for code in (2, 3):
            # More than are needed, since some come twice or have a part already.
            drawn = np.unique(generator.integers(0, self.num_nodes, 4 * size))
            codes[generator.permutation(drawn[codes[drawn] == 0])[:size]] = code
        return codes

    def _drawn_edges(self, u: NDArray[np.float64]) -> NDArray[np.int64]:
        """Edges (2, B') from seven uniform numbers each."""
        starts = self.class_starts
        sizes = np.diff(starts)
        # A node drawn evenly has a class in proportion to the classes' sizes.
        anywhere = (u[0] * self.num_nodes).astype(np.int64)
        label = np.searchsorted(starts, anywhere, side="right") - 1
        stays = u[1] < self.label_consistency
        # Another class: drawn evenly among the nodes that come after this one's, and around.
        beyond = starts[label + 1] + (u[2] * (self.num_nodes - sizes[label])).astype(np.int64)
        other = np.where(stays, label, np.searchsorted(starts, beyond % self.num_nodes, side="right") - 1)
        near = stays & (u[3] < _SAME_COMMUNITY)
        count = np.maximum(sizes // self.community_size, 1)
        community = (u[4] * count[label]).astype(np.int64)
        source = self._member(label, np.where(near, community, -1), u[5])
        target = self._member(other, np.where(near, community, -1), u[6])
        return np.stack([source, target])[:, source != target]

    def _member(
        self, label: NDArray[np.int64], community: NDArray[np.int64], u: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """A node of every given class and community, -1 for any of the class's; hubs are drawn more often.

        The k-th largest node of a class of m communities is the (k // m)-th of the community k % m, so that every
        community has its share of hubs.
        """
        alpha = 1 / (self.degree_exponent - 1)
        sizes = np.diff(self.class_starts)[label]
        count = np.maximum(sizes // self.community_size, 1)
        of_community = (sizes - 1 - np.maximum(community, 0)) // count + 1
        rank = (np.where(community < 0, sizes, of_community) * u ** (1 / (1 - alpha))).astype(np.int64)
        rank = np.where(community < 0, rank, rank * count + community)
        # Where the community begins: the first sizes % count of them have one node more than the others.
        within, position = rank % count, rank // count
        begins = within * (sizes // count) + np.minimum(within, sizes % count)
        nodes: NDArray[np.int64] = self.class_starts[label] + begins + position
        return nodes
