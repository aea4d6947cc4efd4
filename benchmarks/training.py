"""Whole training runs to the accuracy that is reported: lcgnn and PyTorch Geometric, the same two phases."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import in_words, machine, write
from benchmarks.peers import PyGTraining
from lcgnn.assessment.evaluation import accuracy
from lcgnn.methods import create
from lcgnn.methods.lc import TwoPhase
from lcgnn.sources.benchmarks import load

# Without LC-GAT, which takes minutes on Cora and half an hour on PubMed in PyTorch Geometric.
RUNS = (("cora", "gcn"), ("citeseer", "gcn"), ("pubmed", "gcn"))


def ours(dataset: str, model: str) -> dict[str, float]:
    """Seconds and test accuracy of a fit with the method's own settings."""
    graph, split = load(dataset)
    create(f"lc-{model}", dataset, base_epochs=2, epochs=2).fit(graph, split)  # loads the compiled kernels
    started = time.perf_counter()
    fit = create(f"lc-{model}", dataset).fit(graph, split)
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "epochs": sum(len(stage.history) for stage in fit.stages),
        "test_accuracy": accuracy(fit.label_distribution, graph.labels, split.test),
    }


def theirs(dataset: str, model: str) -> dict[str, float]:
    """The same in PyTorch Geometric: the base, stopped by the same rule, then label consistency with Theorem 1."""
    graph, split = load(dataset)
    method = create(f"lc-{model}", dataset)
    assert isinstance(method, TwoPhase)
    started = time.perf_counter()
    training = PyGTraining(model, graph, split, "base", method.consistency_weight)
    epochs, losses = 0, []
    for epoch in range(1, method.base_epochs + 1):
        training()
        losses.append(training.validation_loss)
        epochs += 1
        before = losses[-method.base_stop_window - 1 : -1]
        if epoch > method.base_epochs // 2 and losses[-1] > sum(before) / len(before):
            break
    training.continue_with("theorem")
    best, kept = (-1.0, 0.0), None
    for _ in range(method.epochs):
        score = (training(), -training.validation_loss)
        epochs += 1
        if score > best:
            best = score
            kept = {name: value.clone() for name, value in training.model.state_dict().items()}
    training.model.load_state_dict(kept)
    test = training.test_accuracy()
    return {"seconds": time.perf_counter() - started, "epochs": epochs, "test_accuracy": test}


def measure() -> dict[str, Any]:
    torch.set_num_threads(1)
    rows = []
    for dataset, model in RUNS:
        row = {
            "dataset": dataset,
            "model": model,
            "lcgnn": ours(dataset, model),
            "PyG": theirs(dataset, model),
        }
        rows.append(row)
        print(row, file=sys.stderr)
    return {"machine": machine(), "rows": rows}


def table(content: dict[str, Any]) -> str:
    lines = [
        "A whole training run, both phases with validation in every epoch, one seed, one thread.",
        "",
        "| graph | method | lcgnn s | PyG s | ratio | lcgnn epochs | PyG epochs | lcgnn test % | PyG test % |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in content["rows"]:
        mine, other = row["lcgnn"], row["PyG"]
        lines.append(
            f"| {row['dataset']} | lc-{row['model']} | {mine['seconds']:.1f} | {other['seconds']:.1f} "
            f"| {other['seconds'] / mine['seconds']:.1f} | {mine['epochs']} | {other['epochs']} "
            f"| {100 * mine['test_accuracy']:.1f} | {100 * other['test_accuracy']:.1f} |"
        )
    lines += ["", f"Measured by `python -m benchmarks training` on {in_words(content['machine'])}."]
    return "\n".join(lines)


def main(folder: Path) -> None:
    content = measure()
    write(folder, "training", content, table(content))
    print(table(content))
