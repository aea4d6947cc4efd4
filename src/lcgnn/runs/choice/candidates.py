"""What ``auto`` tries, in what order, and what it prefers where the labels do not tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lcgnn.errors import ConfigError
from lcgnn.methods import entry
from lcgnn.sources.loaded import Loaded

AUTO = "auto"

# The features alone and the edges alone: what the others are to be better than.
FEATURES_ALONE, EDGES_ALONE = "mlp", "spreading"
# They differ in kind, the cheap ones first; label consistency comes with its base as a further answer.
CANDIDATES = (FEATURES_ALONE, EDGES_ALONE, "lc-gcn", "lc-appnp", "lc-grand")
# Always tried; all others only while the time allows it, by what those before them took.
CHEAP = frozenset({FEATURES_ALONE, EDGES_ALONE, "lc-gcn", "gcn", "lp", "sgc", "lc-sgc"})
# What to prefer where the labels do not tell: the order of the mean accuracies with 5 labels a class on the graphs
# of results/any_graph_5.md on which all of these were run. GRAND was not run there; its two places are a guess.
PRIOR = ("lc-appnp", "lc-gcn", "lc-grand", "appnp", "gcn", "grand", EDGES_ALONE, FEATURES_ALONE)

# Seconds that trying may take where nothing else is said.
BUDGET = 300.0

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def candidates_for(loaded: Loaded) -> tuple[str, ...]:
    """The candidates for a graph: without features of its own, none that only reads them."""
    return tuple(name for name in CANDIDATES if not (loaded.made_of_edges and name == FEATURES_ALONE))


def in_prior_order(names: Sequence[str]) -> list[str]:
    """The names as the prior has them.

    Of those that it does not know, label consistency is first, and the others come before the features alone and
    the edges alone, as they are given.
    """

    def place(name: str) -> float:
        if name in PRIOR:
            return PRIOR.index(name)
        return -1 if name.startswith("lc-") else PRIOR.index(EDGES_ALONE) - 0.5

    return sorted(names, key=place)


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
