"""Whether what is said of predictions is true: expected accuracy, calibration and verdict, by the truth."""

from __future__ import annotations

import dataclasses
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.cases import Case
from benchmarks.measure import in_words, machine, write
from lcgnn.assessment.calibration import HeldOut, at_temperature
from lcgnn.assessment.diagnosis import diagnose
from lcgnn.assessment.evaluation import accuracy, calibration_error
from lcgnn.assessment.trust import Assessment
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import create
from lcgnn.methods.base import Fit
from lcgnn.sources.choice import source_of
from lcgnn.sources.splits import folds, lost_labels

CASES = 50
# The cases before it were looked at when the statistics were chosen.
FIRST_CASE = 150
FOLDS = 10
# A shorter second phase than usual, for the final model, its folds and the control alike.
SETTINGS: dict[str, Any] = {"selection": "last", "epochs": 300}
NO_NODES = np.empty(0, dtype=np.int64)
# Labels that are drawn at random from a graph whose labels are all known.
NUMBERS_OF_LABELS = (30, 60, 100)
# Graphs with more numbers than this, in features and adjacency, get a single draw.
SMALL = 300_000
# What is said may be so much too low before it counts as wrong.
TOLERANCE = 0.02

Row = dict[str, Any]


def measure(folder: Path, cases: int) -> dict[str, Any]:
    """All cases, one row each; what an interrupted measurement left in the folder is not measured again."""
    torch.set_num_threads(1)
    unfinished = folder / "trust.partial.json"
    rows: list[Row] = json.loads(unfinished.read_text()) if unfinished.exists() else []
    for seed in range(FIRST_CASE + len(rows), FIRST_CASE + cases):
        rows.append(measure_case(Case.draw(seed)))
        unfinished.write_text(json.dumps(rows))
        print(_line(rows[-1]), file=sys.stderr, flush=True)
    unfinished.unlink(missing_ok=True)
    return {"machine": machine(), "rows": rows}


def measure_case(case: Case) -> Row:
    """What a user is told of a case, beside the truth."""
    graph, truth = case.generate()
    split = Split(graph.labelled, NO_NODES, NO_NODES)
    fit = create("lc-gcn", **SETTINGS).fit(graph, split)

    def right(distribution: NDArray[np.float32]) -> float:
        return accuracy(distribution, truth, np.flatnonzero(graph.labels < 0))

    return {
        **dataclasses.asdict(case),
        **said_and_true(graph, truth, fit),
        "base": right(fit.stages[0].label_distribution),
        "control": right(create("gcn-control", **SETTINGS).fit(graph, split).label_distribution),
        "mlp": right(create("mlp", selection="last").fit(graph, split).label_distribution),
        "diagnosis": _diagnosis(graph),
    }


def measure_graph(whole: Graph, labels: int, seed: int) -> Row:
    """What a user is told who has a few random labels of a graph, beside the truth."""
    chosen = np.random.default_rng([seed, labels]).choice(whole.labelled, labels, replace=False)
    known = np.full(whole.num_nodes, UNLABELLED)
    known[chosen] = whole.labels[chosen]
    graph = dataclasses.replace(whole, labels=known)
    fit = create("lc-gcn", **SETTINGS).fit(graph, Split(graph.labelled, NO_NODES, NO_NODES))
    return {"graph": whole.name, "nodes": whole.num_nodes, "seed": seed, **said_and_true(graph, whole.labels, fit)}


def said_and_true(graph: Graph, truth: NDArray[np.int64], fit: Fit) -> Row:
    """What is said of a fit to all labels of a graph, and what is true on the nodes without one."""
    split = Split(graph.labelled, NO_NODES, NO_NODES)
    unlabelled = np.flatnonzero((graph.labels < 0) & (truth >= 0))
    alone = lost_labels(graph, split)
    assessment = Assessment.of(held_out(graph, split), given=split.train.size, of_folds=FOLDS, alone=alone)
    calibrated = at_temperature(fit.label_distribution, assessment.calibration.temperature)
    return {
        "labels": int(split.train.size),
        "accuracy": accuracy(fit.label_distribution, truth, unlabelled),
        "expected": dataclasses.asdict(assessment.overall),
        "calibration": dataclasses.asdict(assessment.calibration),
        "majority": dataclasses.asdict(assessment.majority),
        "most_frequent": float(np.bincount(truth[unlabelled]).max() / unlabelled.size),
        "error_before": calibration_error(fit.label_distribution, truth, unlabelled),
        "error_after": calibration_error(calibrated, truth, unlabelled),
        "log_loss_before": _log_loss(fit.label_distribution, truth, unlabelled),
        "log_loss_after": _log_loss(calibrated, truth, unlabelled),
    }


def held_out(graph: Graph, split: Split) -> HeldOut:
    """Every label as predicted by a model that is trained without it."""
    parts = folds(graph, split, FOLDS)
    predicted = [create("lc-gcn", **SETTINGS).fit(graph, part).label_distribution[part.test] for part in parts]
    return HeldOut(
        labels=graph.labels[np.concatenate([part.test for part in parts])],
        distribution=np.concatenate(predicted),
        fold=np.repeat(np.arange(len(parts)), [part.test.size for part in parts]),
    )


def _log_loss(distribution: NDArray[np.float32], truth: NDArray[np.int64], nodes: NDArray[np.int64]) -> float:
    return HeldOut(truth[nodes], distribution[nodes], np.zeros_like(nodes)).log_loss()


def _diagnosis(graph: Graph) -> dict[str, Any]:
    content = diagnose(graph).to_json()
    return {key: content[key] for key in ("by_edge", "by_two_steps", "verdict")}


def _line(row: Row) -> str:
    expected = row["expected"]
    return (
        f"{row.get('graph', 'case')} {row['seed']}: {row['nodes']} nodes, {row['labels']} labels, right "
        f"{row['accuracy']:.3f}, expected {expected['accuracy']:.3f} ({expected['low']:.3f} to "
        f"{expected['high']:.3f})"
    )


def _holds(row: Row) -> bool:
    return bool(row["expected"]["low"] <= row["accuracy"] <= row["expected"]["high"])


def _excess(row: Row) -> float:
    """The estimate's squared error over the variance of the share of independent labels that are right."""
    share, expected = row["accuracy"], row["expected"]
    return float((expected["accuracy"] - share) ** 2 * expected["labels"] / max(share * (1 - share), 0.01))


def _mean(rows: list[Row], value: Callable[[Row], float]) -> float:
    return float(np.mean([value(row) for row in rows]))


MEASURED: dict[str, Callable[[Row], float]] = {
    "before": lambda row: row["error_before"],
    "after": lambda row: row["error_after"],
    "said of after": lambda row: row["calibration"]["error_after"],
    "at most": lambda row: row["calibration"]["at_most"],
    "log loss before": lambda row: row["log_loss_before"],
    "log loss after": lambda row: row["log_loss_after"],
}

GROUPS: dict[str, Callable[[Row], bool]] = {
    "all": bool,
    "labels are a fair sample": lambda row: row["fair"],
    "as many labels of each class, classes of equal size": lambda row: not row["fair"] and row["balanced"],
    "as many labels of each class, classes of unequal size": lambda row: not row["fair"] and not row["balanced"],
    "up to 40 labels": lambda row: row["labels"] <= 40,
    "more than 40 labels": lambda row: row["labels"] > 40,
    "label consistency below 0.5": lambda row: row["consistency"] < 0.5,
    "label consistency 0.5 or more": lambda row: row["consistency"] >= 0.5,
}


def table(content: dict[str, Any]) -> str:
    rows = content["rows"]
    lines = [
        f"{len(rows)} generated graphs (300 to 1,500 nodes, 2 to 6 classes, 5 to 30 labels a class, label "
        "consistency 0.3 to 0.95, informative or weak features; `benchmarks/cases.py`). LC-GCN is trained on all "
        f"labels, its expected accuracy estimated from them by {FOLDS}-fold cross-validation, its probabilities "
        "calibrated. The truth is the accuracy on all unlabelled nodes. The second phase has "
        f"{SETTINGS['epochs']} epochs.",
        "",
        "| graphs | number | interval holds the truth | mean width | mean error | calibration error before "
        "| after | said of after | at most | log loss before | after |",
        "|---|" + "---:|" * 10,
    ]
    lines += [_group(name, chosen) for name, of in GROUPS.items() if (chosen := [row for row in rows if of(row)])]
    lines += [
        "",
        f"The estimate's squared error was {_mean(rows, _excess):.1f} times that of as many independent labels.",
        _too_low(rows),
        "",
        *_gains(rows),
    ]
    lines += ["", f"Measured by `python -m benchmarks trust` on {in_words(content['machine'])}."]
    return "\n".join(lines)


def _group(name: str, rows: list[Row]) -> str:
    cells = [
        f"{len(rows)}",
        f"{sum(map(_holds, rows))} ({_mean(rows, _holds):.0%})",
        f"{_mean(rows, lambda row: row['expected']['high'] - row['expected']['low']):.3f}",
        f"{_mean(rows, lambda row: row['expected']['accuracy'] - row['accuracy']):+.3f}",
        *(f"{_mean(rows, value):.3f}" for value in MEASURED.values()),
    ]
    return f"| {name} | " + " | ".join(cells) + " |"


def _too_low(rows: list[Row]) -> str:
    """How often the calibration error that is said after calibration is lower than the true one."""
    mean, most = (
        sum(MEASURED[said](row) < row["error_after"] - TOLERANCE for row in rows)
        for said in ("said of after", "at most")
    )
    return (
        f"The true calibration error was more than {100 * TOLERANCE:.0f} percentage points above what was said to "
        f"be the most in {most} of {len(rows)} cases, and above what was said of the average in {mean}."
    )


def _gains(rows: list[Row]) -> list[str]:
    """What label consistency gained over the base, by what ``lcgnn inspect`` says beforehand."""
    lines = [
        "What `lcgnn inspect` says before training, and what LC-GCN then gained: mean difference of accuracy on "
        "the unlabelled nodes, in percentage points.",
        "",
        "| verdict begins | number | minus GCN | minus GCN of equal budget | better than the latter | minus MLP |",
        "|---|" + "---:|" * 5,
    ]
    by_verdict: dict[str, list[Row]] = {}
    for row in rows:
        opening = row["diagnosis"]["verdict"][0].partition(":")[0].partition("(")[0].strip()
        by_verdict.setdefault(opening, []).append(row)
    for opening, chosen in sorted(by_verdict.items()):
        gains = [
            f"{100 * _mean(chosen, lambda row, key=key: row['accuracy'] - row[key]):+.1f}"  # type: ignore[misc]
            for key in ("base", "control", "mlp")
        ]
        better = sum(row["accuracy"] > row["control"] for row in chosen)
        lines.append(f"| {opening} | {len(chosen)} | {gains[0]} | {gains[1]} | {better} | {gains[2]} |")
    return lines


def graphs_table(content: dict[str, Any]) -> str:
    """A line for each graph and number of labels, the mean over the draws."""
    rows = content["rows"]
    lines = [
        "Public graphs, of whose labels so many are drawn at random; LC-GCN, its estimate and its calibration as "
        "for the generated graphs. The truth is that of all other nodes. In percent; errors in percentage points.",
        "",
        "| graph | labels | draws | right | said | interval holds | most frequent class | said "
        "| calibration error before | after | said of after | at most | true above that |",
        "|---|" + "---:|" * 12,
    ]
    for graph, labels in sorted({(row["graph"], row["labels"]) for row in rows}):
        chosen = [row for row in rows if (row["graph"], row["labels"]) == (graph, labels)]
        shares: list[Callable[[Row], float]] = [
            lambda row: row["most_frequent"],
            lambda row: row["majority"]["accuracy"],
            *list(MEASURED.values())[:4],
        ]
        cells = [
            *(f"{100 * _mean(chosen, value):.1f}" for value in (_right, _said)),
            f"{sum(map(_holds, chosen))}",
            *(f"{100 * _mean(chosen, value):.1f}" for value in shares),
            f"{sum(row['error_after'] > row['calibration']['at_most'] + TOLERANCE for row in chosen)}",
        ]
        lines.append(f"| {graph} | {labels} | {len(chosen)} | " + " | ".join(cells) + " |")
    measured = f"Measured by `{content['command']}` on {in_words(content['machine'])}."
    return "\n".join([*lines, "", _too_low(rows), "", measured])


def _right(row: Row) -> float:
    return float(row["accuracy"])


def _said(row: Row) -> float:
    return float(row["expected"]["accuracy"])


def main(folder: Path, cases: int = CASES) -> None:
    content = measure(folder, cases)
    write(folder, "trust", content, table(content))
    print(table(content))


def main_on_graphs(folder: Path, graphs: Sequence[str], draws: int) -> None:
    """The same on graphs all of whose labels are known: benchmarks by name, or whatever else lcgnn reads."""
    torch.set_num_threads(1)
    unfinished = folder / "trust-graphs.partial.json"
    rows: list[Row] = json.loads(unfinished.read_text()) if unfinished.exists() else []
    done = {(row["graph"], row["labels"], row["seed"]) for row in rows}
    for named in graphs:
        whole = source_of(named).load_whole().graph
        seeds = range(draws if _size(whole) <= SMALL else 1)
        for labels, seed in itertools.product(NUMBERS_OF_LABELS, seeds):
            if (whole.name, labels, seed) not in done:
                rows.append(measure_graph(whole, labels, seed))
                unfinished.write_text(json.dumps(rows))
                print(_line(rows[-1]), file=sys.stderr, flush=True)
    unfinished.unlink(missing_ok=True)
    command = f"python -m benchmarks trust --graphs {' '.join(graphs)} --draws {draws}"
    content = {"machine": machine(), "command": command, "rows": rows}
    write(folder, "trust-graphs", content, graphs_table(content))
    print(graphs_table(content))


def _size(graph: Graph) -> int:
    features = graph.features
    stored = 0 if features is None else features.nnz if isinstance(features, csr_array) else features.size
    return int(graph.adjacency.nnz + stored)
