"""What eleven graphs tell of each method before any label is held out: the figures behind the choice among them.

Read from the records of ``any_graph_5``; nothing is trained. The study of ``auto`` is on the same graphs, so the
last columns say how far the figures move if any one graph is left out.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import write
from lcgnn.experiments.store import read_pack
from lcgnn.runs.choice.candidates import AUTO, EXPERIENCE

RECORDS = Path(__file__).parent.parent / "results" / "any_graph_5.jsonl"


def measure() -> dict[str, Any]:
    """Advantage and spread of every method that was run on all graphs, in percentage points."""
    accuracies = _mean_accuracies()
    graphs = {graph for _, graph in accuracies}
    methods = sorted({name for name, _ in accuracies if all((name, graph) in accuracies for graph in graphs)})
    table = np.array([[100 * accuracies[name, graph] for graph in sorted(graphs)] for name in methods])
    rows = [_row(name, place, table) for place, name in enumerate(methods)]
    rows.sort(key=lambda row: -row["advantage"])
    return {"command": "python -m benchmarks experience", "graphs": sorted(graphs), "rows": rows}


def _mean_accuracies() -> dict[tuple[str, str], float]:
    """Over the draws, by method and graph."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in read_pack(RECORDS):
        if not record.dataset.endswith(":own") or record.method == AUTO:
            continue
        # The base is the first stage of label consistency.
        of_stages = {record.method.removeprefix("lc-"): record.stages[0], record.method: record.last}
        for name, stage in of_stages.items():
            if stage.test_accuracy is not None:
                found[name, record.dataset].append(stage.test_accuracy)
    return {key: float(np.mean(values)) for key, values in found.items()}


def _row(name: str, place: int, table: NDArray[np.float64]) -> dict[str, Any]:
    advantage, spread = _experience(table)
    without = [_experience(np.delete(table, graph, axis=1)) for graph in range(table.shape[1])]
    used = EXPERIENCE.get(name)
    return {
        "method": name,
        "advantage": round(advantage[place], 1),
        "spread": round(spread[place], 1),
        "used": None if used is None else [100 * used.advantage, 100 * used.spread],
        "advantage without one graph": [
            round(float(end([of[0][place] for of in without])), 1) for end in (min, max)
        ],
        "spread without one graph": [round(float(end([of[1][place] for of in without])), 1) for end in (min, max)],
    }


def _experience(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of (methods, graphs): above the mean of all methods on a graph, and how much that varies among graphs."""
    above = table - table.mean(axis=0)
    return above.mean(axis=1), above.std(axis=1, ddof=1)


def to_markdown(measured: dict[str, Any]) -> str:
    lines = [
        "## Experience with methods",
        "",
        f"Accuracy minus the mean of all methods on the same graph, in points, over {len(measured['graphs'])} "
        "graphs with 5 labels a class; how much that varies from graph to graph; what the choice goes by.",
        "",
        "| method | advantage | spread | used | advantage without one graph | spread without one graph |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in measured["rows"]:
        used = "" if row["used"] is None else "{:+.0f} ± {:.0f}".format(*row["used"])
        ends = ["{:+.1f} to {:+.1f}".format(*row["advantage without one graph"])]
        ends.append("{:.1f} to {:.1f}".format(*row["spread without one graph"]))
        lines.append(
            f"| {row['method']} | {row['advantage']:+.1f} | {row['spread']:.1f} | {used} | {' | '.join(ends)} |"
        )
    return "\n".join([*lines, "", f"`{measured['command']}`", ""])


def main(folder: Path) -> None:
    measured = measure()
    write(folder, "experience", measured, to_markdown(measured))
