"""A graph cut into parts on disk, for several processes to train on."""

from __future__ import annotations

from pathlib import Path

from lcgnn.compute.placement.cutting import By, assign, cut
from lcgnn.errors import DataError
from lcgnn.files import folder_written_atomically
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.parts.files import Manifest, write_parts


def partition(loaded: Loaded, count: int, folder: Path, by: By = "auto") -> Manifest:
    """Cut a graph into so many parts of equal work, with few edges between them, and write them into a folder.

    Args:
        loaded: The graph.
        count: How many parts.
        folder: Where they go.
        by: How it is found out who holds which nodes (see `assign`).
    """
    graph, split = loaded.graph, loaded.split
    if not 1 <= count <= graph.num_nodes:
        raise DataError(f"{graph.name} can be cut into 1 to {graph.num_nodes:,} parts, not {count:,}.")
    parts = cut(graph, split, assign(graph, count, by))
    described = {"name": graph.name, "checksum": graph.checksum, "split": split.name}
    with folder_written_atomically(folder) as temporary:
        return write_parts(temporary, graph, split, parts, described)
