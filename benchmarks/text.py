"""What text is worth as words and parts of words, beside words in 256 buckets, on texts from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from scipy.sparse import csr_array

from benchmarks.corpora import CLASSES, Corpus, of_scipy, of_wordnet
from benchmarks.measure import in_words, machine, write
from lcgnn.assessment.evaluation import accuracy
from lcgnn.features.terms import Terms
from lcgnn.features.words import hashed_words
from lcgnn.graph import Graph, Split
from lcgnn.methods import create

LABELS_PER_CLASS = 10
DRAWS = 3
# A shorter second phase than usual, for both encodings alike.
EPOCHS = 300
METHODS = ("MLP", "GCN", "LC-GCN")

Encode = Callable[[Any], csr_array]


def _buckets(column: Any) -> csr_array:
    return hashed_words(column, 256)


def _terms(column: Any) -> csr_array:
    return Terms.of(column)[0].apply(column, "the texts")


ENCODINGS: dict[str, Encode] = {"256 buckets": _buckets, "words and parts": _terms}


def measure(corpora: Sequence[Corpus]) -> dict[str, Any]:
    torch.set_num_threads(1)
    rows = []
    for corpus in corpora:
        for name, encode in ENCODINGS.items():
            rows.append(_row(corpus, name, encode))
            print(rows[-1], file=sys.stderr, flush=True)
    return {"machine": machine(), "rows": rows}


def _row(corpus: Corpus, name: str, encode: Encode) -> dict[str, Any]:
    features = encode(pa.chunked_array([corpus.texts]))
    classes = [str(number) for number in range(CLASSES)]
    graph = Graph.from_edges("text", corpus.links, len(corpus.texts), corpus.labels, classes, features=features)
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for draw in range(DRAWS):
        split = _draw(corpus, draw)
        alone = create("mlp", selection="last").fit(graph, split, seed=draw)
        both = create("lc-gcn", selection="last", epochs=EPOCHS).fit(graph, split, seed=draw)
        for method, stage in zip(METHODS, (alone.stages[-1], *both.stages), strict=True):
            found[method].append(accuracy(stage.label_distribution, graph.labels, split.test))
    accuracies = {method: float(np.mean(values)) for method, values in found.items()}
    size = {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features}
    return {"corpus": corpus.name, "encoding": name, **size, "accuracy": accuracies}


def _draw(corpus: Corpus, draw: int) -> Split:
    """So many labels of each class at random; all other nodes are for testing."""
    generator = np.random.default_rng(draw)
    chosen = [
        generator.permutation(np.flatnonzero(corpus.labels == label))[:LABELS_PER_CLASS]
        for label in range(CLASSES)
    ]
    train = np.sort(np.concatenate(chosen))
    return Split(train, np.empty(0, dtype=np.int64), np.setdiff1d(np.arange(corpus.labels.size), train))


def table(content: dict[str, Any]) -> str:
    lines = [
        f"Accuracy in percent on all other nodes from {LABELS_PER_CLASS} labels of each of {CLASSES} classes, no "
        f"validation label, mean of {DRAWS} draws; the second phase of LC-GCN has {EPOCHS} epochs. The texts and "
        'their links are SciPy\'s documentation (the class is the subpackage, the links are its "See Also") and '
        "WordNet 3.0 (the class is the field, the links are kinds and parts).",
        "",
        f"| texts | nodes | edges | encoding | features | {' | '.join(METHODS)} |",
        "|---|---:|---:|---|---:|" + "---:|" * len(METHODS),
    ]
    for row in content["rows"]:
        shares = " | ".join(f"{100 * row['accuracy'][method]:.1f}" for method in METHODS)
        lines.append(
            f"| {row['corpus']} | {row['nodes']:,} | {row['edges']:,} | {row['encoding']} | {row['features']:,} "
            f"| {shares} |"
        )
    return "\n".join([*lines, "", in_words(content["machine"])])


def main(folder: Path, wordnet: Path | None) -> None:
    content = measure([*of_scipy(), *(of_wordnet(wordnet) if wordnet else [])])
    write(folder, "text", content, table(content))
