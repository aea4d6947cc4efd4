"""What ``auto`` tries, in what order, and what experience says where the labels do not tell."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.choice import Experience
from lcgnn.assessment.diagnosis import LEARNS_DIFFERENCES, diagnose_by
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph
from lcgnn.methods import entry

AUTO = "auto"

# The features alone and the edges alone: what the others are to be better than.
FEATURES_ALONE, EDGES_ALONE = "mlp", "spreading"
# They differ in kind, the cheap ones first; label consistency comes with its base as a further answer.
CANDIDATES = (FEATURES_ALONE, EDGES_ALONE, "lc-gcn", "lc-appnp")
# Always tried; all others only while the time allows it, by what those before them took.
CHEAP = frozenset({FEATURES_ALONE, EDGES_ALONE, "lc-gcn", "gcn", "lp", "sgc", "lc-sgc"})
# What eleven graphs with 5 labels a class tell of each (`python -m benchmarks experience` prints the figures, from
# results/any_graph_5.jsonl): where the labels cannot tell, this decides. GRAND is a guess, with a wide spread; the
# blend was set by draws of seven of them that the study does not have.
EXPERIENCE = {
    "blend": Experience(0.09, 0.03),
    "lc-appnp": Experience(0.08, 0.05),
    "lc-gcn": Experience(0.07, 0.05),
    "lc-grand": Experience(0.06, 0.08),
    "gcn": Experience(0.04, 0.05),
    "appnp": Experience(0.02, 0.04),
    "grand": Experience(0.0, 0.1),
    EDGES_ALONE: Experience(-0.09, 0.07),
    FEATURES_ALONE: Experience(-0.13, 0.1),
}
# Of a method that the study does not have: as label consistency on it, or as a network without it.
_UNKNOWN_LC, _UNKNOWN = Experience(0.07, 0.08), Experience(0.02, 0.08)

# Seconds that trying may take where nothing else is said.
BUDGET = 300.0

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def candidates_for(graph: Graph, train: NDArray[np.int64], *, made_of_edges: bool = False) -> tuple[str, ...]:
    """The candidates for a graph, by what it has and by the labels that are trained on.

    Without features of its own none is tried that only reads them, without edges none that only reads these. Where
    neighbours clearly differ, one is tried as well that can learn that.
    """
    without = {FEATURES_ALONE} if made_of_edges else set()
    if not graph.num_edges:
        without.add(EDGES_ALONE)
    differ = graph.num_edges and diagnose_by(graph, train).neighbours_differ
    more = (f"lc-{LEARNS_DIFFERENCES}",) if differ else ()
    return tuple(name for name in (*CANDIDATES, *more) if name not in without)


def experience_with(name: str) -> Experience:
    """What to expect of a method beside the others; of one that the study does not have, as of its kind."""
    return EXPERIENCE.get(name, _UNKNOWN_LC if name.startswith("lc-") else _UNKNOWN)


def best_first(names: Iterable[str]) -> list[str]:
    """The names in the order in which we would try them, by experience; those alike as they are given."""
    return sorted(names, key=lambda name: -experience_with(name).advantage)


def candidates_named(text: str) -> tuple[str, ...]:
    """The methods of a list such as ``lc-gcn,mlp,lp``; ConfigError for an unknown one, or fewer than two."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        entry(name)
    if len(names) < 2:
        raise ConfigError(f"--methods {text!r}: name two methods or more, for example --methods lc-gcn,mlp,lp.")
    return names


def seconds_of(budget: str | float) -> float:
    """The seconds of ``90s``, ``2m``, ``1h`` or a number; ConfigError for anything else, or for none."""
    if isinstance(budget, (int, float)) and not isinstance(budget, bool):
        seconds = float(budget)
    else:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", str(budget).lower())
        seconds = float(found[1]) * _UNITS[found[2] or "s"] if found else float("nan")
    if not 0 < seconds < float("inf"):
        raise ConfigError(f"--budget {budget}: give a time such as 90s, 2m or 1h.")
    return seconds


def duration(seconds: float) -> str:
    """A time in words: seconds, minutes or hours."""
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"
