"""From what a classifier is told of its base to the methods that it is fitted by."""

from __future__ import annotations

import dataclasses
from typing import Any

from lcgnn.errors import ConfigError
from lcgnn.graph import Graph
from lcgnn.methods import Method, ModuleMethod, create, entries, module_method
from lcgnn.methods.base import OWN_GRAPH, own_graph_settings
from lcgnn.methods.checks import check_settings
from lcgnn.methods.lc import TwoPhase
from lcgnn.networks.module import ModuleFactory
from lcgnn.runs.choice.candidates import AUTO, candidates_for
from lcgnn.runs.choice.planning import shared_settings
from lcgnn.runs.choice.verdict import Choice
from lcgnn.runs.choice.words import choice_in_words


def base_names() -> list[str]:
    """The networks that label consistency can be put around."""
    names = [item.name for item in entries() if issubclass(item.method, TwoPhase)]
    return [name for name in names if f"lc-{name}" in names]


def candidates(settings: dict[str, Any], graph: Graph, *, label_consistency: bool) -> dict[str, Method]:
    """What "auto" tries, by name, the favoured one first; each takes those of the settings that it has."""
    names = list(candidates_for(graph, graph.labelled))
    if not label_consistency:
        names = [name.removeprefix("lc-") for name in names]
    return {name: create(name, OWN_GRAPH, **of_one) for name, of_one in shared_settings(names, settings)}


def method_of(
    base: str | ModuleFactory | TwoPhase, settings: dict[str, Any], *, label_consistency: bool
) -> tuple[str, Method]:
    """The method of a single base, and its name."""
    if isinstance(base, str):
        if base not in base_names():
            raise ConfigError(f"base is {base!r}; it can be {', '.join([AUTO, *base_names()])}.")
        name = f"lc-{base}" if label_consistency else base
        return name, create(name, OWN_GRAPH, **settings)
    name = "lc-module" if label_consistency else "module"
    settings = {**settings, "aggregation": "consistency" if label_consistency else None}
    if isinstance(base, TwoPhase):
        check_settings("base", type(base), settings)
        return name, dataclasses.replace(base, **settings)
    return name, module_method(base, name=name, **{**own_graph_settings(ModuleMethod, settings), **settings})


def choice_told(choice: Choice | None, name: str, count: int) -> list[str]:
    """What was taken and why, where there was a choice."""
    if choice is None and count > 1:
        why = "methods are not compared, because no class has two labels"
        return [f"The method is {name}, which we would try first: {why}."]
    if choice is None:
        return []
    return choice_in_words(choice.record) if len(choice.record.tried) > 1 else []
