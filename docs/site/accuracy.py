"""What the records of the runs say of a family of methods: accuracies beside the paper's, and seconds."""

import json
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from lcgnn.experiments.spec import Experiment, Row
from lcgnn.experiments.study import Cell
from lcgnn.methods import entry, is_registered
from lcgnn.report.page import Report, Study
from lcgnn.report.tables import ours_in_words, paper_in_words

ROOT = Path(__file__).parents[2]


@cache
def report() -> Report:
    """All that is known of the runs whose records are in the repository."""
    return Report.of([], ROOT / "no" / "single" / "records", ROOT / "results")


def accuracy_tables(family: str) -> list[str]:
    """The rows of a family, for every experiment on the graphs' own splits, and links to the others."""
    parts: list[str] = []
    others = []
    for study in report().studies:
        rows = [row for row in study.experiment.rows if _is_of(row.method, family) and not row.settings]
        rows = [
            row for row in rows if any(_cell(study, row, place) for place in range(len(study.experiment.columns)))
        ]
        if not rows:
            continue
        if _on_public_splits(study.experiment):
            parts += [f"### {study.experiment.title}", _table(study, rows)]
        else:
            others.append(f"[{study.experiment.title}](../results/{study.experiment.name}.md)")
    if not parts and not others:
        return ["## Accuracy", "It has not been run on the benchmark graphs yet."]
    said = "Test accuracy in percent, mean ± standard deviation over the seeds; the paper's figure in brackets."
    links = [f"Also in: {'; '.join(others)}."] if others else []
    return ["## Accuracy", said, *parts, *links]


def headline(family: str, dataset: str) -> str:
    """Test accuracy on a graph's public split, without and with label consistency where both were run."""
    found: dict[str, str] = {}
    for study in report().studies:
        if not _on_public_splits(study.experiment):
            continue
        for place, column in enumerate(study.experiment.columns):
            if column.dataset == dataset and column.split.labels_per_class is None:
                for row in study.experiment.rows:
                    cell = _cell(study, row, place)
                    if cell and _is_of(row.method, family) and not row.settings:
                        found.setdefault(row.reported_as, f"{100 * cell.summary.mean:.1f}")
    alone = found.get(family) or next(iter(found.values()), "")
    together = found.get(f"lc-{family}")
    return f"{alone}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{together}" if together else alone


def seconds_table(family: str) -> list[str]:
    """How long a fit takes: the recorded runs, and where there is one the measurement on an idle machine."""
    taken: dict[str, dict[str, list[float]]] = {}
    for record in report().records:
        if _is_of(record.method, family) and record.split.labels_per_class is None:
            taken.setdefault(record.method, {}).setdefault(record.dataset, []).append(record.seconds)
    datasets = ("cora", "citeseer", "pubmed")
    rows = [
        f"| `{name}` | " + " | ".join(_seconds(runs.get(dataset)) for dataset in datasets) + " |"
        for name, runs in sorted(taken.items())
    ]
    measured = [_measured(row) for row in _fits() if _is_of(row["method"], family)]
    if not rows and not measured:
        return []
    parts = ["## Seconds"]
    if rows:
        said = "Of one run of both phases, median of the records; the machine had other work as well."
        parts += [said, "\n".join(["| | Cora | Citeseer | PubMed |", "|---|---:|---:|---:|", *rows])]
    return parts + measured


def _table(study: Study, rows: list[Row]) -> str:
    columns = study.experiment.columns
    lines = ["| | " + " | ".join(column.title for column in columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    for row in rows:
        cells = (_shown(_cell(study, row, place)) for place in range(len(columns)))
        lines.append(f"| {row.name.replace('*', chr(92) + '*')} (`{row.reported_as}`) | {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return ""
    paper = f" ({paper_in_words(cell.paper)})" if cell.paper else ""
    return ours_in_words(cell) + paper


def _cell(study: Study, row: Row, place: int) -> Cell | None:
    cell = study.cells.get((row.name, place))
    return cell if cell is not None and cell.accuracies else None


def _is_of(method: str, family: str) -> bool:
    """Whether a method is of a family; a row may also be a choice among methods, which is of none."""
    return is_registered(method) and entry(method).family == family


def _on_public_splits(experiment: Experiment) -> bool:
    return not experiment.by_consistency and all(column.split.kind == "public" for column in experiment.columns)


def _seconds(runs: list[float] | None) -> str:
    return f"{median(runs):.1f}" if runs else ""


@cache
def _fits() -> list[dict[str, Any]]:
    path = ROOT / "benchmarks" / "results" / "fits.json"
    return list(json.loads(path.read_text(encoding="utf-8"))["rows"])


def _measured(row: dict[str, Any]) -> str:
    times = ", ".join(f"{row[name]['seconds']:.1f} s on {name}" for name in ("cora", "pubmed") if name in row)
    return (
        f"Measured alone on one thread, `{row['method']}` took {times} "
        "([fits](../benchmarks/results/fits.md), `python -m benchmarks fits`)."
    )
