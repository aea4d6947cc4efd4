"""Seconds of one fit of every system of Table 2 on one core; ablations and controls take as long as theirs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import in_words, machine, write
from lcgnn.assessment.evaluation import accuracy
from lcgnn.experiments.library import load_experiment
from lcgnn.methods import create
from lcgnn.sources.benchmarks import load

# What a fit may take at most, in seconds.
LIMITS = {"cora": 60, "pubmed": 300}


def measure(only: tuple[str, ...], earlier: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All figures so far, again after every method; those of others than the named ones are the earlier."""
    torch.set_num_threads(1)
    methods = dict.fromkeys(row.method for row in load_experiment("table2").rows if row.compare is None)
    rows = {name: earlier[name] for name in methods if name in earlier}
    for method in only or methods:
        row: dict[str, Any] = {"method": method}
        for dataset in LIMITS:
            graph, split = load(dataset)
            fit = create(method, dataset).fit(graph, split)
            row[dataset] = {
                "seconds": fit.seconds,
                "test_accuracy": accuracy(fit.label_distribution, graph.labels, split.test),
            }
        rows[method] = row
        print(row, file=sys.stderr)
        yield {"machine": machine(), "rows": [rows[name] for name in methods if name in rows]}


def table(content: dict[str, Any]) -> str:
    limits = ", ".join(f"{dataset} {seconds} s" for dataset, seconds in LIMITS.items())
    lines = [
        f"Seconds of one fit (seed 0, one thread, validation included), and its test accuracy. Limits: {limits}.",
        "",
        "| method | " + " | ".join(f"{dataset} s | {dataset} test %" for dataset in LIMITS) + " | |",
        "|---|" + "---:|" * 2 * len(LIMITS) + "---|",
    ]
    for row in content["rows"]:
        cells = " | ".join(
            f"{row[dataset]['seconds']:.1f} | {100 * row[dataset]['test_accuracy']:.1f}" for dataset in LIMITS
        )
        over = [dataset for dataset, limit in LIMITS.items() if row[dataset]["seconds"] > limit]
        lines.append(f"| {row['method']} | {cells} | {'over the limit: ' + ', '.join(over) if over else ''} |")
    lines += ["", f"Measured by `python -m benchmarks fits` on {in_words(content['machine'])}."]
    return "\n".join(lines)


def main(folder: Path, only: tuple[str, ...] = ()) -> None:
    """Measure all methods, or only some; of the others what an earlier call measured stays in the table."""
    path = folder / "fits.json"
    earlier = {row["method"]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else {}
    for content in measure(only, earlier):
        write(folder, "fits", content, table(content))
    print(table(content))
