"""Whole training runs to the accuracy that is reported: lcgnn and PyTorch Geometric, the same two phases."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import in_words, machine, ratio, write
from benchmarks.peers import PyGTraining
from lcgnn.assessment.evaluation import accuracy
from lcgnn.methods import create
from lcgnn.methods.lc import TwoPhase
from lcgnn.sources.benchmarks import load

# Without LC-GAT, which takes minutes on Cora and half an hour on PubMed in PyTorch Geometric.
RUNS = (("cora", "gcn"), ("citeseer", "gcn"), ("pubmed", "gcn"))
# The contenders take turns; the second and third run of each repeat the first, but for the time.
TURNS = 3


def ours(dataset: str, model: str) -> dict[str, float]:
    """Seconds and test accuracy of a fit with the method's own settings."""
    graph, split = load(dataset)
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
    best, kept = (-1.0, 0.0), training.model.state_dict()
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
        rows.append(_measure_one(dataset, model))
        print(rows[-1], file=sys.stderr)
    return {"machine": machine(), "turns": TURNS, "rows": rows}


def _measure_one(dataset: str, model: str) -> dict[str, Any]:
    create(f"lc-{model}", dataset, base_epochs=2, epochs=2).fit(*load(dataset))  # loads the compiled kernels
    turns = [(ours(dataset, model), theirs(dataset, model)) for _ in range(TURNS)]
    seconds = [[run["seconds"] for run in runs] for runs in zip(*turns, strict=True)]
    mine, other = (
        {**runs[0], "seconds": statistics.median(times)}
        for runs, times in zip(zip(*turns, strict=True), seconds, strict=True)
    )
    return {
        "dataset": dataset,
        "model": model,
        "lcgnn": mine,
        "PyG": other,
        "ratio": ratio(seconds[1], seconds[0]),
    }


def table(content: dict[str, Any]) -> str:
    lines = [
        "A whole training run, both phases with validation in every epoch, one seed, one thread. Contenders took "
        f"turns, {content['turns']} each: median seconds, and the ratio's median (least to greatest).",
        "",
        "| graph | method | lcgnn s | PyG s | ratio | lcgnn epochs | PyG epochs | lcgnn test % | PyG test % |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in content["rows"]:
        mine, other, ratios = row["lcgnn"], row["PyG"], row["ratio"]
        lines.append(
            f"| {row['dataset']} | lc-{row['model']} | {mine['seconds']:.1f} | {other['seconds']:.1f} "
            f"| {ratios['median']:.1f} ({ratios['least']:.1f} to {ratios['greatest']:.1f}) "
            f"| {mine['epochs']} | {other['epochs']} "
            f"| {100 * mine['test_accuracy']:.1f} | {100 * other['test_accuracy']:.1f} |"
        )
    lines += ["", f"Measured by `python -m benchmarks training` on {in_words(content['machine'])}."]
    return "\n".join(lines)


def main(folder: Path) -> None:
    content = measure()
    write(folder, "training", content, table(content))
    print(table(content))
