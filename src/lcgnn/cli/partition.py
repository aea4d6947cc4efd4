"""Cut a graph into parts, for several processes to train on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

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
from lcgnn.cli.shared import fetch, print_notes


@app.command()
def partition(
    folder: Annotated[
        str,
        typer.Argument(metavar="GRAPH", help="A folder with tables or arrays, or a benchmark graph."),
    ],
    parts: Annotated[int, typer.Option(help="How many parts: one for each process.")] = 2,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the parts. [default: parts-N in the graph's folder, or GRAPH-parts-N]"),
    ] = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    weight_column: WeightColumn = None,
    ignore_column: IgnoreColumn = None,
) -> None:
    """Cut a graph into parts of equal work, to train on it by several processes or machines.

    Each process reads only its part. Where the machines have no common disk, copy parts.json to all of them, each
    part-K.safetensors to the machine of rank K, and nodes.parquet to that of rank 0.

    Example: lcgnn partition big_graph/ --parts 8
    """
    from lcgnn.cli.display import err
    from lcgnn.cli.display import out as console
    from lcgnn.compute.placement.cutting import assign, cut
    from lcgnn.runs.run import read_graph
    from lcgnn.sources.parts.files import write_parts

    named = (id_column, label_column, source_column, target_column, weight_column)
    tables = tables_of(folder, named, ignore_column)
    if tables is None:
        fetch(folder, err)
    graph, split, notes = read_graph(folder, tables)
    print_notes(notes)
    within = Path(folder) / f"parts-{parts}" if tables and Path(folder).is_dir() else None
    place = out or within or Path(f"{graph.name}-parts-{parts}")
    described = {"name": graph.name, "checksum": graph.checksum, "split": split.name}
    manifest = write_parts(place, graph, split, cut(graph, split, assign(graph, parts)), described)
    nodes, boundary = ([getattr(part, name) for part in manifest.parts] for name in ("nodes", "boundary"))
    console.print(
        f"Written: {place}, {parts} part{'s' if parts > 1 else ''} of {min(nodes):,} to {max(nodes):,} nodes, "
        f"{manifest.cut_edges:,} of {manifest.num_edges:,} edges between them, at most {max(boundary):,} boundary "
        "nodes each",
        soft_wrap=True,
        markup=False,
        highlight=False,
    )
    trained = shlex.quote(folder if place == within else str(place))
    console.print(
        f"\nTry next:\n  torchrun --nproc-per-node={parts} -m lcgnn train {trained}", soft_wrap=True, markup=False
    )
