"""Label consistency from an unsure base: where it collapses, and what prevents it.

The same graphs with rows divided by their sum, which makes the base unsure where rows are long, and by their norm;
no validation label, the last epoch.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from benchmarks.measure import in_words, machine, write
from lcgnn.graph import Graph
from lcgnn.methods import create
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.splits import handful

CASES = (("amazon_photo", 5), ("blogcatalog", 5), ("acm", 5), ("citeseer", 1))
SCALINGS = ("sum", "norm")
_LC: dict[str, Any] = {"selection": "last"}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "GCN, equal budget": ("gcn-control", {}),
    "LC, the paper's": ("lc-gcn", {}),
    "LC, first phase of 1,000 epochs": ("lc-gcn", {"base_epochs": 1000}),
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


def _measure_one(graph: Graph, labels: int, draws: int) -> dict[str, float]:
    """Mean test accuracy of every variant, of the base, and how sure the base is."""
    found: dict[str, list[float]] = {}
    for draw in range(draws):
        split = handful(graph, labels_per_class=labels, seed=draw)
        for name, (method, settings) in VARIANTS.items():
            fit = create(method, **_LC, **settings).fit(graph, split, draw)
            right = fit.label_distribution.argmax(axis=1) == graph.labels
            found.setdefault(name, []).append(float(right[split.test].mean()))
            if name == "LC, the paper's":
                base = fit.stages[0].label_distribution
                found.setdefault("GCN", []).append(float((base.argmax(axis=1) == graph.labels)[split.test].mean()))
                found.setdefault("sureness", []).append(float(base.max(axis=1).mean()))
    return {name: float(np.mean(values)) for name, values in found.items()}


def table(content: dict[str, Any]) -> str:
    names = ["GCN", *VARIANTS]
    lines = [
        "Test accuracy in percent of GCN and what follows it, from a few labels of each class drawn at random, "
        "last epoch, no validation label; mean of the draws. Sureness: the mean largest probability of the base.",
        "",
        f"| graph | labels a class | rows divided by | sureness | {' | '.join(names)} |",
        f"|---|---:|---|---:|{'---:|' * len(names)}",
    ]
    for row in content["rows"]:
        values = " | ".join(f"{100 * row[name]:.1f}" for name in names)
        lines.append(
            f"| {row['graph']} | {row['labels']} | {row['rows divided by']} | {row['sureness']:.2f} | {values} |"
        )
    return "\n".join([*lines, "", f"Measured by `{content['command']}` on {in_words(content['machine'])}."])


def main(folder: Path, draws: int) -> None:
    content = measure(draws)
    write(folder, "collapse", content, table(content))
    print(table(content))
