"""Size: seconds an epoch and peak memory from ten thousand to four million nodes, PyTorch Geometric beside it."""

from __future__ import annotations

import atexit
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import in_words, machine, peak_mebibytes, write

SIZES = (10_000, 100_000, 500_000, 1_000_000, 2_000_000, 4_000_000)
EDGES_A_NODE = 10
MODELS = ("gcn", "gat")
# What PyTorch Geometric's attention takes, 30 kB a node, does not fit into the memory of the machine beyond this.
LARGEST_OF_PYG = {"gcn": 1_000_000, "gat": 100_000}
# About how long a contender is timed for, and how many epochs it takes at least.
SECONDS, FEWEST = 3.0, 2


def graph_folder(num_nodes: int) -> Path:
    """The generated graph of that size, from the last time if it is there."""
    from lcgnn.sources.arrays import holds_arrays
    from lcgnn.sources.generated.blocks import Blocks
    from lcgnn.sources.generated.writing import write_arrays

    folder = Path(tempfile.gettempdir()) / "lcgnn-scale" / str(num_nodes)
    if not holds_arrays(folder):
        write_arrays(Blocks(num_nodes, EDGES_A_NODE * num_nodes), folder)
    return folder


def ours(model: str, folder: Path) -> Callable[[], object]:
    """One epoch of label consistency with lcgnn per call, with memory as in a whole training."""
    import torch

    from lcgnn.compute.placement.whole import GraphTensors
    from lcgnn.methods import create
    from lcgnn.methods.lc import TwoPhase
    from lcgnn.sources.arrays import load_arrays
    from lcgnn.training.loop import Loop, Trainer

    graph, split = load_arrays(folder)
    method = create(f"lc-{model}", epochs=10**9)
    assert isinstance(method, TwoPhase)
    tensors = GraphTensors(graph)
    network = method.network(graph.num_features, graph.num_classes, torch.Generator().manual_seed(0))
    trainer = Trainer(network, tensors, torch.tensor(split.validation), seed=0)
    phase, objective = method.phases(tensors, torch.tensor(split.train))[-1]
    memory = ExitStack()
    memory.enter_context(trainer.kept_memory())
    atexit.register(memory.close)
    return Loop(trainer, phase, objective).step


def peer(model: str, folder: Path) -> Callable[[], object]:
    """One epoch of label consistency, by Theorem 1, with PyTorch Geometric per call."""
    from benchmarks.peers import PyGTraining
    from lcgnn.sources.arrays import load_arrays

    return PyGTraining(model, *load_arrays(folder), "theorem")


CONTENDERS = {"lcgnn": ours, "PyG": peer}


def measured(name: str, model: str, num_nodes: int) -> dict[str, Any]:
    """What a process of its own says of a contender."""
    folder = graph_folder(num_nodes)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scale", name, model, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row = {"contender": name, "model": model, "nodes": num_nodes, **json.loads(done.stdout.splitlines()[-1])}
    print(f"{name} {model} {num_nodes:,}: {row['seconds']:.3g} s, {row['mebibytes']:.0f} MiB", file=sys.stderr)
    return row


def exponent(rows: list[dict[str, Any]], what: str) -> float:
    """Of the power law that fits best."""
    sizes, values = (np.log([row[key] for row in rows]) for key in ("nodes", what))
    return float(np.polyfit(sizes, values, 1)[0])


def measure(
    sizes: tuple[int, ...], models: tuple[str, ...], earlier: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """All figures so far, again after every process; of other sizes and networks they are the earlier ones."""
    idle = measured("none", "gcn", min(sizes))["mebibytes"]
    known = {(row["model"], row["nodes"], row["contender"]): row for row in earlier}
    for model in models:
        for size in sizes:
            for name in CONTENDERS:
                if name == "PyG" and size > LARGEST_OF_PYG[model]:
                    continue
                row = measured(name, model, size)
                known[model, size, name] = {**row, "mebibytes_above_idle": row["mebibytes"] - idle}
                rows = [known[key] for key in sorted(known, key=lambda key: (MODELS.index(key[0]), key[1]))]
                yield {
                    "machine": machine(),
                    "command": "python -m benchmarks scale",
                    "load": [round(row["load"], 1) for row in rows],
                    "idle_mebibytes": idle,
                    "exponents": exponents(rows),
                    "rows": rows,
                }


def exponents(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """By network, how lcgnn's time and memory grow with the number of nodes."""
    fitted = {}
    for model in MODELS:
        own = [row for row in rows if (row["contender"], row["model"]) == ("lcgnn", model)]
        if len(own) > 1:
            fitted[model] = {what: exponent(own, what) for what in ("seconds", "mebibytes_above_idle")}
    return fitted


def table(content: dict[str, Any]) -> str:
    found = {(row["contender"], row["model"], row["nodes"]): row for row in content["rows"]}
    lines = [
        "# Size",
        "",
        "One epoch (training and validation) of LC-GCN and LC-GAT on graphs of `lcgnn generate`, with "
        f"{EDGES_A_NODE} edges a node, 64 features and 20 classes: processor seconds of one thread, median, and "
        "peak memory of the process.",
        f"{in_words(content['machine'])}; load of the machine meanwhile: {min(content['load'])} to "
        f"{max(content['load'])} processes on its {content['machine']['cores']} cores.",
        f"`{content['command']}`",
        "",
        "| network | nodes | edges | lcgnn s | PyG s | PyG / lcgnn | lcgnn MiB | PyG MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (name, model, nodes), row in found.items():
        if name != "lcgnn":
            continue
        other = found.get(("PyG", model, nodes))
        peers = (
            [f"{other['seconds']:.3g}", f"{other['seconds'] / row['seconds']:.1f}", f"{other['mebibytes']:,.0f}"]
            if other
            else ["-"] * 3
        )
        lines.append(
            f"| LC-{model.upper()} | {nodes:,} | {row['edges']:,} | {row['seconds']:.3g} | {peers[0]} "
            f"| {peers[1]} | {row['mebibytes']:,.0f} | {peers[2]} |"
        )
    lines.append("")
    for model in content["exponents"]:
        least, greatest = _growth([row for row in content["rows"] if row["model"] == model])
        lines.append(
            f"LC-{model.upper()}: from 100,000 nodes on {least:.0f} to {greatest:.0f} ns a node and edge, within "
            f"a factor of {greatest / least:.2f}."
        )
    for model, fitted in content["exponents"].items():
        lines.append(
            f"LC-{model.upper()}: time grows with the nodes to the power of {fitted['seconds']:.2f}, memory above "
            f"the {content['idle_mebibytes']:.0f} MiB of a process that only imports to the power of "
            f"{fitted['mebibytes_above_idle']:.2f}."
        )
    return "\n".join(lines)


def _growth(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """The least and the greatest time of ours a node and edge, in nanoseconds, from 100,000 nodes on."""
    large = [row for row in rows if row["contender"] == "lcgnn" and row["nodes"] >= 100_000]
    each = [1e9 * row["seconds"] / (row["nodes"] + row["edges"]) for row in large]
    return (min(each), max(each)) if each else (1.0, 1.0)


def main(folder: Path, sizes: tuple[int, ...] = SIZES, models: tuple[str, ...] = MODELS) -> None:
    """Measure these sizes and networks; what an earlier call measured of others stays in the table."""
    path = folder / "scale.json"
    earlier = json.loads(path.read_text())["rows"] if path.exists() else []
    for content in measure(sizes, models, earlier):
        write(folder, "scale", content, table(content))
    print(table(content))


def _child(name: str, model: str, folder: Path) -> None:
    import torch
    import torch_geometric  # noqa: F401

    import lcgnn.methods  # noqa: F401
    from lcgnn.compute.kernels import threads

    torch.set_num_threads(1)
    with threads.using(1):
        _measure_in_child(name, model, folder)


def _measure_in_child(name: str, model: str, folder: Path) -> None:
    seconds: list[float] = []
    if name != "none":
        step = CONTENDERS[name](model, folder)
        step()  # compiles
        while len(seconds) < FEWEST or (sum(seconds) < SECONDS and len(seconds) < 100):
            started = time.process_time()
            step()
            seconds.append(time.process_time() - started)
    edges = json.loads((folder / "graph.json").read_text())["num_edges"]
    result = {
        "seconds": statistics.median(seconds or [0]),
        "edges": edges,
        "mebibytes": peak_mebibytes(),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(result))


if __name__ == "__main__":  # one contender, for its time and memory
    _child(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
