"""What the paper reports, for a run that does what the paper did: the figures in the files of its experiments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from lcgnn.files import read_toml
from lcgnn.methods import entry


@dataclass(frozen=True)
class Reported:
    """A number of the paper, in percent; the spread is None where the paper gives none."""

    mean: float
    std: float | None = None


@cache
def paper_results() -> dict[tuple[str, str, int | None], Reported]:
    """What the paper reports by method, dataset and labels per class (None: the whole public split)."""
    found = {}
    for file in resources.files("lcgnn").joinpath("experiments", "paper").iterdir():
        if not file.name.endswith(".toml"):
            continue
        content = read_toml(file)
        for row in content["rows"] if content.get("kind") != "statistics" else ():
            method = row["method"] if "stage" not in row else entry(row["method"]).family
            for column, figures in zip(content["columns"], row.get("paper", ()), strict=False):
                if figures and "fifth" not in column:
                    found[method, column["dataset"], column.get("labels_per_class")] = Reported(*figures)
    return found
