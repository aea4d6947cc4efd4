"""Labels that were made wrong on purpose, and how many of them are found: by held-out labels, by the base's loss.

A share of the given labels is flipped: to any other class ("any"), or to the class of one of the node's
neighbours that is of another class than itself ("neighbour"; to the class that its own class has most edges with
where it has no such neighbour). As many labels as were flipped are then taken from the top of each ranking.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measure import in_words, machine, write
from lcgnn.assessment.doubt import doubtful_labels, suspicion
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import create
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.splits import folds, handful

Kind = Literal["any", "neighbour"]

GRAPHS = ("cora", "citeseer", "acm", "dblp")
LABELS_PER_CLASS = (5, 10, 20, 50)
SHARES = (0.05, 0.1, 0.2)
KINDS: tuple[Kind, ...] = ("any", "neighbour")
# As a graph of the user's own has it, with fewer folds and a shorter second phase.
FOLDS = 5
SETTINGS: dict[str, Any] = {"selection": "last", "epochs": 100, "cross_entropy_weight": 1.0, "guard": True}
# How labels are ranked: by chance, by the base's loss where it was trained on them, by held-out probabilities of
# the base and of label consistency; and what the list has that a user gets.
RANKINGS = ("chance", "base's loss", "held out, GCN", "held out, LC-GCN")
LISTED = ("listed", "of them wrong", "wrong ones listed")

Row = dict[str, Any]


def measure(draws: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    rows: list[Row] = []
    for name in GRAPHS:
        whole = benchmark(name).load().graph
        for labels in LABELS_PER_CLASS:
            for share in SHARES:
                for kind in KINDS:
                    found = [_measure_one(whole, labels, share, kind, draw) for draw in range(draws)]
                    means = {key: float(np.nanmean([one[key] for one in found])) for key in found[0]}
                    rows.append({"graph": name, "labels": labels, "share": share, "kind": kind, **means})
                    print(rows[-1], file=sys.stderr, flush=True)
    return {"machine": machine(), "command": f"python -m benchmarks doubt --draws {draws}", "rows": rows}


def _measure_one(whole: Graph, labels: int, share: float, kind: Kind, draw: int) -> dict[str, float]:
    nodes = handful(whole, labels_per_class=labels, seed=draw).train
    generator = np.random.default_rng([draw, labels, round(100 * share), KINDS.index(kind)])
    graph, wrong = flipped(whole, nodes, share, kind, generator)
    split = Split(nodes, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    base, last = held_out(graph, split)
    trained = create("gcn", selection="last").fit(graph, split).label_distribution[nodes]
    given, is_wrong = graph.labels[nodes], np.isin(nodes, wrong)
    rows = np.arange(nodes.size)

    def precision(score: NDArray[np.floating[Any]]) -> float:
        return float(is_wrong[np.argsort(-score, kind="stable")[: wrong.size]].mean())

    listed = np.isin(nodes, [doubt.node for doubt in doubtful_labels(graph.labels, nodes, last)])
    return {
        "chance": float(is_wrong.mean()),
        "base's loss": precision(-trained[rows, given]),
        "held out, GCN": precision(suspicion(given, base)),
        "held out, LC-GCN": precision(suspicion(given, last)),
        "listed": float(listed.mean()),
        "of them wrong": float(is_wrong[listed].mean()) if listed.any() else float("nan"),
        "wrong ones listed": float(listed[is_wrong].mean()),
    }


def flipped(
    whole: Graph, nodes: NDArray[np.int64], share: float, kind: Kind, generator: np.random.Generator
) -> tuple[Graph, NDArray[np.int64]]:
    """The graph with the labels of these nodes only, a share of them wrong, and the nodes whose label is wrong."""
    wrong = generator.choice(nodes, max(1, round(share * nodes.size)), replace=False)
    labels = np.full(whole.num_nodes, UNLABELLED)
    labels[nodes] = whole.labels[nodes]
    for node in wrong:
        true = whole.labels[node]
        others = [label for label in range(whole.num_classes) if label != true]
        labels[node] = generator.choice(others if kind == "any" else _of_neighbours(whole, int(node)))
    return replace(whole, labels=labels), np.sort(wrong)


def _of_neighbours(graph: Graph, node: int) -> NDArray[np.int64]:
    """The other classes of a node's neighbours, as often as they have them; never none."""
    adjacency, labels = graph.adjacency, graph.labels
    found = labels[adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]]
    found = found[(found != UNLABELLED) & (found != labels[node])]
    if found.size:
        return np.asarray(found)
    rows, columns = adjacency.nonzero()
    reached = labels[columns[labels[rows] == labels[node]]]
    counts = np.bincount(reached[reached != UNLABELLED], minlength=graph.num_classes)
    counts[labels[node]] = -1
    return np.array([counts.argmax()])


def held_out(graph: Graph, split: Split) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(n, C) what models that were trained without a label predict for it: the base, and label consistency."""
    base = np.zeros((graph.num_nodes, graph.num_classes), dtype=np.float32)
    last = np.zeros_like(base)
    for part in folds(graph, split, FOLDS):
        fit = create("lc-gcn", **SETTINGS).fit(graph, part)
        base[part.test] = fit.stages[0].label_distribution[part.test]
        last[part.test] = fit.label_distribution[part.test]
    return base[split.train], last[split.train]


def table(content: dict[str, Any]) -> str:
    return "\n".join(
        [
            "Of the labels at the top of a ranking, as many as are wrong, how many are wrong, in percent; mean of "
            "the draws. Base's loss: GCN's on the labels that it was trained on. Held out: the probability of the "
            f"given label by models that were trained without it ({FOLDS} folds), less the mean of its class "
            "(confident learning). Listed: the labels that `lcgnn doubt` names with LC-GCN, in percent of all; "
            "how many of them are wrong, and how many of the wrong ones are listed.",
            "",
            *_by_labels(content["rows"]),
            "",
            "The same by how many are wrong and what they were flipped to:",
            "",
            *_in_full(content["rows"]),
            "",
            f"Measured by `{content['command']}` on {in_words(content['machine'])}.",
        ]
    )


def _by_labels(rows: list[Row]) -> list[str]:
    """A line for each graph and number of labels, the mean over all flips."""
    keys = sorted({(GRAPHS.index(row["graph"]), row["labels"]) for row in rows})
    chosen = [
        (GRAPHS[graph], labels, [row for row in rows if (row["graph"], row["labels"]) == (GRAPHS[graph], labels)])
        for graph, labels in keys
    ]
    lines = _head("graph", "labels a class")
    return lines + [f"| {graph} | {labels} | {_cells(found)} |" for graph, labels, found in chosen]


def _in_full(rows: list[Row]) -> list[str]:
    lines = _head("graph", "labels a class", "wrong", "flipped to")
    return lines + [
        f"| {row['graph']} | {row['labels']} | {100 * row['share']:.0f} % | {row['kind']} | {_cells([row])} |"
        for row in rows
    ]


def _head(*first: str) -> list[str]:
    names = [*RANKINGS, *LISTED]
    return [f"| {' | '.join([*first, *names])} |", "|---" * len(first) + "|" + "---:|" * len(names)]


def _cells(rows: list[Row]) -> str:
    means = [np.nanmean([row[name] for row in rows]) for name in (*RANKINGS, *LISTED)]
    return " | ".join("" if np.isnan(mean) else f"{100 * mean:.0f}" for mean in means)


def main(folder: Path, draws: int) -> None:
    content = measure(draws)
    write(folder, "doubt", content, table(content))
    print(table(content))
