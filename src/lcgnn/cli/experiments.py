"""Many runs: reproduce the paper, pack the records, make the report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.errors import ConfigError, ExtraError

if TYPE_CHECKING:
    from rich.console import Console

    from lcgnn.experiments.reproduce import Reproduction


Names = Annotated[
    list[str],
    typer.Argument(
        help="Of the paper (table1, table2, table3, table4, figure1), beyond it (few_labels_cora, "
        "sensitivity_lambda, ...), 'all' of these, on more graphs (any_graph_5, ...), or TOML files of your own."
    ),
]
Seeds = Annotated[
    int | None, typer.Option("--seeds", "-n", help="Seeds of every cell. [default: the experiment's, 10]")
]
Only = Annotated[list[str] | None, typer.Option(help="Only rows with these methods; may be given several times.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler, tcp://HOST:8786."),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Only say what would be run, and how long it takes by earlier records.")
]


@app.command()
def reproduce(
    experiments: Names,
    seeds: Seeds = None,
    only: Only = None,
    workers: options.Workers = None,
    threads: options.Threads = None,
    cluster: Cluster = None,
    device: options.Device = "auto",
    records: options.Records = Path("runs/records"),
    results: options.Results = Path("results"),
    plan: Plan = False,
    as_json: options.AsJson = False,
) -> None:
    """Run experiments and write their tables beside the paper's, and a page with plots.

    Runs that have a record are not repeated, so a stopped command continues when it is given again.

    Example: lcgnn reproduce table3 --seeds 3
    """
    from lcgnn.cli.display import err, fetching, say
    from lcgnn.cli.display import out as console
    from lcgnn.compute.kernels.threads import check_threads, using
    from lcgnn.experiments.reproduce import Reproduction
    from lcgnn.limits import available_cores
    from lcgnn.report.html import PAGE
    from lcgnn.report.markdown import check_tables, write_tables

    check_threads(threads)
    reproduction = Reproduction.of(experiments, seeds, only or [], records, results)
    PAGE.check(results / "report.html")
    check_tables(reproduction)
    with fetching(err) as progress:
        reproduction.read_graphs(progress)
    if plan:
        _show_plan(reproduction, workers or available_cores(), as_json)
        return
    with using(threads):
        done = _run(reproduction, workers, device, cluster, err if as_json else console)
    reproduction.measure()
    tables = []
    for path, markdown in write_tables(reproduction):
        tables.append(str(path))
        if not as_json:
            console.print(f"\n{markdown}", soft_wrap=True, markup=False)
            console.print(f"\nWritten to {path}.", soft_wrap=True, markup=False)
    page, sentence = _write_page(reproduction, experiments, records)
    if as_json:
        print_answer("reproduce", {"runs": done, "written": tables, "page": page})
    elif sentence:
        say(f"\n{sentence}", console)


def _write_page(reproduction: Reproduction, names: list[str], records: Path) -> tuple[str | None, str]:
    """The page with plots and a sentence on it, if there is anything to plot and the library for it."""
    from lcgnn.report.html import write_page
    from lcgnn.report.page import Report

    if not reproduction.experiments:
        return None, ""
    page = reproduction.results / "report.html"
    own = [name for name in names if name.endswith(".toml")]
    try:
        write_page(Report.of(own, records, reproduction.results), page)
    except ExtraError as missing:
        return None, str(missing)
    return str(page), f"Page with plots: {page}    All tables in one file: lcgnn report"


_NOTHING = "Nothing is trained for this: it takes seconds."


def _show_plan(reproduction: Reproduction, workers: int, as_json: bool) -> None:
    """What would be run, and how long that takes."""
    from dataclasses import asdict

    from lcgnn.cli.display import out as console
    from lcgnn.cli.display import plan_table

    items = reproduction.forecast() if reproduction.experiments else []
    if as_json:
        print_answer("reproduce", {"plan": [asdict(item) for item in items], "workers": workers})
    else:
        console.print(plan_table(items, workers) if reproduction.experiments else _NOTHING)


def _run(
    reproduction: Reproduction, workers: int | None, device: str, cluster: str | None, console: Console
) -> int:
    """Do what has no record, with live progress; how many runs that were."""
    from lcgnn.cli.display import record_line, watching
    from lcgnn.runs.board import temporary_board

    missing = reproduction.missing()
    console.print(f"{reproduction.num_done()} runs have a record, {len(missing)} are to be done.")
    labels = [f"{run.spec.source.name} {run.spec.method} {run.spec.seed}" for run in missing]
    try:
        with temporary_board(len(labels)) as board, watching(board, labels, console):
            for _, record in reproduction.run(missing, board, workers=workers, device=device, scheduler=cluster):
                record_line(record, console)
    except KeyboardInterrupt:
        command = shlex.join(["lcgnn", *sys.argv[1:]])
        console.print(f"Stopped. What is done is kept. To continue: {command}", soft_wrap=True)
        raise
    return len(missing)


results_app = typer.Typer(help="Records of runs that were made.", no_args_is_help=True)
app.add_typer(results_app, name="results")


@results_app.command()
def pack(
    experiments: Annotated[
        list[str] | None, typer.Argument(help="Experiments or TOML files. [default: all of the package]")
    ] = None,
    records: options.Records = Path("runs/records"),
    results: options.Results = Path("results"),
    as_json: options.AsJson = False,
) -> None:
    """Pack the records of single runs into one file an experiment, and write its table, without running anything.

    Example: lcgnn results pack table2
    """
    from lcgnn.cli.display import out as console
    from lcgnn.experiments.library import packaged
    from lcgnn.experiments.reproduce import Reproduction
    from lcgnn.report.markdown import write_tables

    reproduction = Reproduction.of(experiments or list(packaged()), None, [], records, results)
    written = [path for path, _ in write_tables(reproduction)]
    if not written:
        raise ConfigError(
            f"There are no records of these experiments in {records}. Make some: lcgnn reproduce table3"
        )
    if as_json:
        print_answer("pack", {"written": [str(path) for path in written]})
        return
    for path in written:
        packed = path.with_suffix(".jsonl")
        console.print(f"{packed} and {path}" if packed.exists() else str(path), soft_wrap=True)


@app.command()
def report(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help="TOML files of your own, beside the paper's tables, which are always shown."),
    ] = None,
    records: options.Records = Path("runs/records"),
    results: options.Results = Path("results"),
    out: Annotated[
        Path | None, typer.Option(help="The page. [default: report.html in the folder of the packed records]")
    ] = None,
    markdown: Annotated[Path, typer.Option(help="The tables in Markdown.")] = Path("RESULTS.md"),
    runs: Annotated[Path, typer.Option(help="Folder with what 'lcgnn train' wrote.")] = Path("runs"),
    as_json: options.AsJson = False,
) -> None:
    """Turn the records of runs into one HTML page and into Markdown tables; nothing is trained.

    The page opens without a network: tables that sort and download as CSV, curves, paired differences. Trainings
    on graphs of your own are on the page as well.

    Example: lcgnn report --out report.html
    """
    from lcgnn.cli.display import out as console
    from lcgnn.report.html import PAGE, write_page
    from lcgnn.report.markdown import RESULTS, write_results
    from lcgnn.report.page import Report

    page = out or results / "report.html"
    PAGE.check(page, experiments or [])
    RESULTS.check(markdown, experiments or [])
    found = Report.of(experiments or [], records, results, runs)
    write_page(found, page)
    if found.studies:
        write_results(found, markdown)
    if as_json:
        tables = str(markdown) if found.studies else None
        print_answer("report", {"runs": len(found.records), "page": str(page), "tables": tables})
        return
    tables = f"    Tables: {markdown}" if found.studies else ""
    console.print(f"{found.counted()}. Page: {page}{tables}", soft_wrap=True, markup=False)
