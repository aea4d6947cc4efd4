"""Memory: the peak of whole commands, reading and writing included, and what of it a node and an edge take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import in_words, machine, peak_mebibytes, write

# Nodes and edges of the generated graphs: what a node takes is told from what an edge takes by the second.
SIZES = ((1_000_000, 10_000_000), (500_000, 5_000_000), (1_000_000, 5_000_000))
PARTS, RANKS, EPOCHS = 8, 2, 3
CONTENDERS = {
    "in one piece": "lcgnn train GRAPH",
    f"in {PARTS} parts": f"lcgnn train GRAPH --parts {PARTS}",
    f"the larger of {RANKS} ranks": f"torchrun --nproc-per-node={RANKS} -m lcgnn train GRAPH",
    "cut by metis": f"lcgnn partition GRAPH --parts {RANKS} --by metis",
    "cut in a stream": f"lcgnn partition GRAPH --parts {RANKS} --by stream",
}
TRAINING = ["--method", "lc-gcn", "--no-estimate", "--base-epochs", str(EPOCHS), "--epochs", str(EPOCHS)]


def graph_folder(num_nodes: int, num_edges: int) -> Path:
    """The generated graph of that size, from the last time if it is there."""
    from lcgnn.sources.arrays import holds_arrays
    from lcgnn.sources.generated.blocks import Blocks
    from lcgnn.sources.generated.writing import write_arrays

    folder = Path(tempfile.gettempdir()) / "lcgnn-memory" / f"{num_nodes}-{num_edges}"
    if not holds_arrays(folder):
        write_arrays(Blocks(num_nodes, num_edges), folder)
    return folder


def measured(name: str, folder: Path) -> dict[str, Any]:
    """The largest peak of a command's processes."""
    with tempfile.TemporaryDirectory(prefix="lcgnn-memory-") as scratch:
        words = CONTENDERS[name].replace("GRAPH", str(folder)).split()
        launcher = [] if words[0] == "lcgnn" else ["-m", "torch.distributed.run", words[1]]
        arguments = words[words.index("lcgnn") + 1 :]
        arguments += TRAINING if arguments[0] == "train" else []
        arguments += ["--out", f"{scratch}/out"]
        command = [
            sys.executable,
            "-W",
            "ignore",
            *launcher,
            "-m",
            "benchmarks.memory",
            f"{scratch}/peak",
            *arguments,
        ]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        peaks = [float(path.read_text()) for path in Path(scratch).glob("peak-*")]
    print(f"{name}, {folder.name}: {max(peaks):,.0f} MiB", file=sys.stderr)
    return {"contender": name, "mebibytes": max(peaks)}


def fitted(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """By contender, the bytes of the process itself, of a node and of an edge that explain its peaks best."""
    found = {}
    for name in CONTENDERS:
        own = [row for row in rows if row["contender"] == name]
        if len(own) < 3:
            continue
        known = np.array([[1, row["nodes"], row["edges"]] for row in own], dtype=np.float64)
        peaks = np.array([row["mebibytes"] * 2**20 for row in own])
        scale = known.max(axis=0)
        process, node, edge = np.linalg.lstsq(known / scale, peaks, rcond=None)[0] / scale
        found[name] = {"process": process, "node": node, "edge": edge}
    return found


def table(content: dict[str, Any]) -> str:
    lines = [
        "# Memory",
        "",
        "Peak of whole commands on graphs of `lcgnn generate` with 64 features and 20 classes: reading, "
        f"{EPOCHS} epochs of GCN and as many of label consistency, predictions as CSV; files that are mapped into "
        f"memory count while they are. {in_words(content['machine'])}. `{content['command']}`",
        "",
        "| | nodes | edges | peak MiB |",
        "|---|---:|---:|---:|",
        *(
            f"| {row['contender']} | {row['nodes']:,} | {row['edges']:,} | {row['mebibytes']:,.0f} |"
            for row in content["rows"]
        ),
        "",
        "| | command | MB of the process itself | bytes a node | bytes an edge |",
        "|---|---|---:|---:|---:|",
        *(
            f"| {name} | `{CONTENDERS[name]}` | {cost['process'] / 1e6:,.0f} | {cost['node']:,.0f} "
            f"| {cost['edge']:,.0f} |"
            for name, cost in content["fitted"].items()
        ),
    ]
    return "\n".join(lines)


def main(folder: Path, sizes: tuple[tuple[int, int], ...] = SIZES) -> None:
    """Measure every command on every graph, print the table and write it down."""
    rows: list[dict[str, Any]] = []
    for num_nodes, num_edges in sizes:
        graph = graph_folder(num_nodes, num_edges)
        told = json.loads((graph / "graph.json").read_text())
        for name in CONTENDERS:
            if "ranks" in name:
                _cut(graph)
            rows.append({"nodes": told["num_nodes"], "edges": told["num_edges"], **measured(name, graph)})
            command = "python -m benchmarks memory"
            content = {"machine": machine(), "command": command, "rows": rows, "fitted": fitted(rows)}
            write(folder, "memory", content, table(content))
    print(table(content))


def _cut(graph: Path) -> None:
    """Cut a graph into a part a rank, unless it was the last time."""
    from lcgnn.runs.partition import partition
    from lcgnn.sources.arrays import ArrayFolder

    parts = graph / f"parts-{RANKS}"
    if not parts.exists():
        partition(ArrayFolder(str(graph)).load(), RANKS, parts, "metis")


def _child(peak: str, arguments: list[str]) -> None:
    """Be the command, and leave the process's peak in a file."""
    import atexit

    path = Path(f"{peak}-{os.environ.get('RANK', '0')}")
    atexit.register(lambda: path.write_text(str(peak_mebibytes())))
    sys.argv = ["lcgnn", *arguments]
    from lcgnn.cli import main as command

    command()


if __name__ == "__main__":  # one command, for its memory
    _child(sys.argv[1], sys.argv[2:])
