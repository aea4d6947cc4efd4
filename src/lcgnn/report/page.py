"""From experiments and their records to what the report says of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from lcgnn.errors import OutputError
from lcgnn.experiments.library import load_experiment, packaged_experiments, packaged_statistics
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.store import Store
from lcgnn.experiments.study import gather, records_of, stages_of
from lcgnn.report.any_graph import any_graph_sections
from lcgnn.report.claims import claims, claims_table
from lcgnn.report.diagnostics import diagnostic_sections
from lcgnn.report.experiment import experiment_section
from lcgnn.report.own import own_section
from lcgnn.report.sections import Fact, Section
from lcgnn.report.statistics import read_measured, statistics_table
from lcgnn.report.tables import (
    SIGNS,
    Cells,
    Heading,
    Table,
    Value,
    Verdict,
    comparisons,
    duration,
    methods_table,
    text_value,
    verdict,
    versions_table,
)
from lcgnn.runs.records import Record


@dataclass(frozen=True)
class Study:
    """An experiment with its records and the cells that they fill."""

    experiment: Experiment
    records: tuple[Record, ...]
    cells: Cells

    @property
    def num_cells(self) -> int:
        return len(self.experiment.rows) * len(self.experiment.columns)

    def distances(self) -> list[tuple[float, str]]:
        """Our mean minus the paper's in points, with the cell's name, wherever there are both."""
        return [
            (100 * cell.summary.mean - cell.paper.mean, f"{row}, {self.experiment.columns[position].title}")
            for (row, position), cell in self.cells.items()
            if cell.paper and not math.isnan(cell.summary.mean)
        ]

    def verdicts(self) -> list[Verdict]:
        return [verdict(item.difference) for item in comparisons(self.experiment, self.cells)]


@dataclass(frozen=True)
class Report:
    """Everything that the page and RESULTS.md show.

    Args:
        studies: The experiments that have records.
        records: Of all of them, each once.
        absent: Titles of the experiments that have none.
        statistics: What was counted without any run.
        trainings: What was trained by ``lcgnn train``, on graphs of one's own or others; None if nothing.
    """

    studies: tuple[Study, ...]
    records: tuple[Record, ...]
    absent: tuple[str, ...]
    statistics: tuple[Section, ...] = ()
    trainings: Section | None = None

    @classmethod
    def of(cls, names: Iterable[str], records: Path, results: Path, runs: Path | None = None) -> Report:
        """Read all records that there are for the package's experiments and the given ones, and all trainings.

        Args:
            names: TOML files of further experiments.
            records: Folder with the records of single runs.
            results: Folder with the packed records.
            runs: Folder with the folders of trainings; None to leave them out.
        """
        experiments = [load_experiment(name) for name in dict.fromkeys([*packaged_experiments(), *names])]
        found = Store(records, sorted(results.glob("*.jsonl"))).all()
        trainings = None if runs is None else own_section(runs)
        report = replace(
            cls.from_records(experiments, found), statistics=tuple(_statistics(results)), trainings=trainings
        )
        if not report.studies and trainings is None:
            raise OutputError(
                f"There are no records of these experiments in {results} or {records}. Make some with "
                "'lcgnn reproduce table3 --seeds 3', or say where they are with --results and --records."
            )
        return report

    @classmethod
    def from_records(cls, experiments: Iterable[Experiment], records: Sequence[Record]) -> Report:
        studies = [
            Study(experiment, tuple(records_of(experiment, records)), gather(experiment, records))
            for experiment in experiments
        ]
        kept = tuple(study for study in studies if study.cells)
        return cls(
            kept,
            tuple({record.run: record for study in kept for record in study.records}.values()),
            tuple(study.experiment.title for study in studies if not study.cells),
        )

    def sections(self) -> list[Section]:
        """All of the page below its summary."""
        experiments = [
            experiment_section(number, study.experiment, study.cells)
            for number, study in enumerate(self.studies, start=1)
        ]
        trainings = [] if self.trainings is None else [self.trainings]
        details = self.details() if self.studies else []
        return [*self.claims(), *self.any_graph(), *self.statistics, *experiments, *trainings, *details]

    def any_graph(self) -> list[Section]:
        """Where label consistency helps beyond the paper's graphs; nothing if that was not studied."""
        return any_graph_sections(
            {study.experiment.name: (study.experiment, study.records, study.cells) for study in self.studies}
        )

    def claims(self) -> list[Section]:
        """What the paper claims and whether it holds; nothing if no claim is about these experiments."""
        studies = {study.experiment.name: (study.experiment, study.cells) for study in self.studies}
        if not any(claim.experiment in studies for claim in claims()):
            return []
        return [Section("claims", "What the paper claims, and what holds", blocks=(claims_table(studies),))]

    def details(self) -> list[Section]:
        """What the records say beyond accuracies, and how they were made."""
        # An experiment by label consistency looks at the runs of another one.
        studies = [study for study in self.studies if not study.experiment.by_consistency]
        stages = [(study.experiment, stages_of(study.experiment, study.records)) for study in studies]
        return [*diagnostic_sections(stages), self.what_was_run()]

    def facts(self) -> list[Fact]:
        """The summary in a few numbers."""
        if not self.studies:
            return []
        distances = [abs(distance) for study in self.studies for distance, _ in study.distances()]
        found = [item for study in self.studies for item in study.verdicts()]
        facts = [Fact(f"{len(self.records):,}", f"runs, {duration(_total_seconds(self.records))} of training")]
        if distances:
            facts.append(
                Fact(
                    f"{median(distances):.1f}", f"points from the paper in the median of {len(distances)} figures"
                )
            )
        if found:
            signs: tuple[Verdict, ...] = ("better", "worse", "unclear")
            counted = "  ".join(f"{SIGNS[item]} {found.count(item)}" for item in signs)
            facts.append(Fact(counted, "better, worse and unclear among the paired comparisons"))
        return facts

    @property
    def num_trainings(self) -> int:
        """How many trainings are on the page."""
        return 0 if self.trainings is None else sum(len(table.rows) for table in self.trainings.tables)

    def counted(self) -> str:
        """What is on the page, in words."""
        runs, trainings = len(self.records), self.num_trainings
        told = [f"{runs:,} run{'s' * (runs != 1)} of experiments"] if runs or not trainings else []
        return " and ".join([*told, *([f"{trainings:,} of your trainings"] if trainings else [])])

    def summary(self) -> list[str]:
        """The summary in sentences."""
        if not self.studies:
            return ["There are trainings, and no records of experiments: lcgnn reproduce makes some."]
        methods = {record.method for record in self.records}
        # A graph with features that are scaled otherwise is no other graph.
        graphs = {record.dataset.partition(":")[0] for record in self.records}
        filled = sum(len(study.cells) for study in self.studies)
        cells = sum(study.num_cells for study in self.studies)
        sentences = [
            f"{_counted(len(self.studies), 'experiment')}, {_counted(len(methods), 'method')}, "
            f"{_counted(len(graphs), 'graph')}: {filled} of {cells} cells have been run."
        ]
        distances = [item for study in self.studies for item in study.distances()]
        if distances:
            within = sum(abs(distance) <= 1 for distance, _ in distances)
            farthest, where = max(distances, key=lambda item: abs(item[0]))
            sentences.append(
                f"Where the paper gives a figure, ours is within one point of it in {within} of {len(distances)} "
                f"cells; the farthest is {farthest:+.1f} points ({where})."
            )
        if self.absent:
            sentences.append(f"Without any record: {'; '.join(self.absent)}.")
        return sentences

    def overview(self) -> Table:
        """One line for each experiment."""
        headings = (
            Heading("experiment", numeric=False),
            *(Heading(text) for text in ("cells run", "runs", "median distance", "better", "worse", "unclear")),
        )
        return Table(
            "overview",
            "Median distance: of our mean from the paper's, in points. The last three columns count the paired "
            "comparisons.",
            headings,
            tuple(_overview_row(study) for study in self.studies),
        )

    def what_was_run(self) -> Section:
        """Versions, machines, runs and time."""
        finished = sorted(
            record.environment.finished[:10] for record in self.records if record.environment.finished
        )
        when = f", finished between {finished[0]} and {finished[-1]}" if finished else ""
        text = (
            f"{len(self.records):,} runs{when}; {duration(_total_seconds(self.records))} of training in total. A "
            "run that several rows or experiments share counts once."
        )
        tables = (methods_table(self.records), versions_table(self.records))
        return Section("what-was-run", "What was run", text, tables)


def _statistics(results: Path) -> Iterator[Section]:
    for number, item in enumerate(packaged_statistics().values(), start=1):
        measured = read_measured(item, results)
        if measured is not None:
            table = statistics_table(item, measured)
            yield Section(f"statistics-{number}", item.title, blocks=(table,), note=item.note)


def _overview_row(study: Study) -> tuple[Value, ...]:
    distances = [abs(distance) for distance, _ in study.distances()]
    found = study.verdicts()
    counts = (found.count("better"), found.count("worse"), found.count("unclear"))
    return (
        text_value(study.experiment.title),
        Value(f"{len(study.cells)} of {study.num_cells}", len(study.cells) / study.num_cells),
        Value(f"{len(study.records):,}", len(study.records)),
        Value(f"{median(distances):.1f}", median(distances)) if distances else Value("–", None),
        *(Value(str(count), count) for count in counts),
    )


def _total_seconds(records: Iterable[Record]) -> float:
    return sum(record.seconds for record in records)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
