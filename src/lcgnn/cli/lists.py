"""What there is: the benchmark graphs and the methods."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lcgnn.cli import options
from lcgnn.cli.app import app


@app.command()
def datasets(
    fetch: Annotated[
        bool, typer.Option("--fetch", help="First fetch those that are not on this machine.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """List the benchmark graphs with their sizes (those of Table 1 of the paper, and others).

    Example: lcgnn datasets
    """
    from lcgnn.cli.display import datasets_table, err, fetching, out
    from lcgnn.experiments.statistics import measured_or_published
    from lcgnn.sources.benchmarks import BENCHMARKS

    with fetching(err) as progress:
        rows = [measured_or_published(found, progress, fetch=fetch) for found in BENCHMARKS.values()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    out.print(datasets_table(rows))
    out.print("The paper counts raw links; edges are what is left without duplicates and self-loops.")
    if any(row["edges"] is None for row in rows):
        out.print("Where edges are not counted, the graph is not on this machine: lcgnn datasets --fetch")


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="Show this method's settings.")] = None,
) -> None:
    """List the methods, or the settings of one of them.

    Example: lcgnn methods lc-gcn
    """
    import inspect

    from lcgnn.cli.display import methods_table, out, settings_table
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
