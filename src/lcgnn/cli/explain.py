"""Why a node has its label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.cli.gathering import takes_columns
from lcgnn.errors import ConfigError


@app.command()
@takes_columns("as in training", ignore=False)
def explain(
    run: Annotated[
        Path,
        typer.Argument(
            help="The folder that 'lcgnn train' wrote (several seeds are averaged), or one model's folder or file."
        ),
    ],
    node: Annotated[str, typer.Argument(help="The node's id, or its number where the graph has no ids.")],
    columns: Any,
    graph: Annotated[
        str | None,
        typer.Argument(help="The graph that was trained on, if it is elsewhere now. [default: where it was]"),
    ] = None,
    count: Annotated[int, typer.Option(help="How many nodes, labels, features and changes to list.")] = 10,
    retrain: Annotated[
        bool | None,
        typer.Option(
            help="Try what the strongest label does by training again, twice. [default: if training took seconds]"
        ),
    ] = None,
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Say why a node has its label: soft neighbours, labels that speak for it, features, what would change it.

    Example: lcgnn explain my_run article-071
    """
    from lcgnn.cli.display import err, fetching
    from lcgnn.cli.display import out as console
    from lcgnn.cli.display_reasons import explanation_view
    from lcgnn.runs.explain import explain as carry_out

    if graph is None and columns != type(columns)():
        raise ConfigError("Columns can be named for a graph: lcgnn explain RUN NODE GRAPH --id-column NAME")
    with fetching(err) as progress:
        found = carry_out(
            run, node, graph, columns=columns, shown=count, retrain=retrain, device=device, progress=progress
        )
    if as_json:
        print_answer("explain", found.to_json())
        return
    console.print(explanation_view(found))
