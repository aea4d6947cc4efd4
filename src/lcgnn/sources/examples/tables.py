"""What an example consists of: three tables, the last of which only serves to compare with."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcgnn.files import written_atomically

Row: TypeAlias = Sequence[object]
Table: TypeAlias = tuple[Row, Sequence[Row]]


@dataclass(frozen=True)
class ExampleTables:
    """Header and rows of every table.

    Args:
        nodes: With a label where the user is to have one, and nothing where not.
        edges: Between the nodes' ids.
        truth: The label of every node; nothing but the reader compares with it.
    """

    nodes: Table
    edges: Table
    truth: Table

    def write(self, folder: Path) -> list[Path]:
        """Write the tables into a folder as CSV."""
        paths = []
        for name in ("nodes", "edges", "truth"):
            paths.append(folder / f"{name}.csv")
            header, rows = getattr(self, name)
            with (
                written_atomically(paths[-1]) as temporary,
                temporary.open("w", newline="", encoding="utf-8") as file,
            ):
                csv.writer(file, lineterminator="\n").writerows([header, *rows])
        return paths


def some_of_each(classes: NDArray[np.int64], count: int, generator: np.random.Generator) -> set[int]:
    """So many nodes of every class, drawn at random."""
    by_class = [np.flatnonzero(classes == label) for label in np.unique(classes)]
    return {int(node) for nodes in by_class for node in generator.choice(nodes, count, replace=False)}
