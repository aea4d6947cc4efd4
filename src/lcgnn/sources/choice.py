"""Which source is meant by what the user named: decided here, once."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lcgnn.errors import ConfigError, DataError, InputError
from lcgnn.graph import Graph, Split
from lcgnn.sources.arrays import ArrayFolder, holds_arrays
from lcgnn.sources.benchmarks import BENCHMARKS, benchmark
from lcgnn.sources.frames import is_frame
from lcgnn.sources.in_python import Frames, Given, NetworkX, PyG
from lcgnn.sources.labelled import Labelled
from lcgnn.sources.links import is_networkx
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.npz import Npz
from lcgnn.sources.parts.parted import Parts, holds_parts
from lcgnn.sources.source import Source
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.source import Tables


def source_of(
    what: Any,
    columns: Columns | None = None,
    *,
    labels_from: Path | str | None = None,
    processes: int | None = None,
) -> Source:
    """The source that is meant; ConfigError or InputError if there is none of the kind.

    Args:
        what: A benchmark's name; a folder of tables, of arrays or of parts; an .npz file; two data frames, of
            nodes and of edges; a NetworkX graph; a PyTorch Geometric ``Data``; a `Graph`, alone or with its
            `Split`; what `from_frames` and its like return; or a source.
        columns: Names of columns that are not to be guessed.
        labels_from: A file with labels that count more than the graph's own: what ``lcgnn label`` wrote, or a
            table with the columns id and label.
        processes: How many train together, each on its part; None for one alone on the whole graph.
    """
    named = columns or Columns()
    source = _named(str(what), named) if isinstance(what, str | os.PathLike) else _held(what, named)
    if processes is not None and source.parts is None:
        source = _in_parts(source, processes)
    if named != Columns() and not isinstance(source, Tables | Frames | NetworkX):
        raise ConfigError(f"Columns can be named for a folder of tables, and {str(what)!r} is none.")
    return source if labels_from is None else _labelled(source, str(labels_from))


def source_at(name: str, place: Mapping[str, Any] | None) -> Source:
    """The source with a name at the place that it said it was at; DataError if it is there no more."""
    labels = None if place is None else place.get("labels")
    if place is None or "benchmark" in place:
        found: Source = benchmark(name)
        return found if labels is None else _labelled(found, labels)
    if "folder" not in place:
        raise DataError(f"{name} was only in memory. Give the graph: lcgnn predict RUN GRAPH")
    if not Path(place["folder"]).exists():
        raise DataError(
            f"{place['folder']}, which the model was trained on, is not here. "
            "Say where it is: lcgnn predict RUN GRAPH"
        )
    found = _at(str(place["folder"]), Columns.from_json(place.get("columns")))
    return found if labels is None else _labelled(found, labels)


def _named(text: str, columns: Columns) -> Source:
    is_path = "/" in text or "\\" in text or Path(text).exists()
    if text.lower() in BENCHMARKS:
        found = benchmark(text)
        if not Path(text).exists():
            return found
        return replace(found, told=(f"{text} is the benchmark. For what is here under that name: ./{text}",))
    if is_path:
        return _at(text, columns)
    if not difflib.get_close_matches(text.lower(), BENCHMARKS):
        raise ConfigError(
            f"{text!r} is neither a benchmark ({', '.join(BENCHMARKS)}) nor a folder or .npz file here. "
            "A folder to start from: lcgnn init DIR"
        )
    return benchmark(text)


def _at(text: str, columns: Columns) -> Source:
    path = Path(text)
    if holds_parts(path):
        return Parts(text)
    if holds_arrays(path):
        return ArrayFolder(text)
    if text.lower().endswith(".npz") and not path.is_dir():
        return Npz(text)
    return Tables(text, columns)


def _labelled(source: Source, file: str) -> Source:
    if source.parts is not None:
        raise ConfigError(f"{source.name} is in parts, whose labels are their own. Name the whole graph.")
    return replace(source, ledger=file) if isinstance(source, Tables) else Labelled(source, file)


def _in_parts(source: Source, processes: int) -> Parts:
    place = source.place_for_parts(processes)
    if not holds_parts(place):
        named = (source.place() or {}).get("folder", source.name)
        raise ConfigError(
            f"{processes} processes were started, and {named} is not cut into as many parts. "
            f"First: lcgnn partition {named} --parts {processes}"
        )
    return Parts(str(place))


def _held(what: Any, columns: Columns) -> Source:
    if isinstance(what, Source):
        return what
    if isinstance(what, Loaded):
        return Given(what)
    if isinstance(what, Graph):
        return Given.of(what)
    if is_networkx(what):
        return NetworkX(what, columns)
    if isinstance(what, tuple) and len(what) == 2:
        if isinstance(what[0], Graph) and isinstance(what[1], Split | None):
            return Given.of(*what)
        if all(map(is_frame, what)):
            return Frames(*what, columns)
    pyg = sys.modules.get("torch_geometric.data")
    if pyg is not None and isinstance(what, pyg.Data):
        return PyG.from_data(what)
    raise InputError(
        f"{type(what).__name__} is no graph. Give a folder, an .npz file, a benchmark's name, two data frames, a "
        "NetworkX graph, a PyTorch Geometric Data or a Graph."
    )
