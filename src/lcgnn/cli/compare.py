"""Comparing methods on a graph by its own labels."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.ahead import start_workers
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.cli.gathering import takes_columns, takes_labels

Methods = Annotated[
    str | None,
    typer.Option(help="Which, with commas between: 'lcgnn methods' lists them. [default: those that auto tries]"),
]


@app.command()
@takes_columns("guessed")
@takes_labels
def compare(
    dataset: options.Graph,
    columns: Any,
    labels: Any,
    methods: Methods = None,
    folds: options.Folds = None,
    budget: options.Budget = "5m",
    set_: options.Set = None,
    device: options.Device = "auto",
    workers: options.Workers = None,
    threads: options.Threads = None,
    out: options.Out = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare methods on a graph, by labels that are held out in turn; nothing else is trained.

    What is trained here is not trained again by 'lcgnn train' on the same graph.

    Example: lcgnn compare my_graph/

    Example: lcgnn compare my_graph/ --methods lc-gcn,gat,mlp --budget 10m
    """
    start_workers(dataset, workers)
    from lcgnn.cli.display import err, say
    from lcgnn.cli.display import out as console
    from lcgnn.cli.display_graph import tried_table
    from lcgnn.cli.watching import TerminalWatcher
    from lcgnn.runs.compare import compare as carry_out

    comparison = carry_out(
        dataset,
        methods,
        settings=options.settings_of({}, set_),
        columns=columns,
        **labels,
        folds=folds,
        budget=budget,
        device=device,
        workers=workers,
        threads=threads,
        out=out,
        watcher=TerminalWatcher(err),
    )
    if as_json:
        print_answer("compare", comparison.to_json())
        return
    console.print(tried_table(comparison.dataset, comparison.record))
    for sentence in comparison.words:
        say(sentence, console)
