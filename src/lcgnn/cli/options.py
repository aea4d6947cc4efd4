"""Options that several commands have, and the many of ``train``: their types, names and help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.errors import ConfigError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")]
Device = Annotated[str, typer.Option(help="'cpu', 'cuda', ... or 'auto'.")]
Workers = Annotated[int | None, typer.Option(help="Processes to train in. [default: one a core]")]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of each process, which large graphs are computed on; the result is the same for any number. "
        "[default: the cores that are there, divided by the workers]"
    ),
]
Records = Annotated[Path, typer.Option(help="Folder for the records of single runs.")]
Results = Annotated[Path, typer.Option(help="Folder for the tables and the packed records.")]

Graph = Annotated[
    str,
    typer.Argument(
        help="A benchmark graph ('lcgnn datasets' lists them), a folder with nodes.csv and edges.csv, or an .npz "
        "file with arrays."
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help="How to classify: 'lcgnn methods' lists them; 'auto' tries several on labels that are held out in "
        "turn and takes one. [default: auto; on a benchmark or in parts lc-gcn]",
    ),
]
Budget = Annotated[
    str,
    typer.Option(help="How long methods may be tried before one is taken: 90s, 2m, 1h, ... What is done is kept."),
]
Seeds = Annotated[int, typer.Option("--seeds", "-n", help="Train from so many different initialisations.")]
LabelsPerClass = Annotated[
    int | None,
    typer.Option(help="Train on so many labels of each class. [default: all of the split's, 20]"),
]
Labels = Annotated[
    int | None,
    typer.Option(help="With --split random or handful, train on so many labels in all, whatever their class."),
]
LabelsFrom = Annotated[
    Path | None,
    typer.Option(
        help="A file with labels, which count more than the graph's own: what 'lcgnn label' wrote with --out, or "
        "a table with the columns id and label. [default: labels.csv beside the tables, if 'lcgnn label' wrote it]"
    ),
]
SplitKind = Annotated[
    str,
    typer.Option(
        help="Which labels: 'public' (the benchmark's own; for tables the split column, or all labels), 'random' "
        "(a draw, with 500 nodes for validation and 1,000 for test; see --split-seed) or 'handful' (a draw, with "
        "none for validation and all others for test)."
    ),
]
SplitSeed = Annotated[int, typer.Option(help="Which random draw of the labels.")]
Validation = Annotated[
    float | None,
    typer.Option(
        help="Hold out this share of the training labels to choose the epoch by. [default: 0; with 100 labels or "
        "more of every class 0.1]"
    ),
]
Estimate = Annotated[
    bool,
    typer.Option(help="Estimate from the given labels how many predictions are right, and calibrate."),
]
Folds = Annotated[
    int | None,
    typer.Option(
        help="Into how many parts the labels are divided for the estimate; a model is trained for each. "
        "[default: 10; fewer on large graphs; none if there is a test part and the method is named]"
    ),
]
ConsistencyWeight = Annotated[
    float | None,
    typer.Option(
        help="Weight of the regularisation loss (the paper's lambda); 0 turns it off. "
        "[default: 2.0 on Cora, 1.0 elsewhere]"
    ),
]
BaseEpochs = Annotated[
    int | None, typer.Option(help="Epochs of the first phase, the base alone. [default: the method's]")
]
Epochs = Annotated[int | None, typer.Option(help="Epochs of the second phase. [default: the method's]")]
Selection = Annotated[
    str | None,
    typer.Option(
        help="Which epoch to keep: by validation 'accuracy', by validation 'loss', or the 'last', which uses no "
        "validation label. [default: the method's]"
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; 'lcgnn methods NAME' lists them."),
]
Parts = Annotated[
    int,
    typer.Option(
        help="Hold only one of so many parts of the graph in memory at a time; slower, with the same result."
    ),
]
Out = Annotated[Path | None, typer.Option(help="Folder for the results. [default: a folder in runs/]")]
Predictions = Annotated[str, typer.Option(help="Format of the predictions: 'csv' or 'parquet'.")]


def settings_of(named: dict[str, Any], texts: list[str] | None) -> dict[str, Any]:
    """The settings that have an option of their own and were given, and those of ``--set``."""
    given = {name: value for name, value in named.items() if value is not None}
    return given | dict(_setting(text) for text in texts or [])


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"--set {text!r}: write it as NAME=VALUE, for example --set hidden=32.")
    try:
        return name.strip().replace("-", "_"), json.loads(value)
    except ValueError:
        return name.strip().replace("-", "_"), value
