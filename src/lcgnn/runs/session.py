"""A method on a graph from several seeds, in a folder of its own."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lcgnn import __version__
from lcgnn.claims import claimed
from lcgnn.errors import OutputError
from lcgnn.files import check_names, read_json, remove_leftovers, write_json
from lcgnn.runs.board import Board
from lcgnn.runs.choice.candidates import AUTO
from lcgnn.runs.choice.contest import Contest
from lcgnn.runs.cross_validation import is_small
from lcgnn.runs.records import Configuration, Record, UsedSplit
from lcgnn.runs.run import RESULT_FILE, Manner, ProgressCallback, Run, execute
from lcgnn.runs.runner import run_jobs
from lcgnn.runs.spec import fingerprint
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import Source

# Of a graph's name in the name of a folder.
_LONGEST_NAME = 60


@dataclass(frozen=True, eq=False)
class Session:
    """The same run from several seeds, in a folder of its own.

    Args:
        configuration: What is common to all runs.
        runs: One a seed.
        folder: Where everything is written.
        manner: How the runs are carried out.
        workers: How many processes.
        notes: What there is to say of the graph and its labels.
        contest: What tells which of several methods to take, and how far to trust the predictions; None where
            nothing is tried or estimated.
    """

    configuration: Configuration
    runs: tuple[Run, ...]
    folder: Path
    manner: Manner
    workers: int
    notes: tuple[str, ...] = ()
    contest: Contest | None = None

    @property
    def source(self) -> Source:
        """Where the graph comes from."""
        return self.runs[0].spec.source

    @property
    def loaded(self) -> Loaded:
        """The graph."""
        return self.runs[0].loaded

    @property
    def predictions(self) -> tuple[Path, ...]:
        """The files with the predictions, one a seed."""
        name = self.manner.predictions_file
        return tuple(self.folder / f"seed-{run.spec.seed}" / name for run in self.runs)

    @property
    def mean_prediction(self) -> Path:
        """The file with the mean of what several seeds predict."""
        return self.folder / self.manner.predictions_file

    @property
    def can_predict(self) -> bool:
        """Whether the models can be used on other graphs of the user's that come in the same way."""
        own = self.source.benchmark is None
        return own and not self.loaded.made_of_edges and self.runs[0].method.inductive

    def settled(self, run: Run) -> Session:
        """The session of the method that was taken, in the same folder."""
        return dataclasses.replace(self, configuration=configuration(run), runs=by_seed(run, len(self.runs)))

    def clear(self) -> tuple[str, ...]:
        """Remove what seeds of other methods left in the folder, which were taken by other folds or no folds.

        Nothing is removed of the same method from other seeds: its models answer together with those to come.

        Returns:
            The names of those methods.
        """
        gone: set[str] = set()
        own = _what_is_run(self.runs[0].spec.method, self.runs[0].method.plain_settings())
        for path in self.folder.glob(f"seed-*/{RESULT_FILE}"):
            try:
                record = Record.from_json(read_json(path), str(path))
            except OutputError:
                continue
            if _what_is_run(record.method, record.settings) != own:
                with claimed(path.parent / ".claim"):
                    shutil.rmtree(path.parent, ignore_errors=True)
                self.mean_prediction.unlink(missing_ok=True)
                gone.add(record.method)
        return tuple(sorted(gone))

    def results(self, board: Board, temperature: float = 1.0) -> Iterator[tuple[int, Record]]:
        """Carry out the runs and yield (position, record) as they finish; what is done already comes at once.

        Args:
            board: Where the runs say how far they are.
            temperature: Of the probabilities that are written.
        """
        manner = dataclasses.replace(self.manner, temperature=temperature)
        here = self.workers > 1 and is_small(self.runs[0].graph)
        job = partial(_carry_out, self.folder, manner)
        yield from run_jobs(job, self.runs, board, workers=self.workers, here=here)


def _what_is_run(method: str, settings: Mapping[str, Any]) -> str:
    return fingerprint({"method": method, "settings": dict(settings)})


def by_seed(run: Run, seeds: int) -> tuple[Run, ...]:
    """The same run from the seeds 0, 1, ..., seeds - 1."""
    return tuple(Run(dataclasses.replace(run.spec, seed=seed), run.loaded) for seed in range(seeds))


def configuration(run: Run) -> Configuration:
    """What is common to the runs from all seeds."""
    return Configuration(
        lcgnn=__version__,
        dataset=run.spec.source.name,
        graph=run.graph.checksum,
        method=run.spec.method,
        settings=run.method.plain_settings(),
        split=UsedSplit(run.spec.split, run.split.name, run.split.checksum),
    )


def configuration_of_several(runs: Sequence[Run]) -> Configuration:
    """What a folder is about in which several methods are tried."""
    settings = {run.spec.method: run.method.plain_settings() for run in runs}
    return dataclasses.replace(configuration(runs[0]), method=AUTO, settings=settings)


def _carry_out(folder: Path, manner: Manner, run: Run, progress: ProgressCallback) -> Record:
    own = folder / f"seed-{run.spec.seed}"
    # Another process that was given the same command does this run, or waits for it.
    with claimed(own / ".claim"):
        return execute(run, own, manner, progress)


def default_folder(configuration: Configuration) -> Path:
    """Where a session goes for which no folder is named."""
    name = re.sub(r"[^\w.-]+", "-", configuration.dataset)[:_LONGEST_NAME]
    return Path("runs") / f"{name}-{configuration.method}-{fingerprint(configuration.identity())[:8]}"


def prepare(folder: Path, configuration: Configuration) -> None:
    """Make the folder ours, or refuse one that belongs to something else."""
    path = folder / "config.json"
    check_names(path)
    if path.exists():
        existing = Configuration.from_json(read_json(path), str(path))
        if existing.identity() != configuration.identity():
            raise OutputError(f"{folder} holds the results of another configuration. Choose another --out folder.")
        return
    remove_leftovers(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already and is not a run folder. Choose another --out folder.")
    write_json(path, configuration.to_json())
