"""The choice among methods as a method of its own, for studies of how good it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lcgnn.assessment.calibration import at_temperature
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit, Method, create
from lcgnn.methods.base import OWN_GRAPH, Stage, setting, settings_of
from lcgnn.methods.checks import check_settings
from lcgnn.runs.choice.candidates import AUTO, best_first, candidates_named
from lcgnn.runs.choice.contest import contest_in_memory
from lcgnn.runs.choice.verdict import Choice
from lcgnn.runs.records import Record
from lcgnn.runs.run import Run
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.loaded import Loaded

# Raised when what is taken, or what is expected of it, changes for the same held-out labels: records made by an
# earlier rule do not count any more.
RULE = 7


@dataclass(frozen=True, eq=False)
class ChosenFit(Fit):
    """A fit of the method that was taken, with what it was taken for; its answer is calibrated."""

    choice: Choice


@dataclass(frozen=True)
class Auto(Method):
    """What a user gets who names no method, but however long it takes: the same labels give the same choice."""

    candidates: str = setting(
        "mlp,spreading,lc-gcn,lc-appnp", "What is tried; label consistency comes with its base."
    )

    def __post_init__(self) -> None:
        candidates_named(self.candidates)

    def methods(self) -> dict[str, Method]:
        """The candidates as a graph of the user's own gets them that has no labels to spare for validation."""
        made = {name: create(name, OWN_GRAPH) for name in best_first(candidates_named(self.candidates))}
        return {
            name: replace(method, **{"selection": "last"}) if "selection" in settings_of(type(method)) else method
            for name, method in made.items()
        }

    def plain_settings(self) -> dict[str, Any]:
        """Of every candidate, and the rule by which one of them is taken."""
        return {"rule": RULE, **{name: method.plain_settings() for name, method in self.methods().items()}}

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        context = context or Context()
        started = time.perf_counter()
        methods = self.methods()
        choice = contest_in_memory(methods, graph, split, seed, device=context.device, kept=context.folds)
        if choice is None:
            # No class has two labels: nothing can be held out, and experience alone decides.
            name, method = next(iter(methods.items()))
            fit = method.fit(graph, split, seed, context)
            stage = Stage(AUTO, fit.label_distribution, note=name)
            return Fit((stage,), fit.tensors, time.perf_counter() - started)
        fit = choice.method.fit(graph, split, seed, Context(context.device, progress=context.progress))
        answer = at_temperature(fit.label_distribution, choice.assessment.calibration.temperature)
        stage = Stage(AUTO, answer, note=choice.name)
        return ChosenFit((stage,), fit.tensors, time.perf_counter() - started, choice)


@dataclass(frozen=True, eq=False)
class AutoRun(Run):
    """A run of the choice: its record says what was expected of the answer, beside how good it is."""

    def measured(self, fit: Fit) -> Record:
        record = super().measured(fit)
        if not isinstance(fit, ChosenFit):
            return record
        return replace(record, choice=fit.choice.record, expected=fit.choice.assessment)


def auto_made(settings: Mapping[str, Any]) -> Auto:
    """The choice with these settings; ConfigError for one that it does not have."""
    check_settings(AUTO, Auto, settings)
    return Auto(**settings)


def run_of(spec: RunSpec, loaded: Loaded) -> Run:
    """The run that is specified, of a method or of the choice among several."""
    return AutoRun(spec, loaded) if spec.method == AUTO else Run(spec, loaded)
