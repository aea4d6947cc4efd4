"""One epoch of the stronger bases, training and validation: lcgnn, PyTorch Geometric and plain torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.epoch import ours
from benchmarks.measure import in_words, interleaved, machine, ratio, write
from benchmarks.strong_peers import MODULES, PeerTraining
from lcgnn.methods import create
from lcgnn.methods.lc import TwoPhase
from lcgnn.sources.benchmarks import load

DATASETS = ("cora", "citeseer", "pubmed")
PEERS = ("PyG", "plain torch")


def contenders(dataset: str, network: str) -> dict[str, Callable[[], object]]:
    """Every contender's epoch, by its name in the table."""
    graph, split = load(dataset)
    method = create(network, dataset)
    assert isinstance(method, TwoPhase)
    own = {"lcgnn base": ours(dataset, network, "base"), "lcgnn LC": ours(dataset, network, "label consistency")}
    return own | {form: PeerTraining(network, method, graph, split, form) for form in PEERS}


def measure(repeats: int, threads: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """All figures so far, again after every network and graph."""
    chosen = " ".join(str(count) for count in threads)
    command = f"python -m benchmarks strong --repeats {repeats} --threads {chosen}"
    rows: list[dict[str, Any]] = []
    for count in threads:
        # lcgnn keeps graphs of these sizes on one thread, and torch as well.
        torch.set_num_threads(count)
        for dataset in DATASETS:
            for network in MODULES:
                rows.append(_measure_one(dataset, network, repeats, count))
                print(_row(rows[-1]), file=sys.stderr)
                yield {"machine": machine(), "command": command, "repeats": repeats, "rows": rows}


def _measure_one(dataset: str, network: str, repeats: int, threads: int) -> dict[str, Any]:
    times = interleaved(contenders(dataset, network), repeats=repeats)
    return {
        "dataset": dataset,
        "network": network,
        "threads": threads,
        "milliseconds": {name: float(np.median(values)) for name, values in times.items()},
        "ratios": {form: ratio(times[form], times["lcgnn base"]) for form in PEERS},
    }


def _row(row: dict[str, Any]) -> str:
    times = [f"{row['milliseconds'][name]:.1f}" for name in ("lcgnn base", "lcgnn LC", *PEERS)]
    ratios = [
        f"{value['median']:.1f} ({value['least']:.1f} to {value['greatest']:.1f})"
        for value in (row["ratios"][form] for form in PEERS)
    ]
    return f"| {row['dataset']} | {row['network']} | {row['threads']} | {' | '.join([*times, *ratios])} |"


def table(content: dict[str, Any]) -> str:
    lines = [
        "Milliseconds an epoch (training step and validation) over the whole graph, median of the repeats, "
        "contenders interleaved; ratios: median over the repeats (least to greatest).",
        "",
        "| graph | network | threads | lcgnn base | lcgnn LC | PyG base | plain torch base | PyG / ours "
        "| plain torch / ours |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *map(_row, content["rows"]),
        "",
        "Settings are those of `methods/defaults.toml`. PyG: `APPNP`, `GCN2Conv`, and DAGNN on its message "
        "passing, normalisation cached. Plain torch: the same with `torch.sparse.mm`, as GCNII's authors wrote "
        "it. GRAND in both forms as its authors wrote it: dense features propagated S times, then the network. "
        "Both take dense features, as PyTorch Geometric's `Data` has them.",
        "",
        f"Measured by `{content['command']}` on {in_words(content['machine'])}.",
    ]
    return "\n".join(lines)


def main(folder: Path, repeats: int, threads: tuple[int, ...]) -> None:
    content: dict[str, Any] = {}
    for content in measure(repeats, threads):
        write(folder, "strong", content, table(content))
    print(table(content))
