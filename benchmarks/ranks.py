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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import in_words, machine, write
from benchmarks.scale import graph_folder

# Messages, bytes and seconds, by kind of message.
Costs = dict[str, dict[str, float]]

# Attention takes ten times as long.
NUM_NODES = {"lc-gcn": 1_000_000, "lc-gat": 200_000}
# Turns that one process and two take, and epochs that are timed in each after those that fill caches.
TURNS = 3
EPOCHS, WARM = 6, 2


def timed(method: str, fit: Callable[..., Any], traffic: Callable[[], Costs] = dict) -> dict[str, Any]:
    """Seconds of every epoch with label consistency, and what its messages cost, from the progress of a fit."""
    from lcgnn.methods import Context, create

    ends: list[float] = []
    work: list[float] = []
    costs: list[Costs] = []

    def note(progress: Any) -> None:
        if progress.phase == "label consistency":
            ends.append(time.perf_counter())
            work.append(time.process_time())
            costs.append(traffic())

    settings: dict[str, Any] = {"base_epochs": 1, "base_stop_window": 0, "epochs": EPOCHS + WARM}
    found = fit(create(method, **settings), Context("cpu", progress=note))
    return {
        "seconds": [after - before for before, after in itertools.pairwise(ends[WARM - 1 :])],
        "cpu": [after - before for before, after in itertools.pairwise(work[WARM - 1 :])],
        "messages": per_epoch(costs[WARM - 1], costs[-1], EPOCHS),
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
    from lcgnn.sources.arrays import load_arrays

    graph, split = load_arrays(folder)
    return timed(method, lambda created, context: created.fit(graph, split, 0, context))


def together(method: str, folder: Path) -> dict[str, Any] | None:
    """By all ranks; the first one has the figures."""
    from lcgnn.runs.crew import at_work
    from lcgnn.sources.parts.parted import load_parted

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
    from lcgnn.compute.placement import cutting
    from lcgnn.sources.arrays import load_arrays
    from lcgnn.sources.parts.files import read_manifest, write_parts
    from lcgnn.sources.parts.parted import holds_parts

    parts = folder / f"parts-{num_parts}"
    if not holds_parts(parts):
        graph, split = load_arrays(folder)
        described = {"name": graph.name, "checksum": graph.checksum, "split": split.name}
        write_parts(
            parts, graph, split, cutting.cut(graph, split, cutting.assign(graph, num_parts, "metis")), described
        )
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


def main(out: Path, sizes: Mapping[str, int] | None = None) -> None:
    """Measure one process and two in turn for every method, print the tables and write them down."""
    described, measured = machine(), {}
    for method, num_nodes in (sizes or NUM_NODES).items():
        folder = graph_folder(num_nodes)
        graph = cut(folder, 2)
        turns = [[run(method, folder, ranks) for ranks in (1, 2)] for _ in range(TURNS)]
        measured[method] = {"graph": graph, **summarized(turns)}
        table = markdown(measured, described)
        write(out, "ranks", {"machine": described, "methods": measured}, table)
    print(table)


def summarized(turns: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The medians of every turn for one process and two, and how far their losses lie apart."""
    one, two = turns[-1]
    return {
        "seconds": [[statistics.median(item["seconds"]) for item in turn] for turn in turns],
        "cpu": [[statistics.median(item["cpu"]) for item in turn] for turn in turns],
        "losses_differ_by": max(abs(a - b) for a, b in zip(one["losses"], two["losses"], strict=True)),
        "messages": two["messages"],
    }


def markdown(measured: Mapping[str, dict[str, Any]], described: dict[str, Any]) -> str:
    lines = ["# Two processes on one graph", ""]
    for method, found in measured.items():
        lines += [f"## {method}", "", *section(method, found), ""]
    return "\n".join([*lines, f"Written by `python -m benchmarks ranks`. Machine: {in_words(described)}."])


def section(method: str, measured: dict[str, Any]) -> list[str]:
    """What is said of a method."""
    graph = measured["graph"]
    boundary = " and ".join(f"{count:,}" for count in graph["boundary"])
    turns = zip(measured["seconds"], measured["cpu"], strict=True)
    return [
        f"An epoch of {method} (training and validation) on {graph['nodes']:,} nodes and {graph['edges']:,} "
        f"edges, by one process and by two, one thread each. {graph['cut_edges']:,} edges lie between the two "
        f"parts, as METIS leaves them; they need the rows of {boundary} of each other's nodes. Losses differ by "
        f"at most {measured['losses_differ_by']:.1e}.",
        "",
        "| turn | one process | two processes | speed-up | processor time, one | of each of two |",
        "|---|---|---|---|---|---|",
        *(
            f"| {turn} | {one:.2f} s | {two:.2f} s | {one / two:.2f} | {cpu_of_one:.2f} s | {cpu_of_two:.2f} s |"
            for turn, ((one, two), (cpu_of_one, cpu_of_two)) in enumerate(turns, start=1)
        ),
        "",
        "What the first process sends in an epoch, and how long that takes, waiting for the other one included:",
        "",
        "| message | number | sent | time |",
        "|---|---|---|---|",
        *(
            f"| {kind} | {cost['messages']:.1f} | {cost['sent'] / 1e6:.3f} MB | {1e3 * cost['seconds']:.1f} ms |"
            for kind, cost in measured["messages"].items()
        ),
    ]


def measure_here(method: str, folder: Path) -> None:
    """What a fresh process does."""
    import torch

    torch.set_num_threads(1)
    found = together(method, folder) if "RANK" in os.environ else alone(method, folder)
    if found is not None:
        print(json.dumps(found))


if __name__ == "__main__":
    measure_here(sys.argv[1], Path(sys.argv[2]))
