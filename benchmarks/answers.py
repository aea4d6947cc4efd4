"""How long a user waits for a whole answer, and where the time goes: commands as they are typed, on Cora.

Cora's graph is written as two CSV files with the 140 labels of its public split, so that it is a graph of the
user's own: its words as columns, or as a text.
"""

from __future__ import annotations

import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from benchmarks.measure import in_words, machine, write
from lcgnn.sources.benchmarks import load

# Every command and how often it is given.
COMMANDS = (
    (5, ("--help",)),
    (3, ("train", "columns", "--method", "lc-gcn")),
    (2, ("train", "text", "--method", "lc-gcn")),
    (1, ("train", "columns")),
)
# What is trained for a moment before, so that its kernels are there.
WARMED_UP, FEW = ("lc-gcn", "lc-appnp"), ("--base-epochs", "2", "--epochs", "2")
# Packages whose import a profile of the start names.
PACKAGES = ("torch", "scipy", "numpy", "numba", "joblib", "pyarrow", "rich", "typer")

Row = dict[str, Any]


def main(folder: Path) -> None:
    """Measure, print and write."""
    with tempfile.TemporaryDirectory() as temporary:
        content = measure(Path(temporary))
    markdown = table({"machine": machine(), **content})
    print(markdown)
    write(folder, "answers", {"machine": machine(), **content}, markdown)


def measure(folder: Path) -> dict[str, Any]:
    """Seconds of the start, of compiling into an empty folder, of whole answers, and of their parts."""
    write_tables(folder / "columns", as_text=False)
    write_tables(folder / "text", as_text=True)
    kept, empty = folder / "kept", folder / "empty"
    first = [timed(folder, empty, "train", name) for name in ("cora", "citeseer")]
    again = [timed(folder, empty, "train", name) for name in ("cora", "citeseer")]
    compiled = [row["seconds"] - after["seconds"] for row, after in zip(first, again, strict=True)]
    for method in WARMED_UP:
        timed(folder, kept, "train", "columns", "--method", method, "--no-estimate", *FEW)
    rows = [repeated(folder, kept, *arguments, repeats=repeats) for repeats, arguments in COMMANDS]
    return {"compiled": compiled, "rows": rows, "imports": imports(folder)}


def write_tables(folder: Path, *, as_text: bool) -> None:
    """Cora as nodes.csv and edges.csv."""
    graph, split = load("cora")
    words, given = csr_array(graph.features), set(split.train.tolist())
    count = graph.num_features
    folder.mkdir()
    with (folder / "nodes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label", *(["words"] if as_text else (f"w{k}" for k in range(count)))])
        for node in range(graph.num_nodes):
            label = graph.class_names[graph.labels[node]] if node in given else ""
            columns = words.indices[words.indptr[node] : words.indptr[node + 1]].tolist()
            cells = [" ".join(f"word{k}" for k in columns)] if as_text else _zeros_and_ones(columns, count)
            writer.writerow([f"paper {node}", label, *cells])
    edges = graph.adjacency.tocoo()
    with (folder / "edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        pairs = zip(edges.row.tolist(), edges.col.tolist(), strict=True)
        writer.writerows((f"paper {a}", f"paper {b}") for a, b in pairs if a < b)


def _zeros_and_ones(columns: list[int], count: int) -> list[int]:
    cells = [0] * count
    for column in columns:
        cells[column] = 1
    return cells


def repeated(folder: Path, kernels: Path, *arguments: str, repeats: int) -> Row:
    """A command several times: seconds, and what it says of its parts."""
    found = [timed(folder, kernels, *arguments) for _ in range(repeats)]
    parts = {name: statistics.median(row[name] for row in found) for name in ("folds", "final")}
    return {"command": " ".join(("lcgnn", *arguments)), "seconds": [row["seconds"] for row in found], **parts}


def timed(folder: Path, kernels: Path, *arguments: str) -> Row:
    """Seconds of a command in a folder of its own, with machine code in a folder of ours."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        further = [] if arguments == ("--help",) else ["--out", f"{out}/run"]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "lcgnn", *arguments, *further],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seconds = time.perf_counter() - started
    said = re.findall(r"(folds|seed).*\((\d+\.\d) s\)", done.stderr)
    told = {name: float(value) for name, value in said}
    return {"seconds": seconds, "folds": told.get("folds", 0.0), "final": told.get("seed", 0.0)}


def imports(folder: Path) -> dict[str, float]:
    """Seconds that packages take to be imported before anything is read, by what imports them first."""
    command = [sys.executable, "-X", "importtime", "-c", "import lcgnn.cli.watching, lcgnn.runs.train, numba"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr
    found: dict[str, float] = {}
    for own, name in re.findall(r"import time:\s*(\d+) \|\s*\d+ \|\s*(\S+)", said):
        package = name.partition(".")[0]
        key = package if package in PACKAGES else "lcgnn" if package == "lcgnn" else "others"
        found[key] = found.get(key, 0.0) + int(own) / 1e6
    return found


def table(content: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "Whole commands as a user types them, from the shell and back, kernels compiled before: median seconds "
        "(least to greatest, of so many). Cora as CSV files, 140 labels of 2,708 nodes, its 1,433 words as "
        "columns or as a text.",
        "",
        "| command | s | folds s | final model s | the rest s |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in content["rows"]:
        seconds = row["seconds"]
        middle = statistics.median(seconds)
        rest = middle - row["folds"] - row["final"]
        spread = f" ({min(seconds):.1f} to {max(seconds):.1f}, {len(seconds)})" if len(seconds) > 1 else ""
        lines.append(
            f"| `{row['command']}` | {middle:.1f}{spread} | {row['folds']:.1f} | {row['final']:.1f} | {rest:.1f} |"
        )
    first, second = content["compiled"]
    taken = sorted(content["imports"].items(), key=lambda item: -item[1])
    lines += [
        "",
        f"The first run after an installation compiles for {first:.1f} s (`lcgnn train cora`), the first on a "
        f"graph with another number of classes for {second:.1f} s more (`lcgnn train citeseer`): the difference "
        "to the same commands given again.",
        "",
        "Of the rest, imports in the first process (`python -X importtime`, which slows them down): "
        + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in taken)
        + ".",
        "",
        f"Measured by `python -m benchmarks answers` on {in_words(content['machine'])}.",
    ]
    return "\n".join(lines)
