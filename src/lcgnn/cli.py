"""The command line: parse, call one function, print. Errors are one line; --debug shows where they came from."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from lcgnn.errors import ConfigError, LCGNNError

if TYPE_CHECKING:
    from lcgnn.datasets.tables import Tables
    from lcgnn.experiments.session import Session

IdColumn = Annotated[str | None, typer.Option(help="Tables: the column of a node's id. [default: guessed]")]
LabelColumn = Annotated[
    str | None, typer.Option(help="Tables: the column of its label, empty where unknown. [default: guessed]")
]
SourceColumn = Annotated[str | None, typer.Option(help="Tables: where an edge begins. [default: guessed]")]
TargetColumn = Annotated[str | None, typer.Option(help="Tables: where an edge ends. [default: guessed]")]
WeightColumn = Annotated[str | None, typer.Option(help="Tables: an edge's weight. [default: guessed]")]
IgnoreColumn = Annotated[
    list[str] | None, typer.Option(help="Tables: a column that is not to be used; may be given several times.")
]

app = typer.Typer(
    name="lcgnn",
    help="Classify the nodes of a graph from a handful of labels (label-consistency graph neural networks).\n\n"
    "Start with: lcgnn train cora --method lc-gcn --seeds 10\n\n"
    "Your own graph: lcgnn init my_graph, then lcgnn train my_graph",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line and turn every expected error into one line and exit code 2."""
    try:
        app()
    except LCGNNError as error:
        if "--debug" in sys.argv:
            raise
        _fail(str(error))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _fail(message: str) -> NoReturn:
    print(f"lcgnn: {message}", file=sys.stderr)
    raise SystemExit(2)


def _show_version(wanted: bool) -> None:
    if wanted:
        from lcgnn import __version__

        print(f"lcgnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that come before a command."""


@app.command()
def train(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A benchmark graph ('lcgnn datasets' lists them), or a folder with nodes.csv and edges.csv."
        ),
    ],
    method: Annotated[
        str, typer.Option("--method", "-m", help="How to classify: 'lcgnn methods' lists them.")
    ] = "lc-gcn",
    seeds: Annotated[int, typer.Option("--seeds", "-n", help="Train from so many different initialisations.")] = 1,
    labels_per_class: Annotated[
        int | None,
        typer.Option(help="Train on so many labels of each class. [default: all of the split's, 20]"),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            help="Which labels: 'public' (the benchmark's own; for tables the split column, or all labels) or "
            "'random' (see --split-seed)."
        ),
    ] = "public",
    split_seed: Annotated[int, typer.Option(help="Which random draw of the labels.")] = 0,
    consistency_weight: Annotated[
        float | None,
        typer.Option(
            help="Weight of the regularisation loss (the paper's lambda); 0 turns it off. "
            "[default: 2.0 on Cora, 1.0 elsewhere]"
        ),
    ] = None,
    base_epochs: Annotated[
        int | None, typer.Option(help="Epochs of the first phase, the base alone. [default: the method's]")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of the second phase. [default: the method's]")] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            help="Which epoch to keep: by validation 'accuracy', by validation 'loss', or the 'last', which uses "
            "no validation label. [default: the method's]"
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; 'lcgnn methods NAME' lists them."),
    ] = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    weight_column: WeightColumn = None,
    ignore_column: IgnoreColumn = None,
    device: Annotated[str, typer.Option(help="'cpu', 'cuda', ... or 'auto'.")] = "auto",
    workers: Annotated[
        int | None, typer.Option(help="Processes to train in, one thread each. [default: one a core]")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results. [default: a folder in runs/]")] = None,
    predictions: Annotated[str, typer.Option(help="Format of the predictions: 'csv' or 'parquet'.")] = "csv",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Train a method: on a benchmark beside the paper's results, on your own tables to label every node.

    A run that was stopped continues when the same command is given again; seeds that are done are not repeated.

    Example: lcgnn train my_graph/ --label-column topic

    Example: lcgnn train citeseer --method lc-gcn --labels-per-class 5 --seeds 10
    """
    from lcgnn.display import err
    from lcgnn.display import out as console
    from lcgnn.experiments.session import plan
    from lcgnn.experiments.spec import SplitSpec

    given = {
        "consistency_weight": consistency_weight,
        "base_epochs": base_epochs,
        "epochs": epochs,
        "selection": selection,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    settings |= dict(_parsed_setting(text) for text in set_ or [])
    named = (id_column, label_column, source_column, target_column, weight_column)
    tables = _tables(dataset, named, ignore_column)
    if tables is None:
        _fetch(dataset, err)
    session = plan(
        dataset if tables is None else tables.name,
        method,
        seeds=seeds,
        split=SplitSpec(split, labels_per_class, split_seed),  # type: ignore[arg-type]
        settings=settings,
        tables=tables,
        folder=out,
        device=device,
        workers=workers,
        prediction_format=predictions,  # type: ignore[arg-type]
    )
    _print_notes(session.notes)
    summary = _run(session, err)
    if as_json:
        print(json.dumps(summary, indent=2))
        return
    from lcgnn.display import answers_table, summary_table

    if tables is not None:
        console.print(answers_table(summary))
    if summary["mean"] is not None:
        console.print(summary_table(summary))
    if tables is not None:
        console.print(f"Predictions: {summary['predictions'][0]}", soft_wrap=True, markup=False)
        return
    console.print(f"Predictions, models and curves: {session.folder}/", soft_wrap=True)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
) -> None:
    """Write a small example of your own graph: a folder with a table of nodes and a table of edges.

    Example: lcgnn init my_graph
    """
    from lcgnn.datasets.example import write_example
    from lcgnn.display import out

    for path in write_example(folder):
        out.print(f"Written: {path}", soft_wrap=True, markup=False)
    name = shlex.quote(str(folder))
    out.print(f"\nTry next:\n  lcgnn inspect {name}\n  lcgnn train {name}", soft_wrap=True, markup=False)


@app.command()
def inspect(
    folder: Annotated[str, typer.Argument(help="A folder with nodes.csv and edges.csv, or a benchmark graph.")],
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    weight_column: WeightColumn = None,
    ignore_column: IgnoreColumn = None,
    plot: Annotated[
        Path | None, typer.Option(help="Where to save the plot (PNG). [default: a file in runs/]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Look at a graph before any training: sizes, labels, and whether label consistency is likely to help.

    Example: lcgnn inspect my_graph
    """
    from lcgnn.datasets import load
    from lcgnn.diagnosis import diagnose
    from lcgnn.display import diagnosis_view, err, out
    from lcgnn.report.plots import save_diagnosis

    named = (id_column, label_column, source_column, target_column, weight_column)
    tables = _tables(folder, named, ignore_column)
    if tables is None:
        _fetch(folder, err)
        graph, _ = load(folder)
    else:
        from lcgnn.datasets.tables import load_tables

        made = load_tables(tables)
        graph = made.graph
        _print_notes(made.notes)
    path = plot or Path("runs") / f"{graph.name}-inspect.png"
    diagnosis = diagnose(graph)
    save_diagnosis(path, graph.name, diagnosis)
    if as_json:
        print(json.dumps({**diagnosis.to_json(), "plot": str(path)}, indent=2))
        return
    out.print(diagnosis_view(graph.name, diagnosis))
    out.print(f"Plot: {path}", soft_wrap=True, markup=False)


def _tables(
    argument: str,
    named: tuple[str | None, str | None, str | None, str | None, str | None],
    ignore: list[str] | None,
) -> Tables | None:
    """The tables that an argument means, or None for what can only be a benchmark's name."""
    from difflib import get_close_matches

    from lcgnn.datasets import DATASETS

    is_benchmark = argument.lower() in DATASETS
    is_path = "/" in argument or "\\" in argument or Path(argument).exists()
    if not is_path and not get_close_matches(argument.lower(), DATASETS):
        raise ConfigError(
            f"{argument!r} is neither a benchmark ({', '.join(DATASETS)}) nor a folder here. "
            "A folder to start from: lcgnn init DIR"
        )
    if is_benchmark or not is_path:
        if ignore or any(name is not None for name in named):
            raise ConfigError(f"Columns can be named for a folder of tables, and {argument!r} is none.")
        return None
    from lcgnn.datasets.columns import Columns
    from lcgnn.datasets.tables import Tables

    return Tables(argument, Columns(*named, ignore=tuple(ignore or ())))


def _print_notes(notes: tuple[str, ...]) -> None:
    from lcgnn.display import err

    for note in notes:
        err.print(note, soft_wrap=True, markup=False)


def _fetch(dataset: str, console: Any) -> None:
    """Load a dataset once with a progress bar, so that everything after finds it in the cache."""
    from lcgnn.datasets import load
    from lcgnn.display import fetching

    with fetching(console) as progress:
        load(dataset, progress=progress)


def _run(session: Session, console: Any) -> dict[str, Any]:
    """Run a session with live progress; Ctrl-C leaves it resumable and says how."""
    from lcgnn.display import result_line, watching
    from lcgnn.experiments.board import temporary_board
    from lcgnn.experiments.session import save_summary, summarize

    labels = [f"seed {spec.seed}" for spec in session.specs]
    results = []
    try:
        with temporary_board(len(labels)) as board, watching(board, labels, console):
            for _, result in session.run(board):
                results.append(result)
                result_line(result, console)
    except KeyboardInterrupt:
        command = shlex.join(["lcgnn", *sys.argv[1:]])
        console.print(
            f"Stopped with {len(results)} of {len(labels)} runs done. To continue: {command}", soft_wrap=True
        )
        raise
    summary = summarize(session, results)
    save_summary(session, summary)
    return summary


def _parsed_setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"--set {text!r}: write it as NAME=VALUE, for example --set hidden=32.")
    try:
        return name.strip().replace("-", "_"), json.loads(value)
    except ValueError:
        return name.strip().replace("-", "_"), value


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("demo"),
) -> None:
    """Train LC-GCN and LC-GAT on the benchmark graphs, show a table and save a plot (a few minutes).

    Example: lcgnn demo
    """
    from lcgnn.datasets import names
    from lcgnn.display import comparison_table, err
    from lcgnn.display import out as console
    from lcgnn.experiments.session import plan_demo
    from lcgnn.report.plots import save_comparison

    for name in names():
        _fetch(name, err)
    summaries = []
    for session in plan_demo(out):
        configuration = session.configuration
        console.print(
            f"\n{configuration['method']} on {configuration['dataset']}, {configuration['split']['name']} split, "
            f"{len(session.specs)} seeds"
        )
        summaries.append(_run(session, console))
    console.print()
    console.print(comparison_table(summaries))
    plot = out / "accuracy.png"
    save_comparison(plot, summaries)
    console.print(f"Plot: {plot}    Predictions, models and curves: {out}/", soft_wrap=True)
    console.print(
        "\nTry next:\n"
        "  lcgnn train citeseer --method lc-gcn --labels-per-class 10 --seeds 10\n"
        "  lcgnn methods          (what else can be trained)\n"
        "  lcgnn train --help     (all options)",
        markup=False,
    )


@app.command()
def reproduce(
    experiments: Annotated[
        list[str],
        typer.Argument(
            help="Tables of the paper (table2, table3, table4), experiments beyond it (few_labels_cora, "
            "sensitivity_lambda, ...), 'all', or TOML files of your own."
        ),
    ],
    seeds: Annotated[
        int | None, typer.Option("--seeds", "-n", help="Seeds of every cell. [default: the experiment's, 10]")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only rows with these methods; may be given several times.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes to train in, one thread each. [default: one a core]")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler, tcp://HOST:8786."),
    ] = None,
    device: Annotated[str, typer.Option(help="'cpu', 'cuda', ... or 'auto'.")] = "auto",
    records: Annotated[Path, typer.Option(help="Folder for the records of single runs.")] = Path("runs/records"),
    results: Annotated[Path, typer.Option(help="Folder for the tables and the packed records.")] = Path("results"),
) -> None:
    """Run experiments and write their tables beside the paper's.

    Runs that have a record are not repeated, so a stopped command continues when it is given again.

    Example: lcgnn reproduce table3 --seeds 3
    """
    from lcgnn.display import err, record_line, watching
    from lcgnn.display import out as console
    from lcgnn.experiments.board import temporary_board
    from lcgnn.experiments.reproduce import Reproduction
    from lcgnn.report.markdown import write_tables

    reproduction = Reproduction.of(experiments, seeds, only or [], records, results)
    for dataset in reproduction.datasets():
        _fetch(dataset, err)
    missing = reproduction.missing()
    console.print(f"{reproduction.num_done()} runs have a record, {len(missing)} are to be done.")
    labels = [f"{spec.dataset} {spec.method} {spec.seed}" for spec in missing]
    try:
        with temporary_board(len(labels)) as board, watching(board, labels, console):
            for _, record in reproduction.run(missing, board, workers=workers, device=device, scheduler=cluster):
                record_line(record, console)
    except KeyboardInterrupt:
        command = shlex.join(["lcgnn", *sys.argv[1:]])
        console.print(f"Stopped. What is done is kept. To continue: {command}", soft_wrap=True)
        raise
    for path, markdown in write_tables(reproduction):
        console.print(f"\n{markdown}", soft_wrap=True, markup=False)
        console.print(f"\nWritten to {path} and packed beside it.", soft_wrap=True)


results_app = typer.Typer(help="Records of runs that were made.", no_args_is_help=True)
app.add_typer(results_app, name="results")


@results_app.command()
def pack(
    experiments: Annotated[
        list[str] | None, typer.Argument(help="Experiments or TOML files. [default: all of the package]")
    ] = None,
    records: Annotated[Path, typer.Option(help="Folder with the records of single runs.")] = Path("runs/records"),
    results: Annotated[Path, typer.Option(help="Folder for the tables and the packed records.")] = Path("results"),
) -> None:
    """Pack the records of single runs into one file an experiment, and write its table, without running anything.

    Example: lcgnn results pack table2
    """
    from lcgnn.display import out as console
    from lcgnn.experiments.reproduce import Reproduction
    from lcgnn.report.markdown import write_tables

    reproduction = Reproduction.of(experiments or ["all"], None, [], records, results)
    written = [path for path, _ in write_tables(reproduction)]
    if not written:
        raise ConfigError(
            f"There are no records of these experiments in {records}. Make some: lcgnn reproduce table3"
        )
    for path in written:
        console.print(f"{path.with_suffix('.jsonl')} and {path}", soft_wrap=True)


@app.command()
def report(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help="TOML files of your own, beside the paper's tables, which are always shown."),
    ] = None,
    records: Annotated[Path, typer.Option(help="Folder with the records of single runs.")] = Path("runs/records"),
    results: Annotated[Path, typer.Option(help="Folder with the packed records.")] = Path("results"),
    out: Annotated[
        Path | None, typer.Option(help="The page. [default: report.html in the folder of the packed records]")
    ] = None,
    markdown: Annotated[Path, typer.Option(help="The tables in Markdown.")] = Path("RESULTS.md"),
) -> None:
    """Turn the records of runs into one HTML page and into Markdown tables; nothing is trained.

    The page opens without a network: tables that sort and download as CSV, curves, paired differences.

    Example: lcgnn report --out report.html
    """
    from lcgnn.display import out as console
    from lcgnn.report.html import write_page
    from lcgnn.report.markdown import write_results
    from lcgnn.report.page import Report

    page = out or results / "report.html"
    found = Report.of(experiments or [], records, results)
    write_page(found, page)
    write_results(found, markdown)
    console.print(f"{len(found.records)} runs. Page: {page}    Tables: {markdown}", soft_wrap=True, markup=False)


@app.command()
def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
) -> None:
    """List the benchmark graphs with their sizes (Table 1 of the paper), fetching what is missing.

    Example: lcgnn datasets
    """
    from lcgnn.datasets import load, names
    from lcgnn.display import datasets_table, err, out

    rows = []
    for name in names():
        _fetch(name, err)
        graph, split = load(name)
        rows.append(
            {
                "name": name,
                "nodes": graph.num_nodes,
                "raw_links": graph.num_source_links,
                "edges": graph.num_edges,
                "classes": graph.num_classes,
                "features": graph.num_features,
                "label_rate": len(split.train) / graph.num_nodes,
            }
        )
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    out.print(datasets_table(rows))
    out.print("The paper counts raw links; edges are what is left without duplicates and self-loops.")


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="Show this method's settings.")] = None,
) -> None:
    """List the methods, or the settings of one of them.

    Example: lcgnn methods lc-gcn
    """
    import inspect

    from lcgnn.display import methods_table, out, settings_table
    from lcgnn.methods import create, entries, entry
    from lcgnn.methods.base import settings_of

    if name is None:
        out.print(methods_table([(item.name, item.summary) for item in entries()]))
        out.print("\nSettings of one: lcgnn methods NAME    Train it: lcgnn train cora --method NAME")
        return
    found, made = entry(name), create(name)
    out.print(f"[bold]{name}[/bold]: {found.summary}")
    out.print(inspect.getdoc(found.method) or "", markup=False)
    rows = [
        (key, json.dumps(getattr(made, key)), str(item.metadata.get("help", "")))
        for key, item in settings_of(found.method).items()
    ]
    out.print(settings_table(rows))
    out.print(f"\nExample: lcgnn train cora --method {name} --set {rows[-1][0]}={rows[-1][1]}", markup=False)
