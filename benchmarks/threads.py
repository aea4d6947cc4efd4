"""An epoch of label consistency on one thread and on several, PyTorch Geometric with as many beside it."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import in_words, interleaved, machine, ratio, write
from benchmarks.peers import PyGTraining
from benchmarks.scale import EDGES_A_NODE, LARGEST_OF_PYG, graph_folder, ours
from lcgnn.compute.kernels import threads
from lcgnn.sources.arrays import load_arrays

NETWORKS = ("gcn", "gat", "grand")
SIZES = (10_000, 30_000, 100_000, 1_000_000)

Step = Callable[[], object]


def on_threads(step: Step, count: int) -> Step:
    """A step of lcgnn's on so many threads."""

    def run() -> None:
        torch.set_num_threads(1)
        with threads.using(count):
            step()

    return run


def of_torch(step: Step, count: int) -> Step:
    """A step of torch's on so many threads."""

    def run() -> None:
        torch.set_num_threads(count)
        step()

    return run


def contenders(network: str, num_nodes: int, count: int) -> dict[str, Step]:
    """By their names in the table: lcgnn on one thread, on several, and PyTorch Geometric on as many."""
    folder = graph_folder(num_nodes)
    step = ours(network, folder)
    found = {"one thread": on_threads(step, 1), "several": on_threads(step, count)}
    if num_nodes <= LARGEST_OF_PYG.get(network, 0):
        found["PyG"] = of_torch(PyGTraining(network, *load_arrays(folder), "theorem"), count)
    return found


def measure_one(network: str, num_nodes: int, count: int, repeats: int) -> dict[str, Any]:
    """The medians of a network at a size, and the ratios of the repeats."""
    times = interleaved(contenders(network, num_nodes, count), repeats=repeats, seconds=0.3)
    ratios = {"speed-up": ratio(times["one thread"], times["several"])}
    if "PyG" in times:
        ratios["PyG / lcgnn"] = ratio(times["PyG"], times["several"])
    return {
        "network": network,
        "nodes": num_nodes,
        "threads": count,
        "milliseconds": {name: statistics.median(values) for name, values in times.items()},
        "ratios": ratios,
    }


def table(content: dict[str, Any]) -> str:
    lines = [
        "# Threads",
        "",
        "Milliseconds an epoch (training and validation) of label consistency on graphs of `lcgnn generate` with "
        f"{EDGES_A_NODE} edges a node, 64 features and 20 classes: on one thread, on several, and PyTorch "
        "Geometric's on as many. Medians; contenders interleaved. Ratios: median (least to greatest).",
        "Graphs below 32,768 nodes stay on one thread.",
        f"{in_words(content['machine'])}.",
        f"`{content['command']}`",
        "",
        "| network | nodes | threads | one thread | several | speed-up | PyG | PyG / lcgnn |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(content["rows"], key=lambda row: (NETWORKS.index(row["network"]), row["nodes"])):
        times, ratios = row["milliseconds"], row["ratios"]
        peer = f"{times['PyG']:,.0f}" if "PyG" in times else "-"
        lines.append(
            f"| LC-{row['network'].upper()} | {row['nodes']:,} | {row['threads']} | {times['one thread']:,.1f} "
            f"| {times['several']:,.1f} | {_spread(ratios['speed-up'])} | {peer} "
            f"| {_spread(ratios['PyG / lcgnn']) if 'PyG / lcgnn' in ratios else '-'} |"
        )
    return "\n".join(lines)


def _spread(value: dict[str, float]) -> str:
    return f"{value['median']:.2f} ({value['least']:.2f} to {value['greatest']:.2f})"


def main(
    folder: Path, repeats: int, count: int, sizes: tuple[int, ...] = SIZES, networks: tuple[str, ...] = NETWORKS
) -> None:
    """Measure these sizes and networks; what an earlier call measured of others stays in the table."""
    path = folder / "threads.json"
    earlier = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = {(row["network"], row["nodes"]): row for row in earlier}
    content: dict[str, Any] = {}
    for network in networks:
        for size in sizes:
            row = rows[network, size] = measure_one(network, size, count, repeats)
            print(row, file=sys.stderr)
            command = f"python -m benchmarks threads --repeats {repeats}"
            content = {"machine": machine(), "command": command, "rows": list(rows.values())}
            write(folder, "threads", content, table(content))
    print(table(content))
