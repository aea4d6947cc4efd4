"""DeepWalk (Perozzi, Al-Rfou and Skiena 2014): nodes that occur on the same random walks get similar vectors.

Random walks are sentences, nodes are words: gensim's skip-gram with hierarchical softmax learns a vector for
every node, and logistic regression on the vectors of the training nodes classifies the others. The features are
not used.

Settings are the paper's: 80 walks of 40 nodes from every node, a window of 10, 128 dimensions, a learning rate
that falls from 0.025 to 0.0001, one pass. On the benchmarks there are fewer walks (30, PubMed 15;
``defaults.toml``), because gensim reads about 100 000 nodes a second on one core: 80 walks would take 90 seconds
on Cora and ten minutes on PubMed. The strength of the logistic regression's penalty is chosen on validation.

What departs from the original: one multinomial classifier instead of one against the rest (a node has one label
here), and edge weights are ignored. A node without neighbours occurs on no walk and gets the class prior.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.compute.kernels.walks import random_walks
from lcgnn.extras import need
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import Context, Fit, Method, register, setting
from lcgnn.methods.classical import (
    Floats,
    LinearClassifier,
    class_prior,
    fit_of,
    logistic_regression,
    validation_score,
)
from lcgnn.training.loop import Progress

# The first counts where there is no validation set.
INVERSE_PENALTIES = (1.0, 0.001, 0.01, 0.1, 10.0, 100.0)
_LAST_LEARNING_RATE = 0.0001


@register("deepwalk", "Skip-gram on random walks, then logistic regression; needs no features.")
@dataclass(frozen=True)
class DeepWalk(Method):
    """Vectors of the nodes from random walks by skip-gram, classes from the vectors by logistic regression."""

    epochs: int = setting(80, "Walks from every node.", at_least=0)
    length: int = setting(40, "Nodes of each walk.", at_least=1)
    window: int = setting(10, "Nodes of a walk at most so far apart are each other's context.", at_least=1)
    dimension: int = setting(128, "Length of a node's vector.", at_least=1, at_most=65536)
    learning_rate: float = setting(
        0.025, "Learning rate of skip-gram at the start; it falls to 0.0001.", at_least=0
    )

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        context = context or Context()
        started = time.perf_counter()
        split.check(graph)
        vectors = self.embed(graph, seed, context.progress)
        classifier, distribution = classify(vectors, graph, split)
        tensors: dict[str, NDArray[Any]] = {
            "vectors": vectors,
            "weight": classifier.weight,
            "bias": classifier.bias,
        }
        return fit_of("deepwalk", distribution, tensors, started)

    def embed(
        self, graph: Graph, seed: int, progress: Callable[[Progress], None] | None = None
    ) -> NDArray[np.float32]:
        """(N, dimension) vectors; zero for a node without neighbours."""
        word2vec = need("gensim.models", "The method deepwalk").Word2Vec

        vectors = np.zeros((graph.num_nodes, self.dimension), dtype=np.float32)
        visits = np.zeros(graph.num_nodes, dtype=np.int64)
        for epoch in range(self.epochs):
            visits += np.bincount(self._walks(graph, seed, epoch).ravel(), minlength=graph.num_nodes)
        if not visits.any():
            return vectors
        # One worker, or the result depends on which thread was faster. Nothing else depends on Python's hash.
        model = word2vec(
            vector_size=self.dimension,
            window=self.window,
            sg=1,
            hs=1,
            negative=0,
            min_count=1,
            sample=0,
            workers=1,
            seed=derive_key(seed, "skip-gram"),
            hashfxn=derive_key,
        )
        # Words are strings: gensim takes an integer for a word's rank, not its name.
        words = np.array([str(node) for node in range(graph.num_nodes)], dtype=object)
        model.build_vocab_from_freq({words[node]: int(visits[node]) for node in np.flatnonzero(visits)})
        rates = np.linspace(self.learning_rate, _LAST_LEARNING_RATE, self.epochs + 1)
        for epoch in range(self.epochs):
            walks = words[self._walks(graph, seed, epoch)].tolist()
            model.train(
                walks,
                total_examples=len(walks),
                epochs=1,
                start_alpha=rates[epoch],
                end_alpha=rates[epoch + 1],
            )
            if progress:
                progress(Progress("skip-gram", epoch + 1, self.epochs, float("nan"), None))
        vectors[[int(word) for word in model.wv.index_to_key]] = model.wv.vectors
        return vectors

    def _walks(self, graph: Graph, seed: int, epoch: int) -> NDArray[np.int32]:
        """One walk from every node that has a neighbour, in random order."""
        connected = np.flatnonzero(np.diff(graph.adjacency.indptr))
        key = derive_key(seed, "walks", epoch)
        starts = np.random.default_rng(key).permutation(connected)
        return random_walks(graph.adjacency, starts, self.length, key)


def classify(vectors: NDArray[np.float32], graph: Graph, split: Split) -> tuple[LinearClassifier, Floats]:
    """The logistic regression that validation likes best, and what it says; the class prior at zero vectors."""
    known: NDArray[np.bool_] = np.asarray(vectors.any(axis=1))
    train = split.train[known[split.train]]
    prior = class_prior(graph, split)
    if not train.size:
        with np.errstate(divide="ignore"):
            classifier = LinearClassifier(np.zeros((vectors.shape[1], prior.size)), np.log(prior))
        return classifier, np.tile(prior, (graph.num_nodes, 1))
    candidates = []
    for inverse_penalty in INVERSE_PENALTIES:
        classifier = logistic_regression(vectors[train], graph.labels[train], graph.num_classes, inverse_penalty)
        distribution = np.where(known[:, None], classifier.distribution(vectors), prior)
        candidates.append((classifier, distribution))
    return max(candidates, key=lambda candidate: validation_score(candidate[1], graph, split))
