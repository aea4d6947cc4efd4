"""Label consistency alone: time and memory as the graph grows, against the N x N formula where that still fits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import in_words, interleaved, machine, peak_memory, print_peak_memory, write
from benchmarks.peers import aggregate_dense
from lcgnn.compute.kernels.objective import label_consistency_loss
from lcgnn.consistency import label_consistency_loss as plain_loss
from lcgnn.consistency import regularization_loss, safe_log

CLASSES, LABELLED = 10, 200
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DENSE_UP_TO = 10_000


def steps(size: int) -> dict[str, Any]:
    """Loss and gradient in each form, on random logits."""
    torch.manual_seed(0)
    logits = torch.randn(size, CLASSES, requires_grad=True)
    labels, nodes = torch.randint(CLASSES, (size,)), torch.randperm(size)[:LABELLED]

    def run(loss: Any) -> Any:
        return lambda: torch.autograd.grad(loss(), logits)

    def dense() -> Any:
        distribution = logits.softmax(dim=1)
        likelihood = safe_log(aggregate_dense(distribution)[nodes].gather(1, labels[nodes, None])).mean()
        return regularization_loss(distribution[nodes], labels[nodes]) - likelihood

    forms = {
        "fused": run(lambda: label_consistency_loss(logits, labels, nodes)),
        "plain": run(lambda: plain_loss(logits.softmax(dim=1), labels, nodes)),
    }
    return forms | ({"dense": run(dense)} if size <= DENSE_UP_TO else {})


def measure(repeats: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    rows = []
    idle = peak_memory("benchmarks.layer", "0", "none")
    for size in SIZES:
        forms = steps(size)
        times = interleaved(forms, repeats=repeats, seconds=0.2)
        rows.append(
            {
                "nodes": size,
                "milliseconds": {name: float(np.median(values)) for name, values in times.items()},
                "mebibytes": {name: peak_memory("benchmarks.layer", str(size), name) - idle for name in forms},
            }
        )
        print(rows[-1], file=sys.stderr)
    return {"machine": machine(), "classes": CLASSES, "labelled": LABELLED, "rows": rows}


def exponent(rows: list[dict[str, Any]], form: str, smallest: int = 30_000) -> float:
    """The power of the number of nodes that time grows with, fitted from ``smallest`` nodes on."""
    points = [(row["nodes"], row["milliseconds"][form]) for row in rows if row["nodes"] >= smallest]
    sizes, values = np.log(np.array(points)).T
    return float(np.polyfit(sizes, values, 1)[0])


def bytes_per_node(smaller: dict[str, Any], larger: dict[str, Any], form: str) -> float:
    """What every further node costs in memory."""
    difference = larger["mebibytes"][form] - smaller["mebibytes"][form]
    return float(difference * 2**20 / (larger["nodes"] - smaller["nodes"]))


def table(content: dict[str, Any]) -> str:
    rows = content["rows"]
    lines = [
        f"Loss and gradient of the label-consistency layer, {CLASSES} classes, {LABELLED} labelled nodes, one "
        "thread. Memory is the process's peak above an idle one.",
        "",
        "| nodes | fused ms | plain torch ms | N x N ms | fused MiB | plain MiB | N x N MiB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = [
            f"{row[key][form]:,.2f}" if form in row[key] else "-"
            for key in ("milliseconds", "mebibytes")
            for form in ("fused", "plain", "dense")
        ]
        lines.append(f"| {row['nodes']:,} | {' | '.join(cells)} |")
    lines += [
        "",
        f"From 30,000 nodes on, the time of the fused form grows as N^{exponent(rows, 'fused'):.2f}. Every further"
        f" node costs {bytes_per_node(rows[-3], rows[-2], 'fused'):.0f} bytes between the third and the second"
        f" largest size and {bytes_per_node(rows[-2], rows[-1], 'fused'):.0f} between the two largest; what is"
        " there from the start is the compiler.",
        "",
        f"Measured by `python -m benchmarks layer` on {in_words(content['machine'])}.",
    ]
    return "\n".join(lines)


def main(folder: Path, repeats: int) -> None:
    content = measure(repeats)
    write(folder, "layer", content, table(content))
    print(table(content))


if __name__ == "__main__":  # one form at one size, for its memory
    if sys.argv[2] != "none":
        steps(int(sys.argv[1]))[sys.argv[2]]()
    print_peak_memory()
