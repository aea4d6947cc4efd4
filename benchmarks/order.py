"""How the nodes are numbered: what the products of an epoch take, and what another numbering takes to find."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from benchmarks.measure import in_words, interleaved, machine, ratio, write
from benchmarks.scale import EDGES_A_NODE, graph_folder
from lcgnn.compute.kernels import threads
from lcgnn.compute.sparse import SparseMatrix, normalized_adjacency
from lcgnn.sources.arrays import load_arrays

SIZES = (100_000, 1_000_000, 4_000_000)
COLUMNS = 20

Numbers = NDArray[np.int64]


def by_degree(adjacency: csr_array) -> Numbers:
    """The nodes, those with most neighbours first."""
    return np.argsort(-np.diff(adjacency.indptr), kind="stable")


def by_cuthill_mckee(adjacency: csr_array) -> Numbers:
    """The nodes in reverse Cuthill-McKee order."""
    return np.asarray(reverse_cuthill_mckee(adjacency, symmetric_mode=True), dtype=np.int64)


ORDERS: dict[str, Callable[[csr_array], Numbers]] = {"by degree": by_degree, "Cuthill-McKee": by_cuthill_mckee}


def renumbered(adjacency: csr_array, order: Numbers) -> csr_array:
    """The adjacency with the nodes in this order."""
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    rows = adjacency[order]
    found = csr_array((rows.data, place[rows.indices], rows.indptr), shape=adjacency.shape)
    found.sort_indices()
    return found


def near(adjacency: csr_array) -> csr_array:
    """As many entries in every row, all beside the diagonal: what the arithmetic takes by itself."""
    degrees, size = np.diff(adjacency.indptr), adjacency.shape[0]
    rows = np.repeat(np.arange(size), degrees)
    within = np.arange(adjacency.nnz) - np.repeat(adjacency.indptr[:-1], degrees)
    columns = ((rows + within % 64) % size).astype(np.int32)
    return csr_array((adjacency.data, columns, adjacency.indptr), shape=adjacency.shape)


def measure_one(num_nodes: int, repeats: int) -> dict[str, Any]:
    """Seconds of a product by numbering, and of finding the numbering, for one size."""
    given = normalized_adjacency(load_arrays(graph_folder(num_nodes))[0].adjacency)
    shuffled = renumbered(given, np.random.default_rng(0).permutation(num_nodes))
    matrices, finding = {"near": near(given), "as generated": given, "shuffled": shuffled}, {}
    for name, find in ORDERS.items():
        started = time.perf_counter()
        matrices[name] = renumbered(shuffled, find(shuffled))
        finding[name] = time.perf_counter() - started
    dense = torch.randn(num_nodes, COLUMNS, generator=torch.Generator().manual_seed(0))
    sparse = {name: SparseMatrix.of(found, torch.device("cpu")) for name, found in matrices.items()}
    products = {name: partial(matrix.product, dense) for name, matrix in sparse.items()}
    with threads.using(1):
        times = interleaved(products, repeats=repeats, seconds=0.1)
    return {
        "nodes": num_nodes,
        "entries": given.nnz,
        "milliseconds": {name: statistics.median(values) for name, values in times.items()},
        "ratios": {name: ratio(times[name], times["as generated"]) for name in times},
        "finding": finding,
    }


def table(content: dict[str, Any]) -> str:
    lines = [
        "# Numbering",
        "",
        f"One product of the normalised adjacency with {COLUMNS} columns on one thread, nanoseconds an entry, on "
        f"graphs of `lcgnn generate` with {EDGES_A_NODE} edges a node: with every entry beside the diagonal, with "
        "the nodes as they are generated (communities together), shuffled, and shuffled ones renumbered. Medians; "
        "contenders interleaved; in brackets the median ratio to the graph as generated (least to greatest). "
        "Seconds: what finding the order and renumbering the matrix took.",
        f"{in_words(content['machine'])}.",
        f"`{content['command']}`",
        "",
        "| nodes | near | as generated | shuffled | by degree | Cuthill-McKee | s by degree | s Cuthill-McKee |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in content["rows"]:
        cells = [
            f"{1e6 * row['milliseconds'][name] / row['entries']:.2f} ({value['median']:.2f}; "
            f"{value['least']:.2f} to {value['greatest']:.2f})"
            for name, value in row["ratios"].items()
        ]
        seconds = [f"{row['finding'][name]:.1f}" for name in ORDERS]
        lines.append(f"| {row['nodes']:,} | {' | '.join([*cells, *seconds])} |")
    return "\n".join(lines)


def main(folder: Path, repeats: int, sizes: tuple[int, ...] = SIZES) -> None:
    rows = []
    for size in sizes:
        rows.append(measure_one(size, repeats))
        print(rows[-1], file=sys.stderr)
        command = f"python -m benchmarks order --repeats {repeats} --sizes {' '.join(map(str, sizes))}"
        content = {"machine": machine(), "command": command, "rows": rows}
        write(folder, "order", content, table(content))
    print(table(content))
