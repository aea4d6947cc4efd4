"""Several processes: seconds an epoch by one and by two, one thread each, and what they tell each other."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import in_words, machine, write
from benchmarks.scale import graph_folder

# Messages, bytes and seconds, by kind of message.
Costs = dict[str, dict[str, float]]

NUM_NODES = 1_000_000
# Turns that one process and two take, and epochs that are timed in each after those that fill caches.
TURNS = {"lc-gcn": 3, "lc-gat": 1}
EPOCHS = {"lc-gcn": 6, "lc-gat": 2}
WARM = 2


def timed(method: str, fit: Callable[..., Any], traffic: Callable[[], Costs] = dict) -> dict[str, Any]:
    """Seconds of every epoch with label consistency, and what its messages cost, from the progress of a fit."""
    from lcgnn.methods import Context, create

    ends: list[float] = []
    costs: list[Costs] = []

    def note(progress: Any) -> None:
        if progress.phase == "label consistency":
            ends.append(time.perf_counter())
            costs.append(traffic())

    settings = {"base_epochs": 1, "base_stop_window": 0, "epochs": EPOCHS[method] + WARM}
    found = fit(create(method, **settings), Context("cpu", progress=note))
    return {
        "seconds": [after - before for before, after in itertools.pairwise(ends[WARM - 1 :])],
        "messages": per_epoch(costs[WARM - 1], costs[-1], EPOCHS[method]),
        "losses": found.stages[-1].history[:, 0].tolist(),
    }


def per_epoch(before: Costs, after: Costs, epochs: int) -> Costs:
    """What every kind of message costs an epoch, given the sums before and after so many."""
    return {
        kind: {name: (cost[name] - before[kind][name]) / epochs for name in cost}
        for kind, cost in after.items()
        if cost["messages"] > before[kind]["messages"]
    }


def alone(method: str, folder: Path) -> dict[str, Any]:
    """By one process, as ``lcgnn train`` does it."""
    from lcgnn.datasets.arrays import load_arrays

    graph, split = load_arrays(folder)
    return timed(method, lambda created, context: created.fit(graph, split, 0, context))


def together(method: str, folder: Path) -> dict[str, Any] | None:
    """By all ranks; the first one has the figures."""
    from lcgnn.distributed.crew import at_work
    from lcgnn.distributed.parted import load_parted

    parts = folder / f"parts-{os.environ['WORLD_SIZE']}"
    with at_work(parts, "cpu", {}) as crew:
        if crew is None:
            return None
        _, split = load_parted(parts)
        return timed(
            method,
            lambda created, context: crew.fit(method, created, split, 0, context),
            lambda: {kind: dataclasses.asdict(cost) for kind, cost in crew.world.traffic.items()},
        )


def cut(folder: Path, num_parts: int) -> dict[str, Any]:
    """The graph in parts, from the last time if it is there, and how it was cut."""
    from lcgnn.datasets.arrays import load_arrays
    from lcgnn.distributed.part_files import read_manifest, write_parts
    from lcgnn.distributed.parted import holds_parts

    parts = folder / f"parts-{num_parts}"
    if not holds_parts(parts):
        graph, split = load_arrays(folder)
        described = {"name": graph.name, "checksum": graph.checksum, "split": split.name}
        write_parts(parts, graph, split, num_parts, described)
    manifest = read_manifest(parts)
    return {
        "nodes": manifest.num_nodes,
        "edges": manifest.num_edges,
        "cut_edges": manifest.cut_edges,
        "boundary": [part.boundary for part in manifest.parts],
    }


def run(method: str, folder: Path, ranks: int) -> dict[str, Any]:
    """One measurement in fresh processes."""
    launcher = [] if ranks == 1 else ["-m", "torch.distributed.run", f"--nproc-per-node={ranks}"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *launcher, "-m", "benchmarks.ranks", method, str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main(out: Path, num_nodes: int = NUM_NODES) -> None:
    """Measure one process and two in turn, print the table and write it down."""
    folder = graph_folder(num_nodes)
    graph = cut(folder, 2)
    rows = []
    for method, count in TURNS.items():
        turns = [[run(method, folder, ranks) for ranks in (1, 2)] for _ in range(count)]
        rows.append(row(method, turns))
        print(rows[-1], flush=True)
    described = machine()
    write(out, "ranks", {"machine": described, "graph": graph, "rows": rows}, markdown(graph, rows, described))


def row(method: str, turns: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The medians over all turns, the speed-up of every turn, and how far the losses lie apart."""
    medians = [[statistics.median(measured["seconds"]) for measured in turn] for turn in turns]
    one, two = turns[-1]
    return {
        "method": method,
        "one": statistics.median(turn[0] for turn in medians),
        "two": statistics.median(turn[1] for turn in medians),
        "speed_up": [round(turn[0] / turn[1], 3) for turn in medians],
        "largest_difference_of_losses": max(abs(a - b) for a, b in zip(one["losses"], two["losses"], strict=True)),
        "messages": two["messages"],
    }


def markdown(graph: dict[str, Any], rows: list[dict[str, Any]], described: dict[str, Any]) -> str:
    lines = [
        "# Two processes on one graph",
        "",
        f"Seconds an epoch (training and validation, label consistency) on {graph['nodes']:,} nodes and "
        f"{graph['edges']:,} edges; {graph['cut_edges']:,} edges lie between the two parts, which need the rows "
        f"of {' and '.join(f'{count:,}' for count in graph['boundary'])} of each other's nodes. One thread a "
        "process. Written by `python -m benchmarks ranks`.",
        "",
        "| method | one process | two processes | speed-up, each turn | losses differ by |",
        "|---|---|---|---|---|",
        *(
            f"| {item['method']} | {item['one']:.2f} s | {item['two']:.2f} s | "
            f"{', '.join(f'{value:.2f}' for value in item['speed_up'])} | "
            f"{item['largest_difference_of_losses']:.1e} |"
            for item in rows
        ),
        "",
        "What the first process sends in an epoch, and how long that takes, waiting for the other one included:",
        "",
        "| method | message | number | sent | time |",
        "|---|---|---|---|---|",
        *(
            f"| {item['method']} | {kind} | {cost['messages']:.1f} | {cost['sent'] / 1e6:.3f} MB | "
            f"{1e3 * cost['seconds']:.1f} ms |"
            for item in rows
            for kind, cost in item["messages"].items()
        ),
        "",
        f"Machine: {in_words(described)}.",
    ]
    return "\n".join(lines)


def measure_here(method: str, folder: Path) -> None:
    """What a fresh process does."""
    import torch

    torch.set_num_threads(1)
    found = together(method, folder) if "RANK" in os.environ else alone(method, folder)
    if found is not None:
        print(json.dumps(found))


if __name__ == "__main__":
    measure_here(sys.argv[1], Path(sys.argv[2]))
