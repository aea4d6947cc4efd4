"""What the command line shows: tables, live progress and one-line messages."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lcgnn.features.notes import in_full

if TYPE_CHECKING:
    from lcgnn.assessment.evaluation import PairedDifference
    from lcgnn.experiments.forecast import Item
    from lcgnn.runs.board import Board
    from lcgnn.runs.records import Communication, Record, StageSummary, Summary


class Terminal(Console):
    """A console that can be told to leave nothing out.

    Attributes:
        verbose: Whether notes that sum others up are followed by all of those.
    """

    verbose = False


out = Console(highlight=False)
err = Terminal(stderr=True, highlight=False)


def print_notes(notes: Sequence[str]) -> None:
    """What there is to say of a graph, a sentence a line, beside the results."""
    for note in in_full(notes) if err.verbose else notes:
        say(note, err)


@contextmanager
def fetching(console: Console, *, counts: bool = False) -> Iterator[Any]:
    """A progress callback that shows a bar while something is under way: of bytes, or of whatever is counted."""
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    amount = MofNCompleteColumn() if counts else DownloadColumn()
    with Progress(TextColumn("{task.description}"), BarColumn(), amount, console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield report


@contextmanager
def watching(board: Board, labels: Sequence[str], console: Console, what: str = "runs") -> Iterator[None]:
    """Show the state of all runs on a board until the block ends; nothing where there is no terminal."""
    if not console.is_terminal:
        yield
        return
    started = time.monotonic()
    with Live(
        get_renderable=lambda: _progress(board, labels, what, time.monotonic() - started),
        console=console,
        refresh_per_second=8,
        transient=True,
    ):
        yield


def _progress(board: Board, labels: Sequence[str], what: str, elapsed: float) -> RenderableType:
    from lcgnn.runs.board import DONE

    done, running = board.count(DONE), board.running()
    # A run has two phases, mostly, and does not say which one it is in.
    finished = done + sum(progress.epoch / progress.epochs for _, progress in running) / 2
    left = time_left(elapsed, finished / max(len(labels), 1))
    grid = Table.grid(padding=(0, 1))
    for _ in range(4):
        grid.add_column(no_wrap=True)
    grid.add_row(what, ProgressBar(len(labels), done, width=12), f"{done}/{len(labels)} done", left)
    for slot, progress in running:
        accuracy = progress.validation_accuracy
        shown = "" if accuracy is None else f"validation {accuracy:.1%}"
        counted = f"{progress.phase} {progress.epoch}/{progress.epochs}"
        grid.add_row(labels[slot], ProgressBar(progress.epochs, progress.epoch, width=12), counted, shown)
    return Group(grid)


def say(sentence: str, console: Console) -> None:
    """A sentence, whose lines end between words on a terminal; who reads it from a pipe gets it as one line."""
    console.print(sentence, soft_wrap=not console.is_terminal, markup=False)


def time_left(elapsed: float, share: float) -> str:
    """How long the rest will take if it goes on like this; nothing while that is only a guess."""
    if elapsed < 10 or share < 0.01 or share >= 1:
        return ""
    minutes = elapsed * (1 - share) / share / 60
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes:.0f} min left" if minutes < 100 else f"about {minutes / 60:.1f} h left"


def result_line(result: Record, console: Console, before: str = "") -> None:
    """One line for a run that has finished."""
    stages = ", ".join(f"{stage.name} {percent(stage.test_accuracy)}" for stage in result.stages)
    measured = "trained" if result.last.test_accuracy is None else f"test accuracy {stages}"
    console.print(f"{before}seed {result.seed}: {measured}  [dim]({result.seconds:.1f} s)[/dim]", soft_wrap=True)


def group_line(what: str, seconds: float, console: Console, done: str = "trained") -> None:
    """One line for several runs that have finished, with the time that they took by the clock."""
    console.print(f"{what}: {done}  [dim]({seconds:.1f} s)[/dim]", soft_wrap=True)


def record_line(record: Record, console: Console) -> None:
    """One line for a run of an experiment that has finished."""
    labels = record.split.labels_in_words()
    where = record.dataset if labels is None else f"{record.dataset}, {labels}"
    if record.split.strategy is not None:
        where += f" by {record.split.strategy}"
    result_line(record, console, before=f"{record.method} on {where}, ")


def plan_table(items: Sequence[Item], workers: int) -> RenderableType:
    """What experiments consist of and how long they take, the longest first, the shortest together."""
    from lcgnn.experiments.forecast import total

    everything = total(items, "all", "")
    assert everything.seconds is not None
    assert everything.to_come is not None
    short = [item for item in items if item.seconds is not None and item.seconds < 0.01 * everything.seconds]
    shown = [item for item in items if item not in short]
    table = Table(title=f"{everything.runs:,} runs", title_justify="left", title_style="bold")
    for heading in ("method", "graph"):
        table.add_column(heading, no_wrap=True)
    for heading in ("runs", "to be done", "minutes of a core", "to come"):
        table.add_column(heading, justify="right")
    for item in [*shown, *([total(short, "others", "")] if short else []), everything]:
        counts = (f"{item.runs:,}", f"{item.missing:,}")
        table.add_row(Text(item.method), Text(item.dataset), *counts, *map(_minutes, (item.seconds, item.to_come)))
    cores = "one core" if workers == 1 else f"{workers} cores"
    lines = [
        f"By the records that there are: {_duration(everything.seconds / workers)} on {cores} from nothing, "
        f"{_duration(everything.to_come / workers)} for what is to be done."
    ]
    if unknown := sum(item.missing for item in items if item.seconds is None):
        lines.append(f"Not counted: {unknown:,} runs of kinds that have no record yet.")
    return Group(table, *(Text(line) for line in lines))


def _minutes(seconds: float | None) -> str:
    return "?" if seconds is None else f"{seconds / 60:,.1f}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def summary_table(summary: Summary) -> RenderableType:
    """A session's stages side by side, with the paper's figures where it has some."""
    several = len(summary.seeds) > 1
    table = Table(
        title=Text(f"{summary.dataset}, {_split_in_words(summary)}"), title_justify="left", title_style="bold"
    )
    table.add_column("")
    table.add_column("test accuracy %", justify="right")
    balanced = any(stage.balanced is not None for stage in summary.stages)
    reported = any(stage.paper is not None for stage in summary.stages)
    headings = {"balanced %": balanced, "the paper's": reported, "validation %": True}
    for heading in (heading for heading, is_known in headings.items() if is_known):
        table.add_column(heading, justify="right")
    for stage in summary.stages:
        validation = [value for value in stage.validation_accuracy if value is not None]
        table.add_row(
            stage.method,
            _mean_std(stage.mean, stage.std if several else None),
            *([percent(stage.balanced, sign="")] if balanced else []),
            *([_reported(stage)] if reported else []),
            percent(sum(validation) / len(validation), sign="") if validation else "",
        )
    return table


def _reported(stage: StageSummary) -> str:
    return "" if stage.paper is None else _mean_std(stage.paper.mean, stage.paper.std, 1)


def communication_table(communication: Communication) -> RenderableType:
    """What the ranks told each other, an epoch and a rank on average."""
    table = Table(title=f"{communication.ranks} processes, {communication.epochs:,} epochs", box=None)
    for heading in ("an epoch, each process", "messages", "sent", "time"):
        table.add_column(heading, justify="left" if heading.startswith("an") else "right")
    for kind, cost in communication.costs.items():
        table.add_row(kind, f"{cost.messages:.1f}", f"{cost.bytes / 1e3:,.1f} kB", f"{cost.seconds * 1e3:,.2f} ms")
    return table


def comparison_table(summaries: Sequence[Summary]) -> Table:
    """Several sessions, one a line: base, label consistency, what the paper says of both, and the gain."""
    table = Table(
        title="Test accuracy %: ours, mean±standard deviation, and (the paper's)\nby graph and labels per class",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("graph,\nlabels", no_wrap=True)
    table.add_column("base", no_wrap=True)
    for heading in ("base alone", "with label\nconsistency", "gain,\n95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in summaries:
        first = summary.stages[0]
        table.add_row(
            f"{_title(summary)}, {summary.split.spec.labels_per_class or 20}",
            first.method.upper(),
            _beside_paper(first),
            _beside_paper(summary.last),
            Text("" if summary.difference is None else _gain(summary.difference)),
        )
    return table


def _title(summary: Summary) -> str:
    from lcgnn.sources.benchmarks import BENCHMARKS

    return BENCHMARKS[summary.dataset].title


def _beside_paper(stage: StageSummary) -> str:
    ours = "-" if stage.mean is None or stage.std is None else f"{100 * stage.mean:.1f}±{100 * stage.std:.1f}"
    return f"{ours} ({stage.paper.mean:.1f})" if stage.paper else ours


def _gain(difference: PairedDifference) -> str:
    mean = f"{100 * difference.mean:+.1f}"
    if math.isnan(difference.low):
        return mean
    return f"{mean} [{100 * difference.low:.1f}, {100 * difference.high:.1f}]"


def _split_in_words(summary: Summary) -> str:
    seeds = len(summary.seeds)
    counted = "1 seed" if seeds == 1 else f"{seeds} seeds, mean ± standard deviation"
    return f"{summary.split.name} split, {counted}"


def datasets_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The benchmark graphs, measured on the data themselves where they are on this machine."""
    table = Table(title="Benchmark graphs", title_justify="left", title_style="bold", show_edge=False)
    table.add_column("name", no_wrap=True)
    for heading in ("nodes", "raw links", "edges", "classes", "features", "label rate"):
        table.add_column(heading, justify="right")
    counted = ("nodes", "raw_links", "edges", "classes", "features")
    for row in rows:
        table.add_row(
            Text(row["name"]),
            *("-" if row[key] is None else f"{row[key]:,}" for key in counted),
            f"{row['label_rate']:.3f}",
        )
    return table


def methods_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Names and one-line summaries."""
    table = Table.grid(padding=(0, 2))
    for name, summary in rows:
        table.add_row(Text(name, style="bold"), summary)
    return table


def settings_table(rows: Sequence[tuple[str, str, str]]) -> Table:
    """A method's settings: name, default, explanation."""
    table = Table(show_edge=False, box=None, header_style="bold")
    for heading in ("setting", "default", "what it does"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def percent(value: float | None, sign: str = " %") -> str:
    """A share in percent with one digit; a dash for none."""
    return "-" if value is None else f"{100 * value:.1f}{sign}"


def _mean_std(mean: float | None, std: float | None, factor: float = 100) -> str:
    if mean is None:
        return "-"
    text = f"{factor * mean:.1f}"
    return text if std is None else f"{text} ± {factor * std:.1f}"
