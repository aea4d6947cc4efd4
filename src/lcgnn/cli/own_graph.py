"""Commands on a graph of the user's own: start a folder, look at one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.cli.gathering import takes_columns


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    example: Annotated[
        str,
        typer.Option(
            help="Which: 'articles' (generated texts; neighbours are alike), 'papers' (real ones with 50 labels, "
            "fetched once), 'wine' (measurements; neighbours are alike) or 'market' (neighbours differ)."
        ),
    ] = "articles",
    as_json: options.AsJson = False,
) -> None:
    """Write a small example of your own graph: a folder with a table of nodes and a table of edges.

    Example: lcgnn init my_graph
    """
    from lcgnn.cli.display import out
    from lcgnn.sources.examples import write_example

    written = write_example(folder, example)
    if as_json:
        print_answer("init", {"folder": str(folder), "written": [str(path) for path in written]})
        return
    for path in written:
        out.print(f"Written: {path}", soft_wrap=True, markup=False)
    name = shlex.quote(str(folder))
    out.print(f"\nTry next:\n  lcgnn inspect {name}\n  lcgnn train {name}", soft_wrap=True, markup=False)


@app.command()
@takes_columns("guessed")
def inspect(
    folder: Annotated[
        str,
        typer.Argument(help="A folder with nodes.csv and edges.csv, an .npz file, or a benchmark graph."),
    ],
    columns: Any,
    plot: Annotated[
        Path | None, typer.Option(help="Where to save the plot (PNG). [default: a file in runs/]")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Look at a graph before any training: sizes, labels, and whether the edges are likely to help.

    Example: lcgnn inspect my_graph
    """
    from lcgnn.assessment.diagnosis import diagnose
    from lcgnn.cli.display import err, fetching, out, print_notes
    from lcgnn.cli.display_graph import diagnosis_view
    from lcgnn.report.plots import PLOT, save_diagnosis
    from lcgnn.sources.choice import source_of

    source = source_of(folder, columns)
    path = plot or Path("runs") / f"{source.name[:60]}-inspect.png"
    PLOT.check(path, [folder])
    with fetching(err) as progress:
        loaded = source.load_for_labelling(progress)
    print_notes(loaded.notes)
    diagnosis = diagnose(loaded.graph, made_of_edges=loaded.made_of_edges)
    save_diagnosis(path, source.name, diagnosis)
    if as_json:
        print_answer("inspect", {**diagnosis.to_json(), "plot": str(path)})
        return
    out.print(diagnosis_view(source.name, diagnosis))
    out.print(f"Plot: {path}", soft_wrap=True, markup=False)
