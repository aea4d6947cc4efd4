"""Labels and edges that look wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.cli.gathering import takes_columns, takes_labels

What = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A folder with nodes.csv and edges.csv, an .npz file or a benchmark graph; or the folder that 'lcgnn "
        "train' wrote, whose folds are read.",
    ),
]
Edges = Annotated[
    int, typer.Option(help="How many edges that look wrong to name at most; 0 for none, which takes a model less.")
]
Save = Annotated[Path | None, typer.Option(help="Where to write the list as well, as .csv or .json.")]


@app.command()
@takes_columns("guessed")
@takes_labels
def doubt(
    dataset: What,
    columns: Any,
    labels: Any,
    method: options.Method = None,
    folds: options.Folds = None,
    edges: Edges = 10,
    budget: options.Budget = "5m",
    set_: options.Set = None,
    device: options.Device = "auto",
    workers: options.Workers = None,
    out: options.Out = None,
    save: Save = None,
    as_json: options.AsJson = False,
) -> None:
    """Find given labels that look wrong, what they would be instead and why; and edges that look wrong.

    Every label is predicted by a model that is trained without it. What 'lcgnn train' has trained on the same
    graph is not trained again, and the other way round.

    Example: lcgnn doubt my_graph/

    Example: lcgnn doubt my_run --save doubts.csv
    """
    from lcgnn.cli.display import err
    from lcgnn.cli.display import out as console
    from lcgnn.cli.display_reasons import doubts_view
    from lcgnn.cli.watching import TerminalWatcher
    from lcgnn.runs.doubt import DOUBTS
    from lcgnn.runs.doubt import doubt as carry_out

    if save is not None:
        DOUBTS.check(save, [dataset])
    found = carry_out(
        dataset,
        method,
        settings=options.settings_of({}, set_),
        columns=columns,
        **labels,
        folds=folds,
        edges=edges,
        budget=budget,
        device=device,
        workers=workers,
        out=out,
        watcher=TerminalWatcher(err),
    )
    if save is not None:
        found.save(save)
    if as_json:
        print_answer("doubt", found.to_json())
        return
    console.print(doubts_view(found))
    if save is not None:
        console.print(f"Written: {save}", soft_wrap=True, markup=False)
