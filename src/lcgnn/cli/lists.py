"""What there is: the benchmark graphs and the methods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app

if TYPE_CHECKING:
    from lcgnn.methods.base import Entry


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
        print_answer("datasets", {"datasets": rows})
        return
    out.print(datasets_table(rows))
    out.print("The paper counts raw links; edges are what is left without duplicates and self-loops.")
    if any(row["edges"] is None for row in rows):
        out.print("Where edges are not counted, the graph is not on this machine: lcgnn datasets --fetch")


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="Show this method's settings.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the methods, or the settings of one of them.

    Example: lcgnn methods lc-gcn
    """
    import inspect

    from lcgnn.cli.display import methods_table, out, settings_table
    from lcgnn.methods import entries, entry

    if as_json:
        found = entries() if name is None else [entry(name)]
        print_answer("methods", {"methods": [_described(item) for item in found]})
        return
    if name is None:
        out.print(methods_table([(item.name, item.summary) for item in entries()]))
        out.print("\nSettings of one: lcgnn methods NAME    Train it: lcgnn train cora --method NAME")
        return
    method = entry(name)
    out.print(f"[bold]{name}[/bold]: {method.summary}")
    out.print(inspect.getdoc(method.method) or "", markup=False)
    rows = [(item["name"], json.dumps(item["default"]), item["help"]) for item in _described(method)["settings"]]
    out.print(settings_table(rows))
    out.print(f"\nExample: lcgnn train cora --method {name} --set {rows[-1][0]}={rows[-1][1]}", markup=False)


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="A command that has --json.")] = None,
) -> None:
    """Print the JSON Schema of what a command prints with --json, or which commands have one.

    Example: lcgnn schema train
    """
    from lcgnn.cli.answers import schema_of, schemas

    print(" ".join(schemas()) if name is None else json.dumps(schema_of(name), indent=2))


def _described(item: Entry) -> dict[str, Any]:
    """A method as plain data: its name, what it is, its settings with what they are unless given."""
    from lcgnn.methods import create
    from lcgnn.methods.base import settings_of

    made = create(item.name)
    settings = [
        {"name": key, "default": getattr(made, key), "help": str(field.metadata.get("help", ""))}
        for key, field in settings_of(item.method).items()
    ]
    return {"name": item.name, "summary": item.summary, "settings": settings}
