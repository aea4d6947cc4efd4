"""Small graphs for the page, as tables and with labels that were given before."""

import csv
from functools import partial
from pathlib import Path

import numpy as np

from lcgnn.labelling.ledger import Ledger
from lcgnn.sources.tables.ledger import Line

KINDS = {
    "apple": ["red", "sweet", "crisp", "orchard", "core", "pie"],
    "banana": ["yellow", "soft", "peel", "bunch", "tropical", "ripe"],
    "cherry": ["stone", "pair", "blossom", "tart", "small", "stem"],
}


def write_fruits(folder: Path) -> dict[str, str]:
    """Tables of forty fruits of every kind, without labels, mostly linked to their own; returns what each is."""
    draw = np.random.default_rng(0)
    truth = {f"{kind[:3]}-{number}": kind for kind in KINDS for number in range(40)}
    names = list(truth)
    nodes = [["id", "text", "weight"]]
    nodes += [[name, " ".join(draw.choice(KINDS[truth[name]], 6)), str(draw.integers(1, 100))] for name in names]
    edges = [["source", "target"]]
    for name in names:
        near = [other for other in names if truth[other] == truth[name]]
        edges += [[name, other] for other in [*draw.choice(near, 3), *draw.choice(names, 1)] if other != name]
    write_table(folder / "nodes.csv", nodes)
    write_table(folder / "edges.csv", edges)
    return truth


def write_table(path: Path, rows: list[list[str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def write_ledger(path: Path, labels: dict[str, str]) -> None:
    """Labels as the page would have written them."""
    ledger = Ledger(path, (), "test")
    for node, label in labels.items():
        ledger.append(partial(_labelled, node, label))


def write_classes(path: Path, names: list[str]) -> None:
    """Classes without any label, as the page would have added them."""
    ledger = Ledger(path, (), "test")
    for name in names:
        ledger.append(partial(_added, name))


def _added(name: str, _given: object) -> Line:
    return Line(label=name, action="class")


def _labelled(node: str, label: str, _given: object) -> Line:
    return Line(id=node, label=label, action="label")
