"""Large folders of tables, long and wide: how long they take to become a graph, and how much memory."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from benchmarks.measure import in_words, machine, peak_memory, print_peak_memory, write
from lcgnn.sources.tables.source import Tables

NODES, EDGES, NUMBERS, LABEL_RATE = 1_000_000, 10_000_000, 5, 0.01
# As many measurements of as few samples as a table of genes has, and word counts as a matrix of texts has.
WIDE_ROWS, WIDE_COLUMNS, WIDE_SHARE = 1_000, 8_000, 0.02


def generate(folder: Path) -> None:
    """Text ids, five columns of numbers, a category and a text of three words; edges at random."""
    generator = np.random.default_rng(0)
    ids = pa.array(np.char.add("user-", np.arange(NODES).astype(str)).astype(object))
    words = np.array([f"word{number}" for number in range(500)], dtype=object)
    chosen = words[generator.integers(0, words.size, (3, NODES))]
    labels = np.where(generator.random(NODES) < LABEL_RATE, words[generator.integers(0, 3, NODES)], np.array(None))
    columns = {"id": ids, "label": pa.array(labels, pa.string())}
    columns |= {f"x{number}": pa.array(generator.standard_normal(NODES).round(4)) for number in range(NUMBERS)}
    columns |= {"category": pa.array(words[generator.integers(0, 20, NODES)])}
    columns |= {"text": pa.array(chosen[0] + " " + chosen[1] + " " + chosen[2])}
    csv.write_csv(pa.table(columns), folder / "nodes.csv")
    ends = {name: ids.take(pa.array(generator.integers(0, NODES, EDGES))) for name in ("source", "target")}
    csv.write_csv(pa.table(ends), folder / "edges.csv")


def generate_wide(folder: Path, *, counts: bool) -> None:
    """Very many columns of numbers, or of counts that are mostly zeros; a ring of edges."""
    generator = np.random.default_rng(0)
    shape = (WIDE_COLUMNS, WIDE_ROWS)
    values: NDArray[Any]
    if counts:
        values = (generator.random(shape) < WIDE_SHARE) * generator.integers(1, 9, shape)
    else:
        values = generator.standard_normal(shape).round(4)
    ids = np.arange(WIDE_ROWS)
    columns = {"id": pa.array(ids), "label": pa.array(np.where(ids % 20 == 0, "a", "b").astype(object))}
    columns |= {f"gene-{number}": pa.array(column) for number, column in enumerate(values)}
    csv.write_csv(pa.table(columns), folder / "nodes.csv")
    csv.write_csv(pa.table({"source": ids, "target": (ids + 1) % WIDE_ROWS}), folder / "edges.csv")


def measure_wide(*, counts: bool) -> float:
    """Seconds that a wide table takes to become a graph, the best of three."""
    with tempfile.TemporaryDirectory() as name:
        generate_wide(Path(name), counts=counts)
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            Tables(name).load()
            seconds.append(time.perf_counter() - started)
    return min(seconds)


def measure() -> dict[str, Any]:
    wide = {"numbers": measure_wide(counts=False), "counts": measure_wide(counts=True)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder)
        sizes = {file: (folder / file).stat().st_size / 2**20 for file in ("nodes.csv", "edges.csv")}
        started = time.perf_counter()
        peak = peak_memory("benchmarks.tables", name)
        seconds = time.perf_counter() - started
    content = {"nodes": NODES, "edges": EDGES, "mebibytes_on_disk": sizes}
    return {"machine": machine(), **content, "seconds": seconds, "peak_mebibytes": peak, "wide_seconds": wide}


def table(content: dict[str, Any]) -> str:
    sizes = content["mebibytes_on_disk"]
    return "\n".join(
        [
            f"{NODES:,} nodes (text ids, {NUMBERS} numbers, a category, a text) and {EDGES:,} edges as CSV "
            f"({sizes['nodes.csv']:.0f} and {sizes['edges.csv']:.0f} MiB) become a graph in "
            f"{content['seconds']:.1f} s with a peak of {content['peak_mebibytes']:,.0f} MiB, the start of Python "
            "included.",
            "",
            *(_wide_line(what, seconds) for what, seconds in content["wide_seconds"].items()),
            "",
            f"Measured by `python -m benchmarks tables` on {in_words(content['machine'])}.",
        ]
    )


def _wide_line(what: str, seconds: float) -> str:
    cells = WIDE_ROWS * WIDE_COLUMNS
    return (
        f"{WIDE_ROWS:,} nodes with {WIDE_COLUMNS:,} columns of {what} take {seconds:.1f} s, which is "
        f"{cells / seconds / 1e6:.1f} million cells a second."
    )


def main(folder: Path) -> None:
    content = measure()
    write(folder, "tables", content, table(content))
    print(table(content))


if __name__ == "__main__":  # load once, for time and memory
    Tables(sys.argv[1]).load()
    print_peak_memory()
