"""Writing a generated graph to disk without ever holding it: as arrays, or as tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.lib.format import open_memmap
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from lcgnn.files import check_disk, folder_written_atomically, for_arrow, write_json
from lcgnn.limits import check_memory
from lcgnn.sources.arrays import DESCRIPTION, PARTS, description
from lcgnn.sources.generated.blocks import BLOCK, Blocks

# Entries of the adjacency matrix that are sorted in memory at a time.
CHUNK = 2**22
# Its class, its part of the split and where its edges begin.
_BYTES_OF_A_NODE = 24

ProgressCallback = Callable[[str, int, int], None]


def write_arrays(
    blocks: Blocks, folder: Path, *, chunk: int = CHUNK, progress: ProgressCallback | None = None
) -> int:
    """Generate a graph into a new folder of arrays, and return its number of edges.

    Args:
        blocks: What the graph is like.
        folder: New or empty; ``datasets.arrays`` says what is in it afterwards.
        chunk: Entries to sort in memory at a time; the graph does not depend on it.
        progress: Told what is being written, how much of it is done, and of how much.
    """
    tell = progress or (lambda *_: None)
    _check_room(blocks, folder)
    with folder_written_atomically(folder) as temporary:
        _write_features(temporary, blocks, tell)
        truth, codes = blocks.labels(0, blocks.num_nodes), blocks.split()
        np.save(temporary / "truth.npy", truth)
        np.save(temporary / "labels.npy", np.where(codes > 0, truth, -1).astype(np.int32))
        np.save(temporary / "split.npy", codes)
        num_entries = _write_adjacency(temporary, blocks, chunk, tell)
        told = description(
            folder.resolve().name,
            blocks.class_names,
            blocks.num_nodes,
            num_entries // 2,
            blocks.num_features,
            made_with=dataclasses.asdict(blocks),
        )
        write_json(temporary / DESCRIPTION, told)
    return num_entries // 2


def write_tables(blocks: Blocks, folder: Path, *, progress: ProgressCallback | None = None) -> None:
    """Generate a graph into a new folder as nodes.csv, edges.csv and truth.csv; edges as they are drawn."""
    tell = progress or (lambda *_: None)
    _check_room(blocks, folder)
    with folder_written_atomically(folder) as temporary:
        _write_csv(temporary / "edges.csv", _edge_tables(blocks, tell))
        _write_csv(temporary / "nodes.csv", _node_tables(blocks, tell))
        truth = np.array(blocks.class_names, dtype=object)[blocks.labels(0, blocks.num_nodes)]
        table = pa.table({"id": np.arange(blocks.num_nodes), "label": truth})
        _write_csv(temporary / "truth.csv", iter([table]))


def _check_room(blocks: Blocks, folder: Path) -> None:
    """Refuse a graph for which memory or disk do not suffice, before any of it is written."""
    check_memory(f"Drawing {blocks.num_nodes:,} nodes", blocks.num_nodes * _BYTES_OF_A_NODE)
    # Two bytes at least for a number and a separator, of every feature and of both ends of an edge.
    needed = 2 * (blocks.num_nodes * blocks.num_features + 2 * blocks.num_edges)
    check_disk(folder, needed)


def _write_features(folder: Path, blocks: Blocks, tell: ProgressCallback) -> None:
    shape = (blocks.num_nodes, blocks.num_features)
    features = open_memmap(folder / "features.npy", mode="w+", dtype=np.float32, shape=shape)
    first = 0
    for block in blocks.features():
        features[first : first + len(block)] = block
        first += len(block)
        tell("features", first, blocks.num_nodes)


def _write_adjacency(folder: Path, blocks: Blocks, chunk: int, tell: ProgressCallback) -> int:
    """Sort the entries by row through files of neighbouring rows, each of which fits into a chunk."""
    num_buckets = -(-2 * blocks.num_edges // chunk)
    bounds = np.linspace(0, blocks.num_nodes, num_buckets + 1).astype(np.int64)
    paths = [folder / f"bucket-{number}" for number in range(num_buckets)]
    _fill_buckets(paths, bounds, blocks, tell)
    degrees = np.zeros(blocks.num_nodes + 1, dtype=np.int64)
    for path, begin, end in zip(paths, bounds, bounds[1:], strict=False):
        # Each entry once, in the order of rows and columns.
        entries = np.unique(np.fromfile(path, dtype=np.int64))
        degrees[begin + 1 : end + 1] = np.bincount(entries // blocks.num_nodes - begin, minlength=end - begin)
        (entries % blocks.num_nodes).tofile(path)
    indptr = np.cumsum(degrees)
    num_entries = int(indptr[-1])
    index_type = np.int32 if max(num_entries, blocks.num_nodes) <= np.iinfo(np.int32).max else np.int64
    np.save(folder / "indptr.npy", indptr.astype(index_type))
    indices = open_memmap(folder / "indices.npy", mode="w+", dtype=index_type, shape=(num_entries,))
    for path, begin, end in zip(paths, bounds, bounds[1:], strict=False):
        indices[indptr[begin] : indptr[end]] = np.fromfile(path, dtype=np.int64)
        path.unlink()
        tell("adjacency", int(indptr[end]), num_entries)
    return num_entries


def _fill_buckets(paths: list[Path], bounds: NDArray[np.int64], blocks: Blocks, tell: ProgressCallback) -> None:
    """Append both directions of every edge, as row * N + column, to the file of its row."""
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for number, edges in enumerate(blocks.edges()):
            rows, columns = np.concatenate([edges, edges[::-1]], axis=1)
            bucket = np.searchsorted(bounds, rows, side="right") - 1
            order = np.argsort(bucket, kind="stable")
            entries = (rows * blocks.num_nodes + columns)[order]
            ends = np.cumsum(np.bincount(bucket, minlength=len(files)))
            for file, begin, end in zip(files, [0, *ends], ends, strict=False):
                entries[begin:end].tofile(file)
            tell("edges", min((number + 1) * BLOCK, blocks.num_edges), blocks.num_edges)


def _edge_tables(blocks: Blocks, tell: ProgressCallback) -> Iterator[pa.Table]:
    for number, (source, target) in enumerate(blocks.edges()):
        yield pa.table({"source": source, "target": target})
        tell("edges", min((number + 1) * BLOCK, blocks.num_edges), blocks.num_edges)


def _node_tables(blocks: Blocks, tell: ProgressCallback) -> Iterator[pa.Table]:
    codes = blocks.split()
    names = np.array(blocks.class_names, dtype=object)
    parts = np.array(["", *PARTS], dtype=object)
    for number, features in enumerate(blocks.features()):
        first = number * BLOCK
        last = first + len(features)
        known = codes[first:last] > 0
        columns: dict[str, Any] = {
            "id": np.arange(first, last),
            "label": np.where(known, names[blocks.labels(first, last)], ""),
            "split": parts[codes[first:last]],
        }
        columns |= {f"x{position}": column for position, column in enumerate(features.T)}
        yield pa.table(columns)
        tell("nodes", last, blocks.num_nodes)


def _write_csv(path: Path, tables: Iterator[pa.Table]) -> None:
    first = next(tables)
    with arrow_csv.CSVWriter(for_arrow(path), first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
