"""What is tried on a graph, settled before any of it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lcgnn.errors import ConfigError
from lcgnn.methods import Method, entry
from lcgnn.methods.base import settings_of
from lcgnn.runs.choice.candidates import AUTO, CANDIDATES, best_first
from lcgnn.runs.choice.contest import Contest
from lcgnn.runs.cross_validation import CrossValidation, check_asked, division, why_not_divided
from lcgnn.runs.run import Run
from lcgnn.sources.source import Source

# What a benchmark gets where no method is named, and a graph in parts, on which nothing can be tried.
_USUAL = "lc-gcn"


def method_for(source: Source, method: str | Method | None, parts: int = 1) -> str | Method:
    """The method that is meant where none is named; ConfigError for a choice that cannot be made."""
    in_parts = parts > 1 or source.parts is not None
    if method is None:
        return _USUAL if in_parts or source.benchmark is not None else AUTO
    if method == AUTO and in_parts:
        raise ConfigError(f"Methods cannot be compared on a graph in parts. Name one: --method {_USUAL}.")
    return method


def shared_settings(names: Sequence[str], settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every candidate in our order, with those settings that it has; ConfigError for one that none has."""
    known = {name: settings_of(entry(name).method) for name in names}
    for key in settings:
        if not any(key in of_one for of_one in known.values()):
            raise ConfigError(f"None of {', '.join(names)} has a setting {key!r}: see 'lcgnn methods NAME'.")
    for name in best_first(names):
        yield name, {key: value for key, value in settings.items() if key in known[name]}


def plan_contest(
    runs: Sequence[Run], asked: int | None, folder: Path, device: str, workers: int, budget: float | None
) -> tuple[Contest | None, list[str]]:
    """The choice among runs that have the same labels, or none and why the first is taken.

    Args:
        runs: One of each candidate, the favoured one first.
        asked: How many folds; 0 for none, None for as many as make sense.
        folder: Where the results of the folds go, those of every candidate in a folder of its own.
        device: What to compute on.
        workers: How many processes at most.
        budget: Seconds that it may take.
    """
    check_asked(asked)
    first = runs[0]
    taken = f"The method is {first.spec.method}, which we would try first: methods are not compared"
    if asked == 0:
        return None, [f"{taken} without held-out labels."]
    count, used = division(first.graph, first.split, asked)
    if not count:
        return None, [f"{taken}{why_not_divided(first.graph, first.split)}"]
    by_name = {run.spec.method: run for run in runs}
    entries = [
        CrossValidation(by_name[name], count, used, folder / name, device, workers)
        for name in _cheap_first(by_name)
    ]
    return Contest(tuple(entries), budget), []


def _cheap_first(names: Mapping[str, Run]) -> list[str]:
    """As the list of candidates has them; others after these, as they are."""
    return sorted(names, key=lambda name: CANDIDATES.index(name) if name in CANDIDATES else len(CANDIDATES))
