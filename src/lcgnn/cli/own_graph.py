"""Commands on a graph of the user's own: start a folder, look at one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcgnn.cli.app import app
from lcgnn.cli.shared import fetch, print_notes
from lcgnn.errors import ConfigError

if TYPE_CHECKING:
    from lcgnn.sources.tables.reading import Tables


def column_option(what: str, default: str) -> Any:
    """An option that names a column of the tables."""
    return typer.Option(help=f"Tables: {what}. [default: {default}]")


NODE_ID, LABEL = "the column of a node's id", "the column of its label, empty where unknown"
SOURCE, TARGET, WEIGHT = "where an edge begins", "where an edge ends", "an edge's weight"
IdColumn = Annotated[str | None, column_option(NODE_ID, "guessed")]
LabelColumn = Annotated[str | None, column_option(LABEL, "guessed")]
SourceColumn = Annotated[str | None, column_option(SOURCE, "guessed")]
TargetColumn = Annotated[str | None, column_option(TARGET, "guessed")]
WeightColumn = Annotated[str | None, column_option(WEIGHT, "guessed")]
IgnoreColumn = Annotated[
    list[str] | None, typer.Option(help="Tables: a column that is not to be used; may be given several times.")
]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    example: Annotated[
        str,
        typer.Option(
            help="Which: 'articles' (texts; neighbours are alike), 'wine' (measurements; neighbours are alike) or "
            "'market' (neighbours differ)."
        ),
    ] = "articles",
) -> None:
    """Write a small example of your own graph: a folder with a table of nodes and a table of edges.

    Example: lcgnn init my_graph
    """
    from lcgnn.cli.display import out
    from lcgnn.sources.examples import write_example

    for path in write_example(folder, example):
        out.print(f"Written: {path}", soft_wrap=True, markup=False)
    name = shlex.quote(str(folder))
    out.print(f"\nTry next:\n  lcgnn inspect {name}\n  lcgnn train {name}", soft_wrap=True, markup=False)


@app.command()
def inspect(
    folder: Annotated[
        str,
        typer.Argument(help="A folder with nodes.csv and edges.csv, an .npz file, or a benchmark graph."),
    ],
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
    from lcgnn.assessment.diagnosis import diagnose
    from lcgnn.cli.display import err, out
    from lcgnn.cli.display_graph import diagnosis_view
    from lcgnn.report.plots import save_diagnosis
    from lcgnn.sources.benchmarks import load

    named = (id_column, label_column, source_column, target_column, weight_column)
    tables = tables_of(folder, named, ignore_column)
    if tables is None:
        fetch(folder, err)
        graph, _ = load(folder)
    else:
        from lcgnn.sources.tables.reading import load_tables

        made = load_tables(tables)
        graph = made.graph
        print_notes(made.notes)
    path = plot or Path("runs") / f"{graph.name}-inspect.png"
    diagnosis = diagnose(graph)
    save_diagnosis(path, graph.name, diagnosis)
    if as_json:
        print(json.dumps({**diagnosis.to_json(), "plot": str(path)}, indent=2))
        return
    out.print(diagnosis_view(graph.name, diagnosis))
    out.print(f"Plot: {path}", soft_wrap=True, markup=False)


def tables_of(
    argument: str,
    named: tuple[str | None, str | None, str | None, str | None, str | None],
    ignore: list[str] | None,
) -> Tables | None:
    """The tables that an argument means, or None for what can only be a benchmark's name."""
    from difflib import get_close_matches

    from lcgnn.sources.benchmarks import DATASETS

    is_benchmark = argument.lower() in DATASETS
    is_path = "/" in argument or "\\" in argument or Path(argument).exists()
    if not is_path and not get_close_matches(argument.lower(), DATASETS):
        raise ConfigError(
            f"{argument!r} is neither a benchmark ({', '.join(DATASETS)}) nor a folder or .npz file here. "
            "A folder to start from: lcgnn init DIR"
        )
    if is_benchmark or not is_path:
        if ignore or any(name is not None for name in named):
            raise ConfigError(f"Columns can be named for a folder of tables, and {argument!r} is none.")
        return None
    from lcgnn.sources.tables.columns import Columns
    from lcgnn.sources.tables.reading import Tables

    tables = Tables(argument, Columns(*named, ignore=tuple(ignore or ())))
    if tables.are_arrays and tables.columns != Columns():
        raise ConfigError(f"Columns can be named for a folder of tables, and {argument!r} is none.")
    return tables
