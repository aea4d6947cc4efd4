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
from lcgnn.compute.placement.cutting import assign
from lcgnn.compute.placement.ordered import PIECES
from lcgnn.compute.placement.whole import LARGE, GraphTensors
from lcgnn.compute.sparse import SparseMatrix, normalized_adjacency
from lcgnn.graph import Graph
from lcgnn.methods import create
from lcgnn.methods.lc import TwoPhase
from lcgnn.sources.arrays import load_arrays
from lcgnn.training.loop import Loop, Trainer

SIZES = (100_000, 1_000_000, 4_000_000)
COLUMNS = 20

Numbers = NDArray[np.int64]


def by_degree(adjacency: csr_array) -> Numbers:
    """The nodes, those with most neighbours first."""
    return np.argsort(-np.diff(adjacency.indptr), kind="stable")


def by_cuthill_mckee(adjacency: csr_array) -> Numbers:
    """The nodes in reverse Cuthill-McKee order."""
    return np.asarray(reverse_cuthill_mckee(adjacency, symmetric_mode=True), dtype=np.int64)


def by_metis(adjacency: csr_array) -> Numbers:
    """The nodes in METIS's parts, as training takes them."""
    size = adjacency.shape[0]
    graph = Graph("shuffled", adjacency, np.zeros(size, dtype=np.int64), ("a",))
    return np.argsort(assign(graph, PIECES, "metis"), kind="stable")


ORDERS: dict[str, Callable[[csr_array], Numbers]] = {
    "by degree": by_degree,
    "Cuthill-McKee": by_cuthill_mckee,
    "METIS": by_metis,
}
# METIS takes three gigabytes a million nodes.
LARGEST_OF_METIS = 1_000_000


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
        if name == "METIS" and num_nodes > LARGEST_OF_METIS:
            continue
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
        f"| nodes | near | as generated | shuffled | {' | '.join(ORDERS)} | s {' | s '.join(ORDERS)} |",
        f"|{(4 + 2 * len(ORDERS)) * '---:|'}",
    ]
    for row in content["rows"]:
        cells = [
            f"{1e6 * row['milliseconds'][name] / row['entries']:.2f} ({_spread(row['ratios'][name])})"
            if name in row["ratios"]
            else "-"
            for name in ("near", "as generated", "shuffled", *ORDERS)
        ]
        seconds = [f"{row['finding'][name]:.1f}" if name in row["finding"] else "-" for name in ORDERS]
        lines.append(f"| {row['nodes']:,} | {' | '.join([*cells, *seconds])} |")
    for row in content["epochs"]:
        lines += [
            "",
            f"An epoch of LC-GCN on {row['nodes']:,} shuffled nodes takes {row['as they are']:.0f} ms in that "
            f"order and {row['in their own']:.0f} ms in the one that training finds for itself in "
            f"{row['finding']:.1f} s (ratio {_spread(row['ratio'])}).",
        ]
    return "\n".join(lines)


def _spread(value: dict[str, float]) -> str:
    return f"{value['median']:.2f}; {value['least']:.2f} to {value['greatest']:.2f}"


def measure_epochs(num_nodes: int, repeats: int) -> dict[str, Any]:
    """Milliseconds an epoch of LC-GCN on a shuffled graph, with the order that training finds and without."""
    given, _ = load_arrays(graph_folder(num_nodes))
    order = np.random.default_rng(0).permutation(num_nodes)
    shuffled = Graph(
        "shuffled",
        renumbered(given.adjacency, order),
        given.labels[order],
        given.class_names,
        np.asarray(given.features)[order],
    )
    nodes = torch.from_numpy(np.flatnonzero(shuffled.labels >= 0)[:400])
    method = create("lc-gcn", epochs=10**9)
    assert isinstance(method, TwoPhase)
    loops = {}
    started = time.perf_counter()
    in_order = GraphTensors(shuffled)
    assert in_order.ordered is not None
    finding = time.perf_counter() - started
    for name, tensors in {"in their own": in_order, "as they are": GraphTensors(shuffled)}.items():
        if name == "as they are":
            vars(tensors)["ordered"] = None
        network = method.network(shuffled.num_features, shuffled.num_classes, torch.Generator().manual_seed(0))
        phase, objective = method.phases(tensors, nodes)[-1]
        loops[name] = Loop(Trainer(network, tensors, nodes, seed=0), phase, objective)
    with threads.using(1), loops["as they are"].trainer.kept_memory():
        times = interleaved({name: loop.step for name, loop in loops.items()}, repeats=repeats, seconds=1)
    return {
        "nodes": num_nodes,
        "finding": finding,
        **{name: statistics.median(values) for name, values in times.items()},
        "ratio": ratio(times["as they are"], times["in their own"]),
    }


def main(folder: Path, repeats: int, sizes: tuple[int, ...] = SIZES) -> None:
    rows = []
    for size in sizes:
        rows.append(measure_one(size, repeats))
        print(rows[-1], file=sys.stderr)
        command = f"python -m benchmarks order --repeats {repeats} --sizes {' '.join(map(str, sizes))}"
        content = {"machine": machine(), "command": command, "rows": rows, "epochs": []}
        write(folder, "order", content, table(content))
    content["epochs"] = [measure_epochs(size, repeats) for size in sizes if LARGE <= size <= LARGEST_OF_METIS]
    write(folder, "order", content, table(content))
    print(table(content))
