"""An example that nobody generated: the papers of Cora as a person would have them, two tables with 50 labels."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, triu

from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.examples.tables import ExampleTables, Row
from lcgnn.sources.splits import handful

_SEED = 0
_LABELS = 50


def papers() -> ExampleTables:
    """2,708 papers with the words (by number) that occur in them and who cites whom; 50 of them have a label.

    They are fetched as the benchmark is, once.
    """
    graph = benchmark("cora").load().graph
    words = csr_array(graph.features)
    assert graph.node_names is not None
    names = [f"paper-{name}" for name in graph.node_names]
    topics = [graph.class_names[label] for label in graph.labels]
    labelled = set(handful(graph, labels=_LABELS, seed=_SEED).train.tolist())
    nodes: list[Row] = [
        (name, topic if node in labelled else "", _text(words, node))
        for node, (name, topic) in enumerate(zip(names, topics, strict=True))
    ]
    links = zip(*triu(graph.adjacency, k=1).nonzero(), strict=True)
    return ExampleTables(
        nodes=(("id", "label", "words"), nodes),
        edges=(
            ("source", "target"),
            [(names[one], names[other]) for one, other in links],
        ),
        truth=(("id", "label"), list(zip(names, topics, strict=True))),
    )


def _text(words: csr_array, node: int) -> str:
    occurring = np.sort(words.indices[words.indptr[node] : words.indptr[node + 1]])
    return " ".join(f"word{number}" for number in occurring.tolist())
