"""The demonstration: a few short trainings that show what label consistency is worth."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from lcgnn.files import read_toml
from lcgnn.runs.train import Training, train
from lcgnn.runs.watching import Watcher
from lcgnn.sources.benchmarks import with_public_split


@dataclass(frozen=True)
class DemoTraining:
    """One of the demonstration's trainings.

    Args:
        dataset: A benchmark's name.
        method: A method's name.
        seeds: How many.
        labels_per_class: To train on; None for the whole public split.
    """

    dataset: str
    method: str
    seeds: int
    labels_per_class: int | None = None

    @property
    def title(self) -> str:
        """What to call it."""
        labels = self.labels_per_class
        given = "public split" if labels is None else f"first {labels} labels of each class"
        return f"{self.method} on {self.dataset}, {given}, {self.seeds} seeds"

    def carry_out(self, folder: Path, watcher: Watcher) -> Training:
        """Train, in a folder of its own inside this one."""
        labels = 20 if self.labels_per_class is None else self.labels_per_class
        return train(
            self.dataset,
            self.method,
            seeds=self.seeds,
            labels_per_class=self.labels_per_class,
            out=folder / f"{self.dataset}-{self.method}-{labels}",
            watcher=watcher,
        )


def demo_trainings() -> list[DemoTraining]:
    """The trainings of ``demo.toml``; on another benchmark with a public split, as its ``otherwise`` says."""
    content = read_toml(resources.files("lcgnn.experiments").joinpath("demo.toml"))
    trainings = [DemoTraining(**item) for item in content["sessions"]]
    named = {item.dataset for item in trainings}
    return trainings + [
        DemoTraining(name, **content["otherwise"]) for name in with_public_split() if name not in named
    ]
