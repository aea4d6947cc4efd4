"""Suggestions: which nodes to label next."""

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
@takes_columns("guessed")
def suggest(
    graph: options.Graph,
    columns: Any,
    count: Annotated[int, typer.Option("--count", "-n", help="How many nodes.")] = 20,
    strategy: Annotated[
        str,
        typer.Option(
            help="How they are chosen: 'spread' (ours), 'featprop', 'coverage', 'age', 'uncertainty', 'degree' or "
            "'random'; docs/which-nodes.md compares them."
        ),
    ] = "spread",
    labels: Annotated[
        str,
        typer.Option(
            help="'given': nodes with a label are not suggested (of a benchmark, those of its training part); "
            "'none': as if no node had one."
        ),
    ] = "given",
    labels_from: options.LabelsFrom = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="A folder that 'lcgnn train' wrote: its model says what is unsure. [default: one is trained]"
        ),
    ] = None,
    model: Annotated[
        bool, typer.Option(help="Whether a model may be trained on the labels that there are.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Of whatever is left to chance.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Also write them to this file, .csv or .json.")] = None,
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Say which nodes to label next, and why: from a graph without any label on.

    Without labels the nodes are those that stand for most others, by their features and their neighbours'. With
    labels they are those in parts that nothing labelled is near and that a model is unsure of.

    Example: lcgnn suggest my_graph --count 20 --out to_label.csv
    """
    from lcgnn.cli.display import err, fetching, print_notes
    from lcgnn.cli.display import out as console
    from lcgnn.cli.display_graph import suggestions_table
    from lcgnn.runs.suggest import check_output
    from lcgnn.runs.suggest import suggest as carry_out

    if out is not None:
        check_output(out, (graph, *([] if labels_from is None else [labels_from])))
    with fetching(err) as progress, fetching(err, counts=True) as working:
        found = carry_out(
            graph,
            count,
            strategy=strategy,
            labels=labels,  # type: ignore[arg-type]
            labels_from=labels_from,
            run=run,
            model=model,
            columns=columns,
            seed=seed,
            device=device,
            progress=progress,
            working=working,
        )
    print_notes(found.notes)
    if out is not None:
        found.save(out)
    if as_json:
        print_answer("suggest", {**found.to_json(), **({} if out is None else {"out": str(out)})})
        return
    console.print(suggestions_table(found))
    if out is not None:
        console.print(f"Written: {out}", soft_wrap=True, markup=False)
    if not found.labelled:
        command = shlex.join(["lcgnn", "label", graph, *columns.options()])
        console.print(f"Label them on a page: {command}", soft_wrap=True, markup=False)
