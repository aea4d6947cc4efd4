"""Cut a graph into parts, for several processes to train on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.cli.gathering import takes_columns

_NO_METIS = "There is not enough memory for METIS: the parts are found by going through the edges again and again."


@app.command()
@takes_columns("guessed")
def partition(
    folder: Annotated[
        str,
        typer.Argument(metavar="GRAPH", help="A folder with tables or arrays, or a benchmark graph."),
    ],
    columns: Any,
    parts: Annotated[int, typer.Option(help="How many parts: one for each process.")] = 2,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the parts. [default: parts-N in the graph's folder, or GRAPH-parts-N]"),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="What finds out which nodes go together: 'metis', which takes some 320 bytes of memory an edge; "
            "'stream', which goes through the edges again and again and holds a piece of them at a time; or "
            "'auto', 'metis' where there is memory for it."
        ),
    ] = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Cut a graph into parts of equal work, to train on it by several processes or machines.

    Each process reads only its part. Where the machines have no common disk, copy parts.json to all of them, each
    part-K.safetensors to the machine of rank K, and nodes.parquet to that of rank 0.

    Example: lcgnn partition big_graph/ --parts 8
    """
    from lcgnn.cli.display import err, fetching, print_notes
    from lcgnn.cli.display import out as console
    from lcgnn.compute.placement.cutting import checked_by, settled
    from lcgnn.files import check_new_folder
    from lcgnn.runs.partition import partition as carry_out
    from lcgnn.sources.choice import source_of

    chosen = checked_by(by)
    source = source_of(folder, columns)
    place = out or source.place_for_parts(parts)
    check_new_folder(place)
    with fetching(err) as progress:
        loaded = source.load_whole(progress)
    asked, chosen = chosen, settled(chosen, loaded.graph)
    print_notes([*loaded.notes, *([_NO_METIS] if chosen != asked and chosen == "stream" else [])])
    manifest = carry_out(loaded, parts, place, chosen)
    trained = shlex.quote(folder if place == source.place_for_parts(parts) else str(place))
    command = f"torchrun --nproc-per-node={parts} -m lcgnn train {trained}"
    if as_json:
        print_answer("partition", {"folder": str(place), **manifest.summary(), "command": command})
        return
    console.print(f"Written: {place}, {manifest.in_words()}", soft_wrap=True, markup=False, highlight=False)
    console.print(f"\nTry next:\n  {command}", soft_wrap=True, markup=False)
