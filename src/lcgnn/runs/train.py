"""Training from what the user named to a folder of results: everything that ``lcgnn train`` does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcgnn import __version__
from lcgnn.assessment.trust import Assessment
from lcgnn.compute.kernels.threads import using
from lcgnn.compute.placement.launch import fail_once, is_launched, world_size
from lcgnn.errors import ConfigError
from lcgnn.files import write_json
from lcgnn.methods import Method
from lcgnn.runs.artifacts import PredictionFormat
from lcgnn.runs.board import temporary_board
from lcgnn.runs.choice.candidates import BUDGET, seconds_of
from lcgnn.runs.choice.planning import method_for
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.planning import plan
from lcgnn.runs.predict import Prediction, load_models, predict
from lcgnn.runs.records import Record, Summary
from lcgnn.runs.run import Manner
from lcgnn.runs.seeds import write_together
from lcgnn.runs.session import Session
from lcgnn.runs.spec import SplitKind, SplitSpec
from lcgnn.runs.summary import summarize, words
from lcgnn.runs.watching import Watcher
from lcgnn.sources.choice import source_of
from lcgnn.sources.source import Source
from lcgnn.sources.tables.columns import Columns

if TYPE_CHECKING:
    from lcgnn.runs.crew import Crew


class Followed(SystemExit):
    """Raised where several processes trained together and this is not the first: its work is done."""


@dataclass(frozen=True, eq=False)
class Training:
    """What a training came to.

    Args:
        session: What was done.
        summary: The results of all seeds together.
        records: One a seed.
    """

    session: Session
    summary: Summary
    records: tuple[Record, ...]

    @property
    def folder(self) -> Path:
        """Where everything was written."""
        return self.session.folder

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of the graph and its labels, a sentence each."""
        return self.session.notes

    @property
    def expected(self) -> Assessment | None:
        """How far to trust the predictions, where that was estimated."""
        return self.summary.expected

    @property
    def predictions(self) -> tuple[Path, ...]:
        """The files with a label and its probability for every node: the answer first, then those of each seed.

        The answer of several seeds is their mean; of one seed it is its own, the only file.
        """
        answers = self.summary.answers
        return self.session.predictions if answers is None else tuple(map(Path, answers.predictions))

    @property
    def words(self) -> tuple[str, ...]:
        """What came of it in sentences, as the command line prints them."""
        return words(self.summary, can_predict=self.session.can_predict)

    def models(self) -> tuple[TrainedModel, ...]:
        """The trained models, one a seed."""
        return load_models(self.folder)

    def predict(self, what: Any = None, columns: Columns | None = None) -> Prediction:
        """Classify the nodes of another graph, or of the one that was trained on."""
        again = self.session.source if what is None else what
        return predict(self.folder, again, columns=columns, device=self.session.manner.device)


def train(
    what: Any,
    method: str | Method | None = None,
    *,
    seeds: int = 1,
    split: SplitKind = "public",
    labels_per_class: int | None = None,
    labels: int | None = None,
    split_seed: int = 0,
    validation: float | None = None,
    labels_from: Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    estimate: bool = True,
    folds: int | None = None,
    budget: str | float = BUDGET,
    device: str = "auto",
    workers: int | None = None,
    threads: int | None = None,
    parts: int = 1,
    out: Path | str | None = None,
    predictions: PredictionFormat = "csv",
    watcher: Watcher | None = None,
) -> Training:
    """Train a method on a graph and write models, predictions and what to expect of them into a folder.

    A training that was stopped continues when it is called again with the same arguments; what is done is not
    repeated. Started by torchrun, every process calls it; only in the first one it returns, the others end.

    Args:
        what: The graph: a folder, an .npz file, a benchmark's name, two data frames, a NetworkX graph, ... (see
            `source_of`).
        method: A method's name (``lcgnn methods`` lists them), or a method; "auto" tries several on held-out
            labels and takes one. None for "auto" on a graph of the user's own, else (or in parts) "lc-gcn".
        seeds: Train from so many different initialisations.
        split: Which labels: "public" (the graph's own split, or all labels), or a draw of them: "random", with 500
            nodes for validation and 1,000 for test, or "handful", none for validation and all others for test.
        labels_per_class: Train on so many labels of each class; None for all of the split's.
        labels: Train on so many labels of a draw in all, whatever their class.
        split_seed: Which random draw of the labels.
        validation: Share of the training labels that chooses the epoch; None for a tenth if there are many.
        labels_from: A file with labels that count more than the graph's own; see `source_of`.
        settings: Of the method, where they differ from its defaults.
        columns: Names of columns that are not to be guessed.
        estimate: Whether to estimate from the given labels how many predictions are right, and calibrate.
        folds: Into how many parts the labels are divided for that; None for as many as make sense.
        budget: How long "auto" may try methods: seconds, or a text such as "2m".
        device: A torch device or "auto".
        workers: Processes to train in; None for one a core.
        threads: Of each process, which compute on large graphs, with the same result for any number; None for an
            equal share of the cores.
        parts: Above 1, hold only one of so many parts of the graph in memory at a time.
        out: Folder for the results; by default one in ``runs/``.
        predictions: Format of the predictions.
        watcher: Told how it goes.
    """
    watcher = watcher or Watcher()
    source = _source(what, columns, labels_from)
    together = source.parts is not None
    asked = _folds(estimate, folds, together=together)
    if together and parts > 1:
        raise ConfigError("Under torchrun every process holds a part already. Leave out --parts.")
    method = method_for(source, method, parts)
    seconds = seconds_of(budget)
    manner = Manner(device, predictions, parts=parts)
    asked_for = SplitSpec(split, labels_per_class, split_seed, labels=labels)
    compared = {
        "method": str(method),
        "seeds": seeds,
        "settings": dict(settings or {}),
        "split": asked_for.to_json(),
    }
    compared |= {"validation": validation, "predictions": predictions}
    with using(threads), _crew(source, device, compared) as crew:
        with watcher.reading() as progress:
            loaded = source.load(progress)
        session = plan(
            source,
            loaded,
            method,
            seeds=seeds,
            split=asked_for,
            validation=validation,
            settings=settings,
            folder=None if out is None else Path(out),
            manner=manner if crew is None else replace(manner, fit=crew.fit_run),
            workers=workers if crew is None else 1,
            folds=asked,
            budget=seconds,
        )
        watcher.notes(session.notes)
        return _carry_out(session, watcher, crew)


def _carry_out(session: Session, watcher: Watcher, crew: Crew | None) -> Training:
    """Choose and estimate, train every seed of what was taken, and write the summary."""
    choice = None if session.contest is None else session.contest.carry_out(watcher)
    if session.contest is not None and choice is not None:
        session = session.settled(session.contest.settled(choice))
    gone = session.clear()
    if gone:
        watcher.notes(
            (f"What {' and '.join(gone)} left in {session.folder} gives way to {session.configuration.method}.",)
        )
    temperature = 1.0 if choice is None else choice.assessment.calibration.temperature
    labels = [f"seed {run.spec.seed}" for run in session.runs]
    records: list[Record] = []
    started = time.perf_counter()
    with temporary_board(len(labels)) as board, watcher.working(board, labels, "runs"):
        for _, record in session.results(board, temperature):
            records.append(record)
            watcher.trained(record)
    watcher.trained_all(records, time.perf_counter() - started)
    communication = None if crew is None else crew.communication()
    summary = summarize(session, records, choice, communication, write_together(session))
    write_json(session.folder / "summary.json", summary.to_json())
    return Training(session, summary, tuple(sorted(records, key=lambda record: record.seed)))


def _source(what: Any, columns: Columns | None, labels_from: Path | str | None) -> Source:
    """What is meant, or the reason in the words of the first of all processes that were started."""
    try:
        processes = world_size() if is_launched() else None
        return source_of(what, columns, labels_from=labels_from, processes=processes)
    except ConfigError as error:
        fail_once(error)


def _folds(estimate: bool, folds: int | None, *, together: bool) -> int | None:
    """How many folds are asked for; None for as many as make sense."""
    if not estimate and folds:
        raise ConfigError(f"--no-estimate and --folds {folds} contradict each other. Leave one of them out.")
    if together and folds:
        raise ConfigError("Accuracy cannot be estimated by folds on a graph in parts. Leave out --folds.")
    return folds if estimate and not together else 0


@contextmanager
def _crew(source: Source, device: str, settings: Mapping[str, Any]) -> Iterator[Crew | None]:
    """The processes that train together on a graph in parts, for the first of them; None for a whole graph."""
    if source.parts is None:
        yield None
        return
    # Most trainings need nothing of torch's process groups.
    from lcgnn.runs.crew import at_work

    checked = {**settings, "lcgnn": __version__, "LCGNN_KERNELS": os.environ.get("LCGNN_KERNELS")}
    with at_work(source.parts, device, checked) as crew:
        if crew is None:
            raise Followed(0)
        yield crew
