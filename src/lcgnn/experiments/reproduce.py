"""Experiments from their names to their tables: what ``lcgnn reproduce`` does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lcgnn.errors import ConfigError
from lcgnn.experiments.forecast import Item, forecast
from lcgnn.experiments.graphs import Graphs
from lcgnn.experiments.library import load, packaged
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.statistics import Statistics
from lcgnn.experiments.store import Store
from lcgnn.experiments.study import missing_runs, records_of, run_missing
from lcgnn.files import read_json, write_json
from lcgnn.limits import available_cores
from lcgnn.outputs import OutputKind
from lcgnn.runs.board import Board
from lcgnn.runs.planning import check_seeds
from lcgnn.runs.records import Record
from lcgnn.runs.run import Run
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.source import Progress


def _are_counts(path: Path) -> bool:
    content = read_json(path)
    return isinstance(content, dict) and all(isinstance(values, list) for values in content.values())


COUNTS = OutputKind("what was counted of graphs", (".json",), _are_counts)


@dataclass(frozen=True)
class Reproduction:
    """Some experiments, the rows of them that are to be run, and where their records and tables are kept.

    Args:
        experiments: As their files have them; these are what the tables show.
        chosen: The same, but only with the rows that are to be run.
        statistics: Tables that need no runs.
        seeds: Of every cell; None for what each experiment says.
        store: Of the records.
        results: Folder for tables and packed records.
        graphs: That the experiments are about.
    """

    experiments: tuple[Experiment, ...]
    chosen: tuple[Experiment, ...]
    statistics: tuple[Statistics, ...]
    seeds: int | None
    store: Store
    results: Path
    graphs: Graphs = field(default_factory=Graphs)

    @classmethod
    def of(
        cls, names: Sequence[str], seeds: int | None, methods: Sequence[str], records: Path, results: Path
    ) -> Reproduction:
        """Check the names and open the store."""
        if seeds is not None and seeds < 1:
            raise ConfigError(f"At least one seed is needed, not {seeds}.")
        check_seeds(seeds or 1)
        expanded = [name for given in names for name in (_ready() if given == "all" else [given])]
        found = [load(name) for name in dict.fromkeys(expanded)]
        experiments = tuple(item for item in found if isinstance(item, Experiment))
        statistics = tuple(item for item in found if isinstance(item, Statistics))
        packs = (results / f"{experiment.name}.jsonl" for experiment in experiments)
        store = Store(records, [pack for pack in packs if pack.exists()])
        chosen = tuple(_chosen(item, methods) for item in experiments)
        return cls(experiments, chosen, statistics, seeds, store, results)

    def read_graphs(self, progress: Progress | None = None) -> None:
        """Fetch and read every graph that is needed."""
        of_runs = {column.dataset for item in self.chosen for column in item.columns}
        for name in sorted(of_runs.union(*(item.datasets for item in self.statistics))):
            self.graphs.of(benchmark(name), progress)

    def measure(self) -> None:
        """Count what needs no runs, and keep it in the folder of the results."""
        for item in self.statistics:
            path = self.results / f"{item.name}.json"
            COUNTS.check(path)
            write_json(path, item.measure(self.graphs))

    def missing(self) -> list[Run]:
        """The runs that have no record."""
        return missing_runs(self.chosen, self.seeds, self.store, self.graphs)

    def num_done(self) -> int:
        """How many runs of the chosen rows have one."""
        records = self.store.all()
        return sum(len(records_of(item, records)) for item in self.chosen)

    def forecast(self) -> list[Item]:
        """How long the chosen rows take, by the records that there are."""
        return forecast(self.chosen, self.seeds, self.store.all(), self.graphs)

    def run(
        self,
        runs: Sequence[Run],
        board: Board,
        *,
        workers: int | None,
        device: str,
        scheduler: str | None = None,
    ) -> Iterator[tuple[int, Record]]:
        """Do them, yielding (position, record) as they finish."""
        count = min(workers or available_cores(), max(len(runs), 1))
        yield from run_missing(runs, self.store, board, workers=count, device=device, scheduler=scheduler)
        self.store.forget_first_phases()


def _ready() -> list[str]:
    """What "all" means: everything on graphs that are published with a split. Others are named."""
    return [
        name
        for name, item in packaged().items()
        if isinstance(item, Statistics)
        or all(benchmark(column.dataset).has_public_split for column in item.columns)
    ]


def _chosen(experiment: Experiment, methods: Sequence[str]) -> Experiment:
    if not methods:
        return experiment
    rows = tuple(row for row in experiment.rows if row.method in methods)
    return dataclasses.replace(experiment, rows=rows)
