"""Commands for large graphs: generate one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.errors import ConfigError

Edges = Annotated[
    int | None,
    typer.Option(
        help="Edges; those drawn twice count once, so there will be slightly fewer. [default: 10 a node]"
    ),
]
LabelConsistency = Annotated[float, typer.Option(help="Of the edges, how many join nodes of one class.")]
FeatureSignal = Annotated[
    float, typer.Option(help="Distance of two classes' mean features, in standard deviations of their noise.")
]
DegreeExponent = Annotated[
    float, typer.Option(help="Of the degrees' power law, above 2; the smaller, the larger the hubs.")
]
Imbalance = Annotated[float, typer.Option(help="How many times larger the first class is than the last.")]
CommunitySize = Annotated[int, typer.Option(help="Nodes of a community inside a class, about.")]
Format = Annotated[
    str, typer.Option("--format", help="'arrays' (memory-mapped .npy files) or 'csv' (nodes.csv and edges.csv).")
]


@app.command()
def generate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    nodes: Annotated[int, typer.Option(help="Nodes.")] = 100_000,
    edges: Edges = None,
    features: Annotated[int, typer.Option(help="Features of every node.")] = 64,
    classes: Annotated[int, typer.Option(help="Classes.")] = 20,
    label_consistency: LabelConsistency = 0.8,
    labels_per_class: Annotated[int, typer.Option(help="Training labels of every class.")] = 20,
    feature_signal: FeatureSignal = 1.0,
    degree_exponent: DegreeExponent = 3.0,
    imbalance: Imbalance = 1.0,
    community_size: CommunitySize = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same graph.")] = 0,
    format_: Format = "arrays",
    as_json: options.AsJson = False,
) -> None:
    """Write a large graph with known truth: communities, hubs, features that tell part of the class.

    It is written as it is drawn, so that its size is limited by the disk and not by the memory.

    Example: lcgnn generate big --nodes 1000000 --edges 10000000
    """
    from lcgnn.cli.display import err, fetching, out
    from lcgnn.sources.generated.blocks import Blocks
    from lcgnn.sources.generated.writing import write_arrays, write_tables

    if format_ not in ("arrays", "csv"):
        raise ConfigError(f"A graph can be written as arrays or csv, not {format_!r}.")
    blocks = Blocks(
        nodes,
        10 * nodes if edges is None else edges,
        features,
        classes,
        label_consistency,
        labels_per_class,
        degree_exponent,
        imbalance,
        community_size,
        feature_signal,
        seed,
    )
    with fetching(err, counts=True) as progress:
        if format_ == "arrays":
            count, drawn = write_arrays(blocks, folder, progress=progress), "edges"
        else:
            write_tables(blocks, folder, progress=progress)
            count, drawn = blocks.num_edges, "drawn edges"
    if as_json:
        print_answer("generate", {"folder": str(folder), "format": format_, "nodes": nodes, "edges": count})
        return
    out.print(
        f"Written: {folder}, {nodes:,} nodes, {count:,} {drawn}", soft_wrap=True, markup=False, highlight=False
    )
    out.print(f"\nTry next:\n  lcgnn train {shlex.quote(str(folder))}", soft_wrap=True, markup=False)
