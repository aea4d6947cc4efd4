"""One epoch, training and validation: lcgnn, PyTorch Geometric, the authors' N x N form and the bare products."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import in_words, interleaved, machine, peak_memory, print_peak_memory, ratio, write
from benchmarks.peers import PyGTraining
from lcgnn.compute.kernels import threads
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.methods import create
from lcgnn.methods.lc import TwoPhase
from lcgnn.sources.benchmarks import load
from lcgnn.training.loop import Loop, Trainer

DATASETS = ("cora", "citeseer", "pubmed")
MODELS = ("gcn", "gat")
# One call takes a quarter of a minute on PubMed.
SLOW = {("pubmed", "dense")}


def ours(dataset: str, model: str, phase: str, *, whole: bool = True) -> Callable[[], object]:
    """One epoch of lcgnn's own loop per call, in the "base" or the "label consistency" phase.

    Label consistency needs every node. The base does not, and is only compared with it over the whole graph.
    """
    graph, split = load(dataset)
    # So many epochs that neither phase ends while it is timed.
    endless = {"base_epochs": 10**9, "epochs": 10**9, "base_stop_window": 0, "base_patience": 0, "patience": 0}
    method = create(f"lc-{model}", dataset, **endless)
    assert isinstance(method, TwoPhase)
    tensors = GraphTensors(graph)
    network = method.network(graph.num_features, graph.num_classes, torch.Generator().manual_seed(0))
    trainer = Trainer(network, tensors, torch.tensor(split.validation), seed=0)
    phases = method.phases(tensors, torch.tensor(split.train))
    loop = next(Loop(trainer, item, objective) for item, objective in phases if item.name == phase)
    if whole:
        loop.passes = network.passes(tensors)

    def step() -> None:
        # As in a fit; what is divided among threads is not up to torch.
        with threads.steady():
            loop.step()

    return step


def products(dataset: str, model: str) -> Callable[[], object]:
    """The sparse products that an epoch cannot do without, with nothing around them."""
    graph, _ = load(dataset)
    tensors = GraphTensors(graph)
    features = tensors.features
    assert isinstance(features, SparseMatrix)
    adjacency, transpose = tensors.adjacency.matrix, features.transpose
    hidden = torch.randn(graph.num_nodes, 16)
    weight, logits = torch.randn(graph.num_features, 16), torch.randn(graph.num_nodes, graph.num_classes)

    def gcn() -> None:
        features.matrix @ weight  # hidden layer, shared by training and validation
        adjacency @ hidden
        adjacency @ logits  # training
        adjacency @ logits  # validation
        adjacency @ logits  # backward
        adjacency @ hidden
        transpose @ hidden

    return {"gcn": gcn}[model]


def contender(name: str, dataset: str, model: str) -> Callable[[], object]:
    """A contender by its name in the tables."""
    if name == "products":
        return products(dataset, model)
    if name == "lcgnn base, reached":
        return ours(dataset, model, "base", whole=False)
    source, _, form = name.partition(" ")
    if source == "lcgnn":
        return ours(dataset, model, {"base": "base", "LC": "label consistency"}[form])
    graph, split = load(dataset)
    pyg_form = "dense" if source == "dense" else {"base": "base", "LC": "theorem"}[form]
    return PyGTraining(model, graph, split, pyg_form)


def names(model: str) -> list[str]:
    """All contenders for a model."""
    everywhere = ["lcgnn base", "lcgnn base, reached", "lcgnn LC", "PyG base", "PyG LC"]
    return everywhere + (["products", "dense LC"] if model == "gcn" else [])


def measure(repeats: int, counts: tuple[int, ...], quick: bool) -> dict[str, Any]:
    rows = []
    for count in counts:
        torch.set_num_threads(count)
        for dataset in DATASETS:
            for model in MODELS:
                with threads.using(count):
                    rows.append(_measure_one(dataset, model, repeats, count, quick))
                print(_one_line(rows[-1]), file=sys.stderr)
    command = f"python -m benchmarks epoch{' --quick' if quick else ''} --repeats {repeats}"
    return {"machine": machine(), "command": command, "repeats": repeats, "rows": rows}


def _measure_one(dataset: str, model: str, repeats: int, count: int, quick: bool) -> dict[str, Any]:
    chosen = names(model)
    slow = [name for name in chosen if (dataset, name.split()[0]) in SLOW]
    contenders = {name: contender(name, dataset, model) for name in chosen if name not in slow}
    times = interleaved(contenders, repeats=repeats)
    if count == 1 and not quick:
        for name in slow:
            once = interleaved({name: contender(name, dataset, model)}, repeats=1, most=1)[name]
            times[name] = once * repeats
    ratios = {
        "PyG LC / lcgnn LC": ratio(times["PyG LC"], times["lcgnn LC"]),
        "PyG base / lcgnn base": ratio(times["PyG base"], times["lcgnn base"]),
        "lcgnn LC / lcgnn base": ratio(times["lcgnn LC"], times["lcgnn base"]),
        "lcgnn base / reached": ratio(times["lcgnn base"], times["lcgnn base, reached"]),
    }
    if "dense LC" in times:
        ratios["dense LC / lcgnn LC"] = ratio(times["dense LC"], times["lcgnn LC"])
    if "products" in times:
        ratios["lcgnn LC / products"] = ratio(times["lcgnn LC"], times["products"])
    return {
        "dataset": dataset,
        "model": model,
        "threads": count,
        "milliseconds": {name: float(np.median(values)) for name, values in times.items()},
        "ratios": ratios,
    }


def add_memory(content: dict[str, Any]) -> None:
    """Peak memory of each contender in a process of its own, above one that only imports and loads the data."""
    for row in content["rows"]:
        if row["threads"] != 1:
            continue
        dataset, model = row["dataset"], row["model"]
        idle = peak_memory("benchmarks.epoch", "none", dataset, model)
        row["mebibytes"] = {
            name: peak_memory("benchmarks.epoch", name, dataset, model) - idle for name in row["milliseconds"]
        }


def _one_line(row: dict[str, Any]) -> str:
    times = ", ".join(f"{name} {value:.2f}" for name, value in row["milliseconds"].items())
    return f"{row['dataset']} {row['model']} {row['threads']} thread(s): {times} ms"


def table(content: dict[str, Any]) -> str:
    lines = [
        "Milliseconds an epoch (training step and validation), median of the repeats, contenders interleaved.",
        "",
        "The base is compared over the whole graph; trained, it computes only what reaches the nodes whose "
        "labels it reads (base, reached).",
        "",
        "| graph | network | threads | lcgnn base | base, reached | lcgnn LC | PyG base | PyG LC | N x N LC "
        "| bare products |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    columns = ("lcgnn base", "lcgnn base, reached", "lcgnn LC", "PyG base", "PyG LC", "dense LC", "products")
    for row in content["rows"]:
        cells = [f"{row['milliseconds'][name]:.2f}" if name in row["milliseconds"] else "-" for name in columns]
        lines.append(f"| {row['dataset']} | {row['model']} | {row['threads']} | {' | '.join(cells)} |")
    lines += [
        "",
        "Ratios: median over the repeats (least to greatest).",
        "",
        "| graph | network | threads | PyG LC / ours | PyG base / ours | N x N / ours | ours / products "
        "| LC / base | base / reached |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    keys = (
        "PyG LC / lcgnn LC",
        "PyG base / lcgnn base",
        "dense LC / lcgnn LC",
        "lcgnn LC / products",
        "lcgnn LC / lcgnn base",
        "lcgnn base / reached",
    )
    for row in content["rows"]:
        cells = [_ratio_cell(row["ratios"].get(key)) for key in keys]
        lines.append(f"| {row['dataset']} | {row['model']} | {row['threads']} | {' | '.join(cells)} |")
    lines += _memory_table(content, columns)
    lines += ["", f"Measured by `{content['command']}` on {in_words(content['machine'])}."]
    return "\n".join(lines)


def _ratio_cell(value: dict[str, float] | None) -> str:
    if value is None:
        return "-"
    return f"{value['median']:.2f} ({value['least']:.2f} to {value['greatest']:.2f})"


def _memory_table(content: dict[str, Any], columns: tuple[str, ...]) -> list[str]:
    rows = [row for row in content["rows"] if "mebibytes" in row]
    if not rows:
        return []
    lines = [
        "",
        "Peak memory in MiB of three epochs in a process of its own, above one that only loads the data.",
        "",
        "| graph | network | lcgnn base | base, reached | lcgnn LC | PyG base | PyG LC | N x N LC |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = [f"{row['mebibytes'][name]:.0f}" if name in row["mebibytes"] else "-" for name in columns[:-1]]
        lines.append(f"| {row['dataset']} | {row['model']} | {' | '.join(cells)} |")
    return lines


def plot(content: dict[str, Any], path: Path) -> None:
    """Milliseconds an epoch of every contender, on a logarithmic axis, for one thread."""
    from matplotlib.figure import Figure

    rows = [row for row in content["rows"] if row["threads"] == 1]
    shown = {
        "bare products": ("products", "#c7ced6"),
        "lcgnn": ("lcgnn LC", "#0b6e99"),
        "PyTorch Geometric": ("PyG LC", "#d1495b"),
        "authors' N x N form": ("dense LC", "#edae49"),
    }
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for position, row in enumerate(rows):
        for offset, (title, (name, colour)) in enumerate(shown.items()):
            value = row["milliseconds"].get(name)
            if value:
                place = position + 0.2 * (offset - 1.5)
                axes.bar(place, value, 0.19, color=colour, label=title if position == 0 else None)
                axes.annotate(
                    f"{value:.3g}", (place, value), (0, 2), textcoords="offset points", ha="center", fontsize=7
                )
    axes.set_yscale("log")
    axes.set_ylabel("milliseconds an epoch")
    axes.set_xticks(range(len(rows)), [f"LC-{row['model'].upper()}\n{row['dataset']}" for row in rows])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=4, loc="upper left", fontsize=9)
    axes.set_ylim(top=axes.get_ylim()[1] * 3)
    figure.savefig(path, dpi=130)


def main(folder: Path, repeats: int, counts: tuple[int, ...], quick: bool = False) -> None:
    content = measure(repeats, counts, quick)
    if not quick:
        add_memory(content)
    name = "epoch-quick" if quick else "epoch"
    write(folder, name, content, table(content))
    plot(content, folder / f"{name}.png")
    print(table(content))


if __name__ == "__main__":  # a few epochs of one contender, for its memory
    torch.set_num_threads(1)
    load(sys.argv[2])
    if sys.argv[1] != "none":
        step = contender(*sys.argv[1:4])
        for _ in range(1 if sys.argv[1].startswith("dense") else 3):
            step()
    print_peak_memory()
