"""Experiments as Markdown tables, every number beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.claims import claimed
from lcgnn.experiments.reproduce import Reproduction
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.statistics import Statistics
from lcgnn.experiments.store import PACK, read_pack, write_pack
from lcgnn.experiments.study import gather, records_of
from lcgnn.outputs import OutputKind, beginning
from lcgnn.report.page import Report
from lcgnn.report.sections import Section
from lcgnn.report.statistics import COUNTED, Measured, read_measured, statistics_table
from lcgnn.report.tables import Cells, Table, ours_in_words, paper_in_words, seeds_in_words

_WRITTEN_BY = "Written by `lcgnn report` from the records of the runs."
_ACCURACY = "Test accuracy in percent, mean ± standard deviation over"
RESULTS = OutputKind(
    "the tables of a report", (".md", ".markdown"), lambda path: _WRITTEN_BY.encode() in beginning(path)
)
TABLE = OutputKind("the table of an experiment", (".md",), lambda path: _is_table(beginning(path)))


def _is_table(text: bytes) -> bool:
    return text.startswith(b"## ") and any(line.encode() in text for line in (_ACCURACY, COUNTED))


def write_tables(reproduction: Reproduction) -> Iterator[tuple[Path, str]]:
    """Write every experiment's table and pack its records beside it, yielding path and Markdown.

    An experiment without a single record is left out.
    """
    for item in reproduction.statistics:
        measured = read_measured(item, reproduction.results)
        if measured is not None:
            markdown = _statistics_markdown(item, measured)
            yield _written(TABLE, reproduction.results / f"{item.name}.md", markdown), markdown
    records = reproduction.store.all()
    for experiment in reproduction.experiments:
        path = reproduction.results / f"{experiment.name}.md"
        if not records_of(experiment, records):
            continue
        # Another process may have packed records that this one has not.
        with claimed(path.with_name(f".{experiment.name}.claim")):
            pack = path.with_suffix(".jsonl")
            own = records_of(experiment, [*(read_pack(pack) if pack.exists() else []), *records])
            markdown = experiment_markdown(experiment, gather(experiment, own))
            _written(TABLE, path, markdown)
            write_pack(pack, own)
        yield path, markdown


def check_tables(reproduction: Reproduction) -> None:
    """Refuse to begin where a file of somebody else's is in a table's place."""
    counted = [item.name for item in reproduction.statistics]
    for name in [*counted, *(item.name for item in reproduction.experiments)]:
        TABLE.check(reproduction.results / f"{name}.md")
        PACK.check(reproduction.results / f"{name}.jsonl")


def _written(kind: OutputKind, path: Path, markdown: str) -> Path:
    with kind.written(path) as temporary:
        temporary.write_text(markdown + "\n", encoding="utf-8")
    return path


def write_results(report: Report, path: Path) -> None:
    """Write all of a report's tables into one Markdown file."""
    _written(RESULTS, path, results_markdown(report))


def results_markdown(report: Report) -> str:
    """The summary and every table of the page, those of the experiments as `reproduce` writes them."""
    parts = ["# Results", "", _WRITTEN_BY, ""]
    parts += [escaped(" ".join(report.summary())), "", *_table(report.overview())]
    parts += [
        line
        for section in (*report.claims(), *report.any_graph(), *report.statistics)
        for line in _section(section)
    ]
    for study in report.studies:
        parts += ["", experiment_markdown(study.experiment, study.cells)]
    parts += [line for section in report.details() for line in _section(section)]
    return "\n".join(parts)


def _section(section: Section) -> list[str]:
    if not section.tables:
        return []
    parts = ["", f"## {escaped(section.title)}"]
    parts += ["", escaped(section.text)] if section.text else []
    for table in section.tables:
        parts += ["", escaped(table.caption), "", *_table(table)]
    return [*parts, "", section.note] if section.note else parts


def _statistics_markdown(statistics: Statistics, measured: Measured) -> str:
    table = statistics_table(statistics, measured)
    section = Section(statistics.name, statistics.title, blocks=(table,), note=statistics.note)
    return "\n".join(_section(section)[1:])


def escaped(text: str) -> str:
    """A text that can stand in a cell of a Markdown table and is no HTML."""
    one_line = " ".join(text.split())
    return one_line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _table(table: Table) -> list[str]:
    return [
        f"| {' | '.join(escaped(heading.full) for heading in table.headings)} |",
        "|" + "".join("---:|" if heading.numeric else "---|" for heading in table.headings),
        *(f"| {' | '.join(escaped(value.text) for value in row)} |" for row in table.rows),
    ]


def experiment_markdown(experiment: Experiment, cells: Cells) -> str:
    """A section: the table of accuracies beside the paper's, then the comparisons between rows."""
    counted = _counted(experiment, cells)
    parts = [f"## {escaped(experiment.title)}", "", counted, "", *_accuracy_table(experiment, cells)]
    comparisons = _comparison_table(experiment, cells)
    if comparisons:
        parts += ["", *comparisons]
    if experiment.note:
        parts += ["", experiment.note]
    return "\n".join(parts)


def _counted(experiment: Experiment, cells: Cells) -> str:
    text = f"{_ACCURACY} {seeds_in_words(experiment, cells)}"
    return f"{text}; the paper's figure; the difference of the means." if experiment.is_in_paper else f"{text}."


def _accuracy_table(experiment: Experiment, cells: Cells) -> list[str]:
    titles = [escaped(column.title) for column in experiment.columns]
    beside = ("paper", "Δ") if experiment.is_in_paper else ()
    headings = [heading for title in titles for heading in (title, *beside)]
    lines = [
        f"| | {' | '.join(headings)} |",
        "|---|" + "---:|" * len(headings),
    ]
    for row in experiment.rows:
        shown: list[str] = []
        for position in range(len(experiment.columns)):
            cell = cells.get((row.name, position))
            paper = row.paper[position]
            shown.append(ours_in_words(cell) if cell else "")
            if experiment.is_in_paper:
                shown.append(paper_in_words(paper) if paper else "")
                shown.append(f"{100 * cell.summary.mean - paper.mean:+.1f}" if cell and paper else "")
        lines.append(f"| {escaped(row.name)} | {' | '.join(shown)} |")
    return lines


def _comparison_table(experiment: Experiment, cells: Cells) -> list[str]:
    compared = [row for row in experiment.rows if row.compare]
    if not compared:
        return []
    titles = [escaped(column.title) for column in experiment.columns]
    lines = [
        "Paired by seed: mean difference in points, its 95 % interval, p of the paired t-test.",
        "",
        f"| | {' | '.join(titles)} |",
        "|---|" + "---:|" * len(titles),
    ]
    for row in compared:
        found = (cells.get((row.name, position)) for position in range(len(titles)))
        shown = [_difference(cell.difference) if cell and cell.difference else "" for cell in found]
        lines.append(f"| {escaped(f'{row.name} minus {row.compare}')} | {' | '.join(shown)} |")
    return lines


def _difference(difference: PairedDifference) -> str:
    mean = f"{100 * difference.mean:+.1f}"
    if difference.count < 2:
        return mean
    p_value = "p < 0.001" if difference.p_value < 0.001 else f"p = {difference.p_value:.2g}"
    return f"{mean} [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}], {p_value}"
