"""Who can be trained on rows that live so: every network says for itself, and the registry is asked."""

from __future__ import annotations

from lcgnn.compute.placement.base import IN_WORDS, Kind
from lcgnn.errors import ConfigError
from lcgnn.methods.base import Method, create, entries, name_of


def check_placement(method: Method, kind: Kind) -> None:
    """Raise ConfigError, which names those who can, if a method cannot be trained on rows that live so."""
    if kind == "whole" or kind in method.placements:
        return
    able = bases_that_run(kind)
    others = f"{', '.join(able[:-1])} and {able[-1]}" if len(able) > 1 else "".join(able) or "No base"
    raise ConfigError(
        f"{name_of(method)} cannot be trained on {IN_WORDS[kind]}. {others} can, with lc- or without; "
        "or train it on the whole graph, without parts."
    )


def bases_that_run(kind: Kind) -> list[str]:
    """The networks, by the names of their methods, that can be trained on rows that live so, in both phases."""
    able = {item.name for item in entries() if kind in create(item.name).placements}
    return [item.name for item in entries() if {item.name, f"lc-{item.name}"} <= able]
