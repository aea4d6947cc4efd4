"""What is to be done for a session, checked before any of it starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lcgnn.compute.device import resolve_device
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Split
from lcgnn.limits import available_cores, check_memory
from lcgnn.methods import Method
from lcgnn.methods.base import name_of, settings_of
from lcgnn.methods.placements import check_placement
from lcgnn.methods.sizes import check_size
from lcgnn.runs.choice.candidates import AUTO, candidates_for
from lcgnn.runs.choice.contest import Contest
from lcgnn.runs.choice.planning import plan_contest, shared_settings
from lcgnn.runs.cross_validation import plan_cross_validation
from lcgnn.runs.run import Manner, Run
from lcgnn.runs.session import (
    Session,
    by_seed,
    configuration,
    configuration_of_several,
    default_folder,
    prepare,
)
from lcgnn.runs.spec import RunSpec, SplitSpec
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import Source

# Labels of every class from which on a tenth is held out for validation.
_MANY_LABELS = 100
# What the plan of a run takes, about.
_BYTES_OF_A_RUN = 2000


def plan(
    source: Source,
    loaded: Loaded,
    method: str | Method | Sequence[str],
    *,
    seeds: int = 1,
    split: SplitSpec | None = None,
    validation: float | None = None,
    settings: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    manner: Manner | None = None,
    workers: int | None = None,
    folds: int | None = 0,
    budget: float | None = None,
) -> Session:
    """Check everything that can be checked before the work starts, and prepare the folder.

    Args:
        source: Where the graph comes from.
        loaded: The graph.
        method: A method's name, or a method; "auto", or the names of several, to choose among them.
        seeds: Runs from the seeds 0, 1, ..., seeds - 1.
        split: Which labels may be used; the public split by default.
        validation: Share of the training labels to hold out for validation; None for a tenth if there are many.
        settings: Of the method, where they differ from its defaults; of several, each takes those that it has.
        folder: Where to write; by default ``runs/`` and a name made of all of the above but the seeds.
        manner: How the runs are carried out.
        workers: Processes; by default as many as there are cores, or seeds.
        folds: Of the cross-validation that estimates accuracy; 0 for none, None for as many as make sense.
        budget: Seconds that the choice may take; None for as long as it takes.
    """
    manner = manner or Manner()
    _check_numbers(seeds, workers, manner)
    check_seeds(seeds)
    resolve_device(manner.device)
    runs, unfit = _settled(source, loaded, method, settings or {}, split or SplitSpec(), validation, manner, folds)
    several = not isinstance(method, Method) and (not isinstance(method, str) or method == AUTO)
    common = configuration_of_several(runs) if several else configuration(runs[0])
    folder = folder or default_folder(common)
    processes = workers or available_cores()
    planned = plan_contest if several else _estimate
    contest, reasons = planned(
        runs, folds if manner.parts == 1 else 0, folder / "folds", manner.device, processes, budget
    )
    if contest is not None:
        contest = dataclasses.replace(contest, unfit=unfit)
    prepare(folder, common)
    run = runs[0]
    return Session(
        configuration=configuration(run),
        runs=by_seed(run, seeds),
        folder=folder,
        manner=manner,
        workers=min(processes, seeds),
        notes=(*loaded.notes, *_told(run.split, run.spec.split.validation), *reasons),
        contest=contest,
    )


def _settled(
    source: Source,
    loaded: Loaded,
    method: str | Method | Sequence[str],
    settings: Mapping[str, Any],
    split: SplitSpec,
    validation: float | None,
    manner: Manner,
    folds: int | None,
) -> tuple[tuple[Run, ...], dict[str, str]]:
    """The first run of the method, or of each candidate: all with the same labels, the favoured one first.

    Beside them the candidates that do not fit into memory, and why.
    """
    if isinstance(method, Method) or (isinstance(method, str) and method != AUTO):
        specs = [specified(source, method, settings, split)]
    else:
        names = tuple(method) if not isinstance(method, str) else _all_candidates(loaded, split)
        specs = [RunSpec(source, name, 0, of_one, split) for name, of_one in shared_settings(names, settings)]
    specs, unfit = _that_fit(specs, loaded, manner, folds)
    if validation is None:
        validation = split.validation or max(_sensible_validation(Run(spec, loaded)) for spec in specs)
    return tuple(_with_labels(spec, loaded, validation) for spec in specs), unfit


def _all_candidates(loaded: Loaded, split: SplitSpec) -> tuple[str, ...]:
    train = split.make(loaded.graph, loaded.split).train
    return candidates_for(loaded.graph, train, made_of_edges=loaded.made_of_edges)


def _that_fit(
    specs: list[RunSpec], loaded: Loaded, manner: Manner, folds: int | None
) -> tuple[list[RunSpec], dict[str, str]]:
    """The runs whose methods fit into memory, and why the others do not; DataError if none does.

    One that does not fit because of a setting that the user gave is not left out, but told.
    """
    found: list[RunSpec] = []
    unfit: dict[str, str] = {}
    for spec in specs:
        method = spec.create_method()
        _check_parts(manner.parts, method, folds, loaded)
        try:
            _check_size(method, loaded, manner)
            found.append(spec)
        except DataError as error:
            # Nothing else is left, or the user asked for it.
            if spec.settings or (spec is specs[-1] and not found):
                raise
            unfit[spec.method] = str(error)
    return found, unfit


def _with_labels(spec: RunSpec, loaded: Loaded, validation: float) -> Run:
    """The run with so large a share of its labels for validation, and a method that makes do with it."""
    spec = dataclasses.replace(spec, split=dataclasses.replace(spec.split, validation=validation))
    if not Run(spec, loaded).split.validation.size:
        spec = _without_validation(spec)
    # The method goes along to the workers, which may not know it by its name.
    run = Run(dataclasses.replace(spec, made=spec.create_method()), loaded)
    run.split.check(run.graph)
    return run


def _estimate(
    runs: Sequence[Run], asked: int | None, folder: Path, device: str, workers: int, budget: float | None
) -> tuple[Contest | None, list[str]]:
    """The cross-validation of a single method."""
    del budget  # How long it takes is the user's choice of the folds.
    found, reasons = plan_cross_validation(runs[0], asked, folder, device, workers)
    return (None if found is None else Contest((found,))), reasons


def specified(source: Source, method: str | Method, settings: Mapping[str, Any], split: SplitSpec) -> RunSpec:
    """The run with seed 0 of a method that is named, or of one that was made."""
    if isinstance(method, str):
        return RunSpec(source, method, 0, dict(settings), split)
    if settings:
        raise ConfigError("A method that was made has its settings already. Give them when it is made.")
    return RunSpec(source, name_of(method), 0, {}, split, method)


def _check_numbers(seeds: int, workers: int | None, manner: Manner) -> None:
    if seeds < 1:
        raise ConfigError(f"At least one seed is needed, not {seeds}.")
    if workers is not None and workers < 1:
        raise ConfigError(f"At least one worker is needed, not {workers}.")
    if manner.prediction_format not in ("csv", "parquet"):
        raise ConfigError(f"Predictions can be written as csv or parquet, not {manner.prediction_format!r}.")


def check_seeds(seeds: int) -> None:
    """Refuse more runs than can be kept in mind."""
    check_memory(f"Keeping {seeds:,} seeds in mind", seeds * _BYTES_OF_A_RUN)


def _check_size(method: Method, loaded: Loaded, manner: Manner) -> None:
    graph = loaded.graph
    # In parts, what has a row for each node is on disk or on other ranks.
    at_once = graph.num_nodes if manner.parts == 1 and manner.fit is Run.fit else 0
    check_size(method, graph.name, at_once, graph.num_features, graph.num_classes)


def _check_parts(parts: int, method: Method, folds: int | None, loaded: Loaded) -> None:
    if parts == 1:
        return
    nodes = loaded.graph.num_nodes
    if not 1 <= parts <= nodes:
        raise ConfigError(f"{loaded.graph.name} can be cut into 1 to {nodes:,} parts, not {parts:,}.")
    check_placement(method, "in turn")
    if folds:
        raise ConfigError("Accuracy cannot be estimated by folds on a graph in parts. Leave out --folds.")


def _sensible_validation(run: Run) -> float:
    """A tenth of the labels if every class has so many that none will be missed, otherwise none."""
    chooses = "selection" in settings_of(type(run.method)) and run.spec.settings.get("selection") != "last"
    if not chooses or run.split.validation.size:
        return 0.0
    fewest = np.bincount(run.graph.labels[run.split.train], minlength=run.graph.num_classes).min()
    return 0.1 if fewest >= _MANY_LABELS else 0.0


def _told(split: Split, validation: float) -> list[str]:
    """That labels are held out, if they are."""
    if not validation:
        return []
    return [
        f"{split.validation.size:,} of {split.train.size + split.validation.size:,} training labels are held out "
        "to choose the epoch; --validation 0 trains on all of them."
    ]


def _without_validation(spec: RunSpec) -> RunSpec:
    """The run with the last epoch kept, where no label is there to choose one by."""
    method = spec.create_method()
    if "selection" not in settings_of(type(method)):
        return spec
    asked = spec.settings.get("selection", "last")
    if asked != "last":
        raise ConfigError(
            f"Selection by validation {asked} needs validation labels, and there are none. "
            "Use --selection last, hold some out with --validation 0.2, or mark some in a split column."
        )
    if spec.made is not None:
        return dataclasses.replace(spec, made=dataclasses.replace(spec.made, **{"selection": "last"}))
    return dataclasses.replace(spec, settings={**spec.settings, "selection": "last"})
