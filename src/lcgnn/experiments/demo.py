"""The demonstration: a few short sessions that show what label consistency is worth."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from lcgnn.files import read_toml
from lcgnn.runs.session import Session, plan
from lcgnn.runs.spec import SplitSpec


def plan_demo(folder: Path) -> list[Session]:
    """The sessions of ``demo.toml``, each in a folder of its own."""
    content = read_toml(resources.files("lcgnn.experiments").joinpath("demo.toml"))
    return [
        plan(
            item["dataset"],
            item["method"],
            seeds=item["seeds"],
            split=SplitSpec(labels_per_class=item.get("labels_per_class")),
            folder=folder / f"{item['dataset']}-{item['method']}-{item.get('labels_per_class', 20)}",
        )
        for item in content["sessions"]
    ]
