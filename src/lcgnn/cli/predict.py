"""Prediction: a saved model on the same graph, on a grown one or on another with the same columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lcgnn.cli.app import app
from lcgnn.cli.own_graph import LABEL, NODE_ID, SOURCE, TARGET, WEIGHT, column_option, tables_of
from lcgnn.cli.shared import fetch, print_notes
from lcgnn.errors import ConfigError

_AS_BEFORE = "as in training"


@app.command()
def predict(
    run: Annotated[
        Path,
        typer.Argument(
            help="The folder that 'lcgnn train' wrote (several seeds are averaged), or one model's folder or file."
        ),
    ],
    graph: Annotated[
        str | None,
        typer.Argument(help="A folder with the same columns. [default: what the model was trained on]"),
    ] = None,
    out: Annotated[Path, typer.Option(help="The answers, as .csv or .parquet.")] = Path("predictions.csv"),
    id_column: Annotated[str | None, column_option(NODE_ID, _AS_BEFORE)] = None,
    label_column: Annotated[str | None, column_option(LABEL, _AS_BEFORE)] = None,
    source_column: Annotated[str | None, column_option(SOURCE, _AS_BEFORE)] = None,
    target_column: Annotated[str | None, column_option(TARGET, _AS_BEFORE)] = None,
    weight_column: Annotated[str | None, column_option(WEIGHT, _AS_BEFORE)] = None,
    device: Annotated[str, typer.Option(help="'cpu', 'cuda', ... or 'auto'.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Label the nodes of a graph with a model that was trained before: nothing is trained.

    The graph may have grown by nodes and edges, or be another one with the same columns. Labels that it has
    stay as they are.

    Example: lcgnn predict my_run my_graph/ --out predictions.csv
    """
    from lcgnn.cli.display import err
    from lcgnn.cli.display import out as console
    from lcgnn.cli.display_graph import answers_table
    from lcgnn.runs.predict import check_output
    from lcgnn.runs.predict import predict as carry_out

    check_output(out)
    named = (id_column, label_column, source_column, target_column, weight_column)
    if graph is None and any(name is not None for name in named):
        raise ConfigError("Columns can be named for a graph: lcgnn predict RUN GRAPH --id-column NAME")
    tables = None if graph is None else tables_of(graph, named, None)
    if graph is not None and tables is None:
        fetch(graph, err)
    prediction = carry_out(run, tables or graph, device=device)
    print_notes(prediction.subject.notes)
    prediction.save(out)
    summary = {**prediction.summary(), "predictions": str(out)}
    if as_json:
        print(json.dumps(summary, indent=2))
        return
    console.print(answers_table(summary["dataset"], summary["method"], prediction.classes))
    if len(prediction.models) > 1:
        console.print(f"The mean of {len(prediction.models)} models, one for each seed.")
    console.print(f"Predictions: {out}", soft_wrap=True, markup=False)
