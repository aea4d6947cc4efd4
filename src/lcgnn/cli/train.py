"""Training: one method on one graph, and the demonstration."""

from __future__ import annotations

import dataclasses
import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.cli.app import app
from lcgnn.cli.own_graph import (
    IdColumn,
    IgnoreColumn,
    LabelColumn,
    SourceColumn,
    TargetColumn,
    WeightColumn,
    tables_of,
)
from lcgnn.cli.ranks import crew_for
from lcgnn.cli.shared import fetch, print_notes, run_session
from lcgnn.errors import ConfigError


@app.command()
def train(
    context: typer.Context,
    dataset: Annotated[
        str,
        typer.Argument(
            help="A benchmark graph ('lcgnn datasets' lists them), a folder with nodes.csv and edges.csv, or an "
            ".npz file with arrays."
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
    validation: Annotated[
        float | None,
        typer.Option(
            help="Hold out this share of the training labels to choose the epoch by. [default: 0; for tables with "
            "100 labels or more of every class 0.1]"
        ),
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option(help="Tables: estimate from the given labels how many predictions are right, and calibrate."),
    ] = True,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Into how many parts the labels are divided for the estimate; a model is trained for each. "
            "[default: 10; fewer on large graphs, none if there is a test part]"
        ),
    ] = None,
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
    parts: Annotated[
        int,
        typer.Option(
            help="Hold only one of so many parts of the graph in memory at a time; slower, with the same result."
        ),
    ] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the results. [default: a folder in runs/]")] = None,
    predictions: Annotated[str, typer.Option(help="Format of the predictions: 'csv' or 'parquet'.")] = "csv",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Train a method: on a benchmark beside the paper's results, on your own tables to label every node.

    A run that was stopped continues when the same command is given again; seeds that are done are not repeated.

    Example: lcgnn train my_graph/ --label-column topic

    Example: lcgnn train citeseer --method lc-gcn --labels-per-class 5 --seeds 10
    """
    from lcgnn.cli.display import err
    from lcgnn.cli.display import out as console
    from lcgnn.runs.session import plan
    from lcgnn.runs.spec import SplitSpec
    from lcgnn.runs.summary import save_summary

    given = {
        "consistency_weight": consistency_weight,
        "base_epochs": base_epochs,
        "epochs": epochs,
        "selection": selection,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    settings |= dict(_parsed_setting(text) for text in set_ or [])
    named = (id_column, label_column, source_column, target_column, weight_column)
    with crew_for(context, dataset, device) as (graph, crew):
        if crew is not None and parts > 1:
            raise ConfigError("Under torchrun every process holds a part already. Leave out --parts.")
        tables = tables_of(graph, named, ignore_column)
        if tables is None:
            fetch(graph, err)
        session = plan(
            crew.name if crew else (graph if tables is None else tables.name),
            method,
            seeds=seeds,
            split=SplitSpec(split, labels_per_class, split_seed),  # type: ignore[arg-type]
            validation=validation,
            settings=settings,
            tables=tables,
            folder=out,
            device=device,
            workers=workers if crew is None else 1,
            prediction_format=predictions,  # type: ignore[arg-type]
            folds=_folds(estimate, folds, on_ranks=crew is not None),
            parts=parts,
        )
        print_notes(session.notes)
        summary = run_session(session, err)
        if crew is not None:
            summary = dataclasses.replace(summary, communication=crew.communication())
            save_summary(session, summary)
    if as_json:
        print(json.dumps(summary.to_json(), indent=2))
        return
    from lcgnn.cli.display import communication_table, summary_table
    from lcgnn.cli.display_graph import answers_table

    expected = summary.expected
    if summary.answers is not None:
        by_class = None if expected is None else expected.by_class
        console.print(answers_table(summary.dataset, summary.method, summary.answers.classes, by_class))
    if summary.last.mean is not None:
        console.print(summary_table(summary))
    for sentence in () if expected is None else expected.sentences():
        console.print(sentence, markup=False)
    if summary.communication is not None and summary.communication.ranks > 1:
        console.print(communication_table(summary.communication))
    if summary.answers is not None:
        console.print(f"Predictions: {summary.answers.predictions[0]}", soft_wrap=True, markup=False)
        if session.can_predict:
            command = f"lcgnn predict {shlex.quote(str(session.folder))} GRAPH --out predictions.csv"
            console.print(f"For new nodes, or another graph: {command}", soft_wrap=True, markup=False)
        return
    console.print(f"Predictions, models and curves: {session.folder}/", soft_wrap=True)


def _folds(estimate: bool, folds: int | None, *, on_ranks: bool) -> int | None:
    """How many folds are asked for; None for as many as make sense."""
    if not estimate and folds:
        raise ConfigError(f"--no-estimate and --folds {folds} contradict each other. Leave one of them out.")
    if on_ranks and folds:
        raise ConfigError("Accuracy cannot be estimated by folds on a graph in parts. Leave out --folds.")
    return folds if estimate and not on_ranks else 0


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
    from lcgnn.cli.display import comparison_table, err
    from lcgnn.cli.display import out as console
    from lcgnn.experiments.demo import plan_demo
    from lcgnn.report.plots import save_comparison
    from lcgnn.sources.benchmarks import names

    for name in names():
        fetch(name, err)
    summaries = []
    for session in plan_demo(out):
        configuration = session.configuration
        console.print(
            f"\n{configuration.method} on {configuration.dataset}, {configuration.split.name} split, "
            f"{len(session.specs)} seeds"
        )
        summaries.append(run_session(session, console))
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
