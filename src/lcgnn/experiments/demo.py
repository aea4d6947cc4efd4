"""The demonstration: a few short trainings that show what label consistency is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import resources
from pathlib import Path

from lcgnn.files import read_toml
from lcgnn.runs.train import Training, train
from lcgnn.runs.watching import Watcher
from lcgnn.sources.benchmarks import names


def demo_trainings(folder: Path) -> Iterator[tuple[str, Callable[[Watcher], Training]]]:
    """The trainings of ``demo.toml``, each in a folder of its own: what to call it, and how to carry it out.

    A benchmark that the file does not name is trained on as its ``otherwise`` says.
    """
    content = read_toml(resources.files("lcgnn.experiments").joinpath("demo.toml"))
    named = {item["dataset"] for item in content["sessions"]}
    others = [{"dataset": name, **content["otherwise"]} for name in names() if name not in named]
    for item in [*content["sessions"], *others]:
        labels = item.get("labels_per_class")
        carry_out = partial(
            _carry_out, item, folder / f"{item['dataset']}-{item['method']}-{20 if labels is None else labels}"
        )
        given = "public split" if labels is None else f"first {labels} per class"
        yield f"{item['method']} on {item['dataset']}, {given}, {item['seeds']} seeds", carry_out


def _carry_out(item: dict[str, object], folder: Path, watcher: Watcher) -> Training:
    return train(
        item["dataset"],
        str(item["method"]),
        seeds=int(str(item["seeds"])),
        labels_per_class=item.get("labels_per_class"),  # type: ignore[arg-type]
        out=folder,
        watcher=watcher,
    )
