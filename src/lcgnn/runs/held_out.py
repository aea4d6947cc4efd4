"""Every given label beside what models that had not seen it predict, from folds that are there or are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import DataError, OutputError
from lcgnn.files import read_json
from lcgnn.graph import Graph, Split
from lcgnn.limits import available_cores
from lcgnn.methods.base import recorded
from lcgnn.methods.blend import Blend
from lcgnn.methods.several import mean_of
from lcgnn.runs.board import temporary_board
from lcgnn.runs.choice.candidates import AUTO
from lcgnn.runs.choice.verdict import base_of
from lcgnn.runs.cross_validation import CrossValidation, carry_out_folds, check_asked, division, held_out_by
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import find_models, split_asked, trained_on
from lcgnn.runs.records import Configuration, Summary
from lcgnn.runs.run import Run
from lcgnn.runs.session import Session
from lcgnn.runs.spec import RunSpec
from lcgnn.runs.watching import Watcher
from lcgnn.sources.source import Source

# On a graph so large that accuracy is not estimated unless it is asked for.
_FEW_FOLDS = 5


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Given labels beside what models without them predict.

    Args:
        run: Of the method that predicts, on all labels.
        nodes: (n,) whose labels were held out, in order.
        distribution: (n, C) what is predicted for them.
        folds: Into how many parts the labels were divided.
        temperature: Of the probabilities that the run writes.
    """

    run: Run
    nodes: NDArray[np.int64]
    distribution: NDArray[np.float32]
    folds: int
    temperature: float = 1.0


def folds_to_ask(graph: Graph, split: Split, asked: int | None) -> int | None:
    """How many folds to ask for, so that there are some wherever a label can be held out; None for the usual."""
    check_asked(asked)
    if asked == 0:
        raise DataError(f"{graph.name}: without folds no label is held out. Ask for 2 or more.")
    if asked is not None:
        return asked
    usual, _ = division(graph, split, None)
    if not usual:
        return _FEW_FOLDS
    # Where there are test labels accuracy is not estimated, and folds have to be asked for.
    return usual if split.test.size else None


def by_session(session: Session, watcher: Watcher) -> HeldOutLabels:
    """Of a session that was planned: its choice is carried out, and the folds that all labels need besides."""
    assert session.contest is not None
    choice = session.contest.carry_out(watcher)
    entries = {entry.run.spec.method: entry for entry in session.contest.entries}
    run = session.contest.settled(choice)
    return _all_labels(run, entries, watcher, choice.assessment.calibration.temperature)


def by_folder(folder: Path, device: str, workers: int | None, watcher: Watcher) -> HeldOutLabels:
    """Of a run's folder: its folds are read, and what is missing of all labels' folds is trained in it."""
    configuration = Configuration.from_json(read_json(folder / "config.json"), str(folder / "config.json"))
    model = TrainedModel.load(find_models(folder)[0])
    source = trained_on(model)
    with watcher.reading() as progress:
        loaded = source.load_whole(progress)
    if loaded.graph.checksum != configuration.graph:
        raise DataError(
            f"{source.name} has changed since {folder} was made. Train again: lcgnn train {source.name}"
        )
    run = Run(_spec(source, model.name, model.method.plain_settings(), model), loaded)
    count = _count(folder, run)
    alone = configuration.method != AUTO
    tried = {configuration.method: configuration.settings} if alone else configuration.settings
    entries = {
        name: CrossValidation(
            Run(_spec(source, name, settings, model), loaded),
            count,
            count,
            folder / "folds" if alone else folder / "folds" / name,
            device,
            workers or available_cores(),
        )
        for name, settings in tried.items()
    }
    watcher.notes(loaded.notes)
    return _all_labels(run, entries, watcher, model.temperature)


def is_run_folder(what: Any) -> bool:
    """Whether what was named is a folder that a training wrote."""
    if not isinstance(what, str | Path):
        return False
    return (Path(what) / "config.json").is_file() and any(Path(what).glob("seed-*"))


def _spec(source: Source, name: str, settings: Mapping[str, Any], model: TrainedModel) -> RunSpec:
    return RunSpec(source, name, 0, {}, split_asked(model), recorded(name, settings))


def _count(folder: Path, run: Run) -> int:
    """Into how many parts the run's labels were divided, or are."""
    path = folder / "summary.json"
    try:
        expected = Summary.from_json(read_json(path), str(path)).expected
    except OutputError:
        expected = None
    if expected is not None:
        return expected.of_folds
    return division(run.graph, run.split, None)[0] or division(run.graph, run.split, _FEW_FOLDS)[0]


def _entry_of(taken: str, entries: Mapping[str, CrossValidation]) -> tuple[CrossValidation, int]:
    """Whose folds have what was taken, and in which of their stages: it may be the base of what was trained."""
    if taken in entries:
        return entries[taken], -1
    for name, entry in entries.items():
        base = base_of(name, entry.run.method)
        if base is not None and base[0] == taken:
            return entry, 0
    raise OutputError(f"No folds of {taken} are kept. Train again with it: --method {taken}")


def _all_labels(
    run: Run, entries: Mapping[str, CrossValidation], watcher: Watcher, temperature: float
) -> HeldOutLabels:
    """What the folds of all labels predict, as the run's method or the mean of its members."""
    is_mean = isinstance(run.method, Blend) and run.spec.method not in entries
    names = run.method.names if is_mean else (run.spec.method,)  # type: ignore[attr-defined]
    found = [_predicted(*_entry_of(name, entries), watcher) for name in names]
    nodes, count = found[0][0], next(iter(entries.values())).count
    return HeldOutLabels(run, nodes, mean_of([distribution for _, distribution in found]), count, temperature)


def _predicted(
    entry: CrossValidation, stage: int, watcher: Watcher
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """All labelled nodes in order and what folds without them predict; those that are there are not repeated."""
    entry = replace(entry, used=entry.count)
    jobs = [entry.job(number) for number in range(entry.count)]
    missing = [job for job in jobs if job.finished() is None]
    found = [record for job in jobs if (record := job.finished()) is not None]
    if missing:
        labels = [f"fold {job.run.number + 1}" for job in missing]
        with temporary_board(len(missing)) as board, watcher.working(board, labels, "folds"):
            found += [record for _, record in carry_out_folds(missing, board, entry.workers)]
    ordered = sorted(found, key=lambda record: record.fold)
    nodes = np.concatenate([np.array(record.nodes, dtype=np.int64) for record in ordered])
    order = np.argsort(nodes)
    return nodes[order], held_out_by(ordered, entry.run.graph.labels, stage).distribution[order]
