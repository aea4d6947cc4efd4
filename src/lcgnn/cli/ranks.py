"""Training by several processes that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lcgnn import __version__
from lcgnn.errors import ConfigError

if TYPE_CHECKING:
    from lcgnn.runs.crew import Crew


def parts_for(argument: str) -> Path | None:
    """The folder of parts that an argument means here, or None for a graph that is trained on as a whole."""
    from lcgnn.compute.placement.launch import fail_once, is_launched, world_size
    from lcgnn.sources.parts.parted import holds_parts

    folder = Path(argument)
    if holds_parts(folder):
        return folder
    if not is_launched():
        return None
    within = folder / f"parts-{world_size()}"
    if not holds_parts(within):
        problem = f"{world_size()} processes were started, and {argument} is not cut into as many parts."
        fail_once(ConfigError(f"{problem} First: lcgnn partition {argument} --parts {world_size()}"))
    return within


@contextmanager
def crew_for(context: typer.Context, argument: str, device: str) -> Iterator[tuple[str, Crew | None]]:
    """What to train on, and the processes that do it together; of these only the first one gets here."""
    place = parts_for(argument)
    if place is None:
        yield argument, None
        return
    from lcgnn.runs.crew import at_work

    settings = {name: value for name, value in context.params.items() if name not in _FREE}
    settings |= {"lcgnn": __version__, "LCGNN_KERNELS": os.environ.get("LCGNN_KERNELS")}
    with at_work(place, device, settings) as crew:
        if crew is None:
            raise typer.Exit
        yield str(place), crew


# Where things are may differ between machines, and what is printed is up to the first.
_FREE = ("dataset", "out", "as_json", "device", "workers")
