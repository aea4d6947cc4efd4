"""Whether folds say how many labels are right: dealt out class by class, or by chance.

The model is the logistic regression of features that two steps of GCN's propagation have averaged: fast enough for
many draws, and none of lcgnn's, so that what comes out is about the folds. The draws begin at a number that no
experiment uses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from benchmarks.measure import in_words, machine, write
from lcgnn.errors import LCGNNError
from lcgnn.graph import Graph, Split
from lcgnn.runs.simulation import suggested_split
from lcgnn.sources.choice import source_of
from lcgnn.sources.splits import folds, handful, lost_labels, most_folds

GRAPHS = ("acm", "dblp", "pubmed", "cora", "citeseer", "chameleon_filtered", "tolokers")
FIRST_DRAW, DRAWS, SUGGESTED_DRAWS = 1000, 40, 5
# Times the number of classes.
LABELS = (2, 5, 20)
FOLDS, DIMENSIONS = 10, 64

Features = NDArray[np.float64]


def measure() -> dict[str, Any]:
    """Expected minus true accuracy for both ways, by graph, number of labels and who chose the nodes."""
    rows = []
    for name in GRAPHS:
        try:
            graph = source_of(name).load().graph
        except LCGNNError as error:
            print(f"Without {name}: {error}", file=sys.stderr)
            continue
        features = averaged_features(graph)
        for labels in LABELS:
            rows += [_row(graph, features, labels, by, split_of) for by, split_of in WAYS.items()]
            print(rows[-1], file=sys.stderr, flush=True)
    return {"command": "python -m benchmarks dealing", "machine": machine(), "rows": rows}


def _drawn(graph: Graph, labels: int, seed: int) -> Split:
    return handful(graph, labels=labels, seed=seed)


def _suggested(graph: Graph, labels: int, seed: int) -> Split:
    return suggested_split(graph, by="spread", labels=labels, seed=seed)


WAYS: dict[str, Callable[[Graph, int, int], Split]] = {"chance": _drawn, "suggestion": _suggested}


def averaged_features(graph: Graph) -> Features:
    """(N, 64) the features' main directions, averaged over neighbours twice."""
    around = graph.adjacency + eye_array(graph.num_nodes)
    scale = diags_array(1 / np.sqrt(around.sum(axis=1)))
    features = normalize(csr_array(graph.features))
    main = TruncatedSVD(min(DIMENSIONS, features.shape[1] - 1), random_state=0).fit_transform(features)
    step = scale @ around @ scale
    return np.asarray(normalize(step @ (step @ main)))


def _row(
    graph: Graph, features: Features, labels: int, by: str, split_of: Callable[[Graph, int, int], Split]
) -> dict[str, Any]:
    draws = DRAWS if by == "chance" else SUGGESTED_DRAWS
    found = []
    for seed in range(FIRST_DRAW, FIRST_DRAW + draws):
        split = split_of(graph, labels * graph.num_classes, seed)
        by_class, by_chance = (expected(graph, features, replace(split, chosen=way)) for way in (True, False))
        if by_class is not None and by_chance is not None:
            true = _right(graph, features, split).mean()
            found.append([by_class - true, by_chance - true])
    return {
        "graph": graph.name,
        "labels": labels,
        "chosen by": by,
        "draws": len(found),
        "by class": [row[0] for row in found],
        "by chance": [row[1] for row in found],
    }


def expected(graph: Graph, features: Features, split: Split) -> float | None:
    """The share of held-out labels that are right, as the split has them dealt out; None if none can be."""
    count = min(FOLDS, most_folds(graph, split))
    if count < 2:
        return None
    right = np.concatenate([_right(graph, features, part) for part in folds(graph, split, count)])
    return float(right.mean() * (1 - lost_labels(graph, split) / split.train.size))


def _right(graph: Graph, features: Features, split: Split) -> NDArray[np.bool_]:
    known, asked = graph.labels[split.train], graph.labels[split.test]
    if np.unique(known).size == 1:
        return np.asarray(asked == known[0])
    model = LogisticRegression(C=10, max_iter=200).fit(features[split.train], known)
    return np.asarray(model.predict(features[split.test]) == asked)


def to_markdown(measured: dict[str, Any]) -> str:
    rows = measured["rows"]
    lines = [
        "## How labels are dealt out to folds",
        "",
        f"Expected minus true accuracy in points, the mean over graphs and draws ({FOLDS} folds at most; logistic "
        "regression of averaged features; nodes drawn by chance or suggested by our strategy), and the root of "
        "the mean square. By class: every fold has about the same of every class, and a class's only label is "
        "left out. By chance: whatever its class, and an only label counts as wrong. lcgnn deals labels out by "
        "chance where they look drawn, and class by class where nodes were suggested, or every class has as many "
        "labels.",
        "",
        "| labels, times the classes | nodes chosen by | graphs | draws | by class | root mean square | by chance "
        "| root mean square |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for by in WAYS:
        for labels in LABELS:
            chosen = [row for row in rows if (row["labels"], row["chosen by"]) == (labels, by) and row["draws"]]
            if not chosen:
                continue
            cells = [
                cell
                for way in ("by class", "by chance")
                for cell in _mean_and_root(np.concatenate([row[way] for row in chosen]))
            ]
            draws = sum(row["draws"] for row in chosen)
            lines.append(f"| {labels} | {by} | {len(chosen)} | {draws} | " + " | ".join(cells) + " |")
    names = ", ".join(dict.fromkeys(row["graph"] for row in rows))
    measured_by = f"Graphs: {names}. Measured by `{measured['command']}` on {in_words(measured['machine'])}."
    return "\n".join([*lines, "", measured_by])


def _mean_and_root(errors: NDArray[np.float64]) -> tuple[str, str]:
    return f"{100 * errors.mean():+.1f}", f"{100 * np.sqrt((errors**2).mean()):.1f}"


def main(folder: Path) -> None:
    content = measure()
    write(folder, "dealing", content, to_markdown(content))
    print(to_markdown(content))
