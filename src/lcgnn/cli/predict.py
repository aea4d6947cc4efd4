"""Prediction: a saved model on the same graph, on a grown one or on another with the same columns."""

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
def predict(
    run: Annotated[
        Path,
        typer.Argument(
            help="The folder that 'lcgnn train' wrote (several seeds are averaged), or one model's folder or file."
        ),
    ],
    columns: Any,
    graph: Annotated[
        str | None,
        typer.Argument(help="A folder with the same columns. [default: what the model was trained on]"),
    ] = None,
    out: Annotated[Path, typer.Option(help="The answers, as .csv or .parquet.")] = Path("predictions.csv"),
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Label the nodes of a graph with a model that was trained before: nothing is trained.

    The graph may have grown by nodes and edges, or be another one with the same columns. Labels that it has
    stay as they are.

    Example: lcgnn predict my_run my_graph/ --out predictions.csv
    """
    from lcgnn.cli.display import err, fetching, print_notes
    from lcgnn.cli.display import out as console
    from lcgnn.cli.display_graph import answers_table
    from lcgnn.runs.predict import check_output
    from lcgnn.runs.predict import predict as carry_out

    check_output(out, [run, *([] if graph is None else [graph])])
    if graph is None and columns != type(columns)():
        raise ConfigError("Columns can be named for a graph: lcgnn predict RUN GRAPH --id-column NAME")
    with fetching(err) as progress:
        prediction = carry_out(run, graph, columns=columns, device=device, progress=progress)
    print_notes(prediction.notes)
    prediction.save(out)
    if as_json:
        print_answer("predict", {**prediction.to_json(), "predictions": str(out)})
        return
    console.print(answers_table(prediction.loaded.graph.name, prediction.method, prediction.classes))
    if len(prediction.models) > 1:
        console.print(f"The mean of {len(prediction.models)} models, one for each seed.")
    console.print(f"Predictions: {out}", soft_wrap=True, markup=False)
