"""Edges that were added at random, and how many of them are found: by ``lcgnn doubt``, by features, by neighbours.

Pairs of nodes that are no edge are drawn at random and added, a share of as many as there are edges. As many
edges as were added are then taken from the top of each ranking; chance decides where a ranking does not. The edges
that the graph had count as right, which some may not be.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from benchmarks.doubt import SETTINGS
from benchmarks.measure import in_words, machine, write
from lcgnn.assessment.doubtful_edges import doubtful_edges, edge_likelihood
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.splits import handful

GRAPHS = ("cora", "citeseer", "acm", "dblp", "chameleon_filtered")
LABELS_PER_CLASS = (5, 20)
SHARES = (0.05, 0.1)
RANKINGS = ("chance", "features", "no neighbour in common", "predicted classes", "ours")
# Of the list that a user gets: the first ten, and how many of those that were added it has.
LISTED = ("first ten", "listed", "added ones listed")

Row = dict[str, Any]


def measure(draws: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    rows: list[Row] = []
    for name in GRAPHS:
        whole = benchmark(name).load().graph
        for labels in LABELS_PER_CLASS:
            for share in SHARES:
                found = [_measure_one(whole, labels, share, draw) for draw in range(draws)]
                means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
                spread = float(np.std([one["ours"] for one in found]))
                rows.append({"graph": name, "labels": labels, "share": share, **means, "spread": spread})
                print(rows[-1], file=sys.stderr, flush=True)
    return {"machine": machine(), "command": f"python -m benchmarks edges --draws {draws}", "rows": rows}


def _measure_one(whole: Graph, labels: int, share: float, draw: int) -> dict[str, float]:
    generator = np.random.default_rng([draw, labels, round(100 * share)])
    graph, added = with_random_edges(whole, share, generator)
    train = handful(whole, labels_per_class=labels, seed=draw).train
    none = np.empty(0, dtype=np.int64)
    answers = create("lc-gcn", **SETTINGS).fit(graph, Split(train, none, none), draw).label_distribution
    found = edge_likelihood(graph, answers)
    is_added = np.isin(found.ends[0] * graph.num_nodes + found.ends[1], added)
    of_chance = generator.permutation(is_added.size)

    def precision(score: NDArray[Any]) -> float:
        return float(is_added[np.lexsort((of_chance, score))[: added.size]].mean())

    in_common = np.zeros(is_added.size) if found.in_common is None else found.in_common
    listed = [doubt.source * graph.num_nodes + doubt.target for doubt in doubtful_edges(graph, answers)]
    return {
        "chance": float(is_added.mean()),
        "features": precision(found.cosines),
        "no neighbour in common": precision(in_common),
        "predicted classes": precision(found.classes),
        "ours": precision(found.total),
        "first ten": float(np.isin(listed[:10], added).mean()) if listed else 0.0,
        "listed": len(listed) / is_added.size,
        "added ones listed": float(np.isin(added, listed).mean()),
    }


def with_random_edges(
    whole: Graph, share: float, generator: np.random.Generator
) -> tuple[Graph, NDArray[np.int64]]:
    """The graph with further edges, and these, each as lower number times the number of nodes plus the higher."""
    nodes, wanted = whole.num_nodes, max(1, round(share * whole.num_edges))
    rows, columns = whole.adjacency.nonzero()
    there = rows.astype(np.int64) * nodes + columns
    added = np.empty(0, dtype=np.int64)
    while added.size < wanted:
        pairs = np.sort(generator.integers(0, nodes, (2, 2 * wanted)), axis=0)
        fresh = pairs[0][pairs[0] != pairs[1]] * nodes + pairs[1][pairs[0] != pairs[1]]
        added = np.concatenate([added, fresh[~np.isin(fresh, there)]])
        added = added[np.sort(np.unique(added, return_index=True)[1])][:wanted]
    ends = np.concatenate([added // nodes, added % nodes]), np.concatenate([added % nodes, added // nodes])
    further = coo_array((np.ones(2 * wanted, dtype=np.float32), ends), shape=whole.adjacency.shape)
    return replace(whole, adjacency=csr_array(whole.adjacency + further)), added


def table(content: dict[str, Any]) -> str:
    names = (*RANKINGS, *LISTED)
    lines = [
        f"| graph | labels a class | added | {' | '.join(names)} |",
        "|---|---|---|" + "---:|" * len(names),
    ]
    for row in content["rows"]:
        cells = [f"{100 * row[name]:.0f}" for name in names]
        cells[RANKINGS.index("ours")] += f" ± {100 * row['spread']:.0f}"
        lines.append(f"| {row['graph']} | {row['labels']} | {100 * row['share']:.0f} % | {' | '.join(cells)} |")
    return "\n".join(
        [
            "Of the edges at the top of a ranking, as many as were added at random, how many were added, in "
            "percent; mean of the draws, with their standard deviation for ours. Features: the lowest cosine "
            "first. Predicted classes: how seldom LC-GCN's classes of both ends are joined. Ours: these three "
            "together. First ten: of the edges that `lcgnn doubt` names by default. Listed: all that it would "
            "name, in percent of the edges, and how many of those that were added are among them.",
            "",
            *lines,
            "",
            f"Measured by `{content['command']}` on {in_words(content['machine'])}.",
        ]
    )


def main(folder: Path, draws: int) -> None:
    content = measure(draws)
    write(folder, "edges", content, table(content))
    print(table(content))
