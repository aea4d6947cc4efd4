"""What the page of ``lcgnn label`` is worth and how fast it is: a simulated labeller on Cora, and a large map."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import in_words, machine, write
from lcgnn.assessment.suggestion import Suggester
from lcgnn.graph import Graph
from lcgnn.labelling.layout import layout_of
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.messages import to_json
from lcgnn.labelling.opening import open_graph
from lcgnn.labelling.simulation import SimulatedLabeller
from lcgnn.labelling.training import Estimated, Fitted, Job, Worker
from lcgnn.labelling.view import View

# Labels after which it is looked how good the answers are, and labels that are given between two trainings.
STOPS = (20, 40, 80)
BATCH = 20
CARDS = 20
LARGE = (20_000, 100_000)

Row = dict[str, Any]


def main(folder: Path) -> None:
    """Measure, print and write."""
    torch.set_num_threads(1)
    content = {"machine": machine(), "stops": measure_stops(), "cards": measure_cards(), "map": measure_map()}
    markdown = table(content)
    print(markdown)
    write(folder, "label", content, markdown)


def measure_stops() -> list[Row]:
    """Expected beside true accuracy while a simulated labeller answers what is suggested."""
    opened = open_graph("cora", simulate=True)
    assert opened.truth is not None
    labels, names = opened.truth
    suggester = Suggester(opened.graph)
    nodes: list[int] = []
    distribution, rows = None, []
    while len(nodes) < STOPS[-1]:
        given = np.array(nodes, dtype=np.int64)
        found = suggester.suggest(given, BATCH, labels=labels[given], distribution=distribution)
        nodes += [item.node for item in found]
        job = _job(nodes, labels, names)
        if job is None:
            continue
        worker, started = Worker(opened.graph), time.perf_counter()
        worker.newest = job
        fitted = worker.step()
        assert isinstance(fitted, Fitted)
        seconds = time.perf_counter() - started
        distribution = fitted.fit.label_distribution
        if len(nodes) in STOPS:
            assessment = _estimated(worker).assessment
            assert assessment is not None
            rest = np.setdiff1d(np.flatnonzero(labels >= 0), nodes)
            answers = np.array([names.index(name) for name in job.class_names])[distribution[rest].argmax(axis=1)]
            overall = assessment.overall
            rows.append(
                {
                    "labels": len(nodes),
                    "expected": overall.accuracy,
                    "low": overall.low,
                    "high": overall.high,
                    "true": float((answers == labels[rest]).mean()),
                    "seconds": seconds,
                }
            )
    return rows


def _job(nodes: list[int], labels: np.ndarray[Any, Any], names: tuple[str, ...]) -> Job | None:
    given = np.sort(np.array(nodes))
    present = np.unique(labels[given])
    if present.size < 2:
        return None
    own = np.searchsorted(present, labels[given])
    return Job(len(nodes), given, own, tuple(names[label] for label in present))


def _estimated(worker: Worker) -> Estimated:
    while True:
        said = worker.step()
        if isinstance(said, Estimated):
            return said


def measure_cards() -> Row:
    """Milliseconds from a label to the next card, while training goes on in its process."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_graph("cora", out=Path(folder) / "labels.csv", simulate=True)
        loop = Loop(opened)
        view, labeller = View(loop), SimulatedLabeller(loop)
        loop.start()
        try:
            _wait(loop, labeller)
            # The page draws its map before anybody can give a label.
            view.graph()
            taken = []
            for _ in range(CARDS):
                started = time.perf_counter()
                labeller.answer_once()
                to_json(None, state=view.state(), card=view.card())
                taken.append(1000 * (time.perf_counter() - started))
                time.sleep(0.3)
        finally:
            loop.close()
    return {"median": statistics.median(taken), "most": max(taken), "cards": CARDS}


def _wait(loop: Loop, labeller: SimulatedLabeller) -> None:
    """Give labels until there is a model."""
    while loop.answers is None:
        if loop.labels.nodes.size < 30:
            labeller.answer_once()
        time.sleep(0.1)


def measure_map() -> Row:
    """Seconds for the layout of a large graph."""
    generator = np.random.default_rng(0)
    nodes, edges = LARGE
    groups = generator.integers(0, 20, nodes)
    order = np.argsort(groups, kind="stable")
    first = generator.integers(0, nodes, edges)
    # Most edges lead to a node that is near in the order of the groups.
    second = (first + generator.geometric(0.01, edges)) % nodes
    graph = Graph.from_edges("large", np.stack([order[first], order[second]]), nodes, np.full(nodes, -1), ())
    started = time.perf_counter()
    layout_of(graph)
    return {"nodes": nodes, "edges": graph.num_edges, "seconds": time.perf_counter() - started}


def table(content: dict[str, Any]) -> str:
    """The figures as Markdown."""
    rows = [
        f"| {row['labels']} | {100 * row['expected']:.0f} [{100 * row['low']:.0f}, {100 * row['high']:.0f}] | "
        f"{100 * row['true']:.1f} | {row['seconds']:.2f} |"
        for row in content["stops"]
    ]
    cards, drawn = content["cards"], content["map"]
    return "\n".join(
        [
            "# The page of lcgnn label",
            "",
            "Printed by `python -m benchmarks label`. Cora, all labels hidden; a simulated labeller answers what "
            f"is suggested, {BATCH} nodes between two trainings (LC-GCN). Expected: what the page says, in "
            "percent, with its 95 % interval, from five folds of the labels given so far. True: on all others.",
            "",
            "| labels | expected | true | seconds to train |",
            "|---:|---:|---:|---:|",
            *rows,
            "",
            f"From a label to the next card, without the browser, while training goes on: {cards['median']:.0f} "
            f"ms in the median of {cards['cards']}, {cards['most']:.0f} ms at most. The map of {drawn['nodes']:,} "
            f"nodes and {drawn['edges']:,} edges: {drawn['seconds']:.1f} seconds, once.",
            "",
            f"On {in_words(content['machine'])}.",
        ]
    )
