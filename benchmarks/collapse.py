"""Label consistency from an unsure base: where it collapses, and what prevents it.

The same graphs with rows divided by their sum, which makes the base unsure where rows are long, and by their norm;
no validation label, the last epoch.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from benchmarks.measure import in_words, machine, write
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.base import Stage
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.splits import handful

CASES = (("amazon_photo", 5), ("blogcatalog", 5), ("acm", 5), ("citeseer", 1))
SCALINGS = ("sum", "norm")
# A first phase that ends when the base is sure is twice as long again and again, from the paper's 200 epochs on.
SURE, LENGTHS = 0.6, (200, 400, 800, 1600, 3200)
PAPER, UNTIL_SURE = "LC, the paper's", "LC, first phase until sure"
_LC: dict[str, Any] = {"selection": "last"}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "GCN, equal budget": ("gcn-control", {}),
    PAPER: ("lc-gcn", {}),
    UNTIL_SURE: ("lc-gcn", {}),
    "LC, balanced": ("lc-gcn", {"balanced": True}),
    "LC + cross-entropy": ("lc-gcn", {"cross_entropy_weight": 1.0}),
    "LC, balanced + cross-entropy": ("lc-gcn", {"balanced": True, "cross_entropy_weight": 1.0}),
    "LC, guard": ("lc-gcn", {"guard": True}),
    "LC + cross-entropy, guard": ("lc-gcn", {"cross_entropy_weight": 1.0, "guard": True}),
}


def scaled(graph: Graph, scaling: str) -> Graph:
    """The graph with every row of its features divided by its sum or by its Euclidean norm."""
    assert isinstance(graph.features, csr_array)
    power = 1 if scaling == "sum" else 2
    size = np.asarray(abs(graph.features).power(power).sum(axis=1)).ravel() ** (1 / power)
    factor = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
    return replace(graph, features=csr_array((diags_array(factor) @ graph.features).astype(np.float32)))


def measure(draws: int) -> dict[str, Any]:
    rows = []
    for name, labels in CASES:
        loaded = benchmark(name).load()
        for scaling in SCALINGS:
            graph = scaled(loaded.graph, scaling)
            row = _measure_one(graph, labels, draws)
            rows.append({"graph": name, "labels": labels, "rows divided by": scaling, **row})
            print(rows[-1], file=sys.stderr)
    return {"machine": machine(), "command": f"python -m benchmarks collapse --draws {draws}", "rows": rows}


def _measure_one(graph: Graph, labels: int, draws: int) -> dict[str, list[float]]:
    """By draw: test accuracy of every variant and of the base, and how long and sure a first phase is."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for draw in range(draws):
        split = handful(graph, labels_per_class=labels, seed=draw)
        for name, (method, settings) in VARIANTS.items():
            chosen = {**_LC, **settings}
            if name == UNTIL_SURE:
                chosen["base_epochs"] = _epochs_until_sure(graph, split, draw)
            base, last = create(method, **chosen).fit(graph, split, draw).stages
            found[name].append(_accuracy(graph, split, last))
            if name == PAPER:
                found["GCN"].append(_accuracy(graph, split, base))
                found["sureness"].append(_sureness(base))
            if name == UNTIL_SURE:
                found["epochs until sure"].append(chosen["base_epochs"])
                found["sureness then"].append(_sureness(base))
    return dict(found)


def _epochs_until_sure(graph: Graph, split: Split, seed: int) -> int:
    """How long GCN trains until it is sure, or the longest that is tried."""
    for epochs in LENGTHS[:-1]:
        base = create("gcn", **_LC, base_epochs=epochs).fit(graph, split, seed)
        if _sureness(base.stages[-1]) >= SURE:
            return epochs
    return LENGTHS[-1]


def _accuracy(graph: Graph, split: Split, stage: Stage) -> float:
    return float((stage.label_distribution.argmax(axis=1) == graph.labels)[split.test].mean())


def _sureness(stage: Stage) -> float:
    return float(stage.label_distribution.max(axis=1).mean())


def table(content: dict[str, Any]) -> str:
    names = ["GCN", *VARIANTS]
    lines = [
        "Test accuracy in percent of GCN and what follows it, from a few labels of each class drawn at random, "
        "last epoch, no validation label; mean ± standard deviation of the draws. Sureness: the mean largest "
        f"probability of the base. A first phase until sure ends at a sureness of {SURE}, looked at after "
        f"{', '.join(f'{epochs:,}' for epochs in LENGTHS)} epochs; then: after so many on average, how sure it "
        "was.",
        "",
        f"| graph | labels a class | rows divided by | sureness | then | {' | '.join(names)} |",
        f"|---|---:|---|---:|---:|{'---:|' * len(names)}",
    ]
    for row in content["rows"]:
        values = " | ".join(
            f"{100 * np.mean(row[name]):.1f} ± {100 * _deviation(row[name]):.1f}" for name in names
        )
        then = f"{np.mean(row['epochs until sure']):,.0f}: {np.mean(row['sureness then']):.2f}"
        shown = f"{np.mean(row['sureness']):.2f} | {then} | {values}"
        lines.append(f"| {row['graph']} | {row['labels']} | {row['rows divided by']} | {shown} |")
    return "\n".join([*lines, "", f"Measured by `{content['command']}` on {in_words(content['machine'])}."])


def _deviation(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def main(folder: Path, draws: int) -> None:
    content = measure(draws)
    write(folder, "collapse", content, table(content))
    print(table(content))
