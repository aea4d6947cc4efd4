"""A graph as a folder of plain arrays: read through memory maps, so that opening one costs next to nothing.

======================  =====================================================================================
``graph.json``          what the graph is called, its classes and its sizes
``indptr.npy``          (N + 1,) where every node's neighbours begin
``indices.npy``         (2 E,) the neighbours, ascending; both directions of every edge
``weights.npy``         (2 E,) float32, only if the edges have weights
``features.npy``        (N, F) float32; sparse ones are ``features_{data,indices,indptr}.npy`` instead
``labels.npy``          (N,) int32, -1 where unknown
``split.npy``           (N,) uint8: 0 in no part, 1 training, 2 validation, 3 test
``truth.npy``           (N,) int32, only of a generated graph: all labels, read by nothing but whoever compares
======================  =====================================================================================

``indptr`` and ``indices`` are int32, or int64 where a graph has more than 2^31 entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.csr import checked_csr
from lcgnn.errors import DataError
from lcgnn.files import folder_written_atomically, write_json
from lcgnn.graph import Features, Graph, Split
from lcgnn.sources.described import COUNT, TEXT, TEXTS, checked_fields, read_described
from lcgnn.sources.loaded import Loaded, with_features
from lcgnn.sources.npy import mapped_array
from lcgnn.sources.source import FileSource, Known, Progress, check_without_columns

FORMAT = "lcgnn arrays 1"
DESCRIPTION = "graph.json"

PARTS = ("train", "validation", "test")
_FIELDS = {"name": TEXT, "num_nodes": COUNT, "num_features": COUNT, "class_names": TEXTS}
_AGAIN = "Generate or convert the graph again."


def holds_arrays(folder: Path) -> bool:
    """Whether a folder is meant to be a graph in this form."""
    return (folder / DESCRIPTION).is_file()


def save_arrays(graph: Graph, split: Split, folder: Path) -> None:
    """Write a graph and its split into a new folder, whole or not at all."""
    split.check(graph)
    with folder_written_atomically(folder) as temporary:
        _save_matrix(temporary, "", graph.adjacency, "weights")
        if (graph.adjacency.data == 1).all():
            (temporary / "weights.npy").unlink()
        if isinstance(graph.features, csr_array):
            _save_matrix(temporary, "features_", graph.features, "data")
        elif graph.features is not None:
            np.save(temporary / "features.npy", graph.features)
        np.save(temporary / "labels.npy", graph.labels.astype(np.int32))
        np.save(temporary / "split.npy", split_codes(split, graph.num_nodes))
        sizes = (graph.num_nodes, graph.num_edges, graph.num_features)
        write_json(temporary / DESCRIPTION, description(graph.name, graph.class_names, *sizes))


def load_arrays(folder: Path) -> tuple[Graph, Split]:
    """The graph in a folder and its split; the large arrays stay on disk until they are used."""
    told = read_description(folder)
    num_nodes = told["num_nodes"]
    adjacency = _matrix(folder, "", "weights", (num_nodes, num_nodes))
    graph = Graph(
        told["name"],
        adjacency,
        read_array(folder, "labels", (num_nodes,), "i"),
        tuple(told["class_names"]),
        _features(folder, num_nodes, told["num_features"]),
    )
    codes = read_array(folder, "split", (num_nodes,), "u")
    train, validation, test = (np.flatnonzero(codes == code) for code in range(1, len(PARTS) + 1))
    split = Split(train, validation, test, "given")
    split.check(graph)
    return graph, split


def description(
    name: str,
    class_names: Sequence[str],
    num_nodes: int,
    num_edges: int,
    num_features: int,
    **more: Any,
) -> dict[str, Any]:
    """The content of ``graph.json``; ``more`` is for whoever reads it."""
    return {
        "format": FORMAT,
        "name": name,
        "num_nodes": num_nodes,
        "num_edges": num_edges,
        "num_features": num_features,
        "class_names": list(class_names),
        **more,
    }


def read_description(folder: Path) -> dict[str, Any]:
    """``graph.json``, or DataError if it is not one of ours."""
    path = folder / DESCRIPTION
    told = read_described(path, {}, _AGAIN)
    if told.get("format") != FORMAT:
        raise DataError(f"{path} is not a description of {FORMAT!r}. {_AGAIN}")
    return checked_fields(told, _FIELDS, str(path), _AGAIN)


def read_array(folder: Path, name: str, shape: tuple[int | None, ...], kind: str) -> NDArray[Any]:
    """An array through a memory map, after a check of its shape (None fits any length) and its kind of number."""
    path = folder / f"{name}.npy"
    array = mapped_array(path)
    fits = array.ndim == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype.kind != kind:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise DataError(f"{path} holds {array.dtype} of shape {array.shape}; it should be ({wanted}).")
    return array


def split_codes(split: Split, num_nodes: int) -> NDArray[np.uint8]:
    """(N,) which part of the split every node is in, as ``split.npy`` has it."""
    codes = np.zeros(num_nodes, dtype=np.uint8)
    for code, part in enumerate(PARTS, start=1):
        codes[getattr(split, part)] = code
    return codes


def _save_matrix(folder: Path, prefix: str, matrix: csr_array, values: str) -> None:
    np.save(folder / f"{prefix}indptr.npy", matrix.indptr)
    np.save(folder / f"{prefix}indices.npy", matrix.indices)
    np.save(folder / f"{prefix}{values}.npy", matrix.data)


def _matrix(folder: Path, prefix: str, values: str, shape: tuple[int, int]) -> csr_array:
    indptr = read_array(folder, f"{prefix}indptr", (shape[0] + 1,), "i")
    indices = read_array(folder, f"{prefix}indices", (None,), "i")
    if prefix or (folder / f"{values}.npy").exists():
        data = read_array(folder, f"{prefix}{values}", (indices.size,), "f")
    else:
        data = np.ones(indices.size, dtype=np.float32)
        data.flags.writeable = False
    return checked_csr(data, indices, indptr, shape, str(folder / f"{prefix}indices.npy"))


def _features(folder: Path, num_nodes: int, num_features: int) -> Features | None:
    if (folder / "features.npy").exists():
        return read_array(folder, "features", (num_nodes, num_features), "f")
    if (folder / "features_indptr.npy").exists():
        return _matrix(folder, "features_", "data", (num_nodes, num_features))
    return None


@dataclass(frozen=True)
class ArrayFolder(FileSource):
    """A graph in a folder of plain arrays."""

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        graph, split = load_arrays(Path(self.path))
        notes: list[str] = []
        made_of_edges = graph.features is None
        return Loaded(with_features(graph, notes), split, tuple(notes), made_of_edges=made_of_edges)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:
        check_without_columns(known, self.path)
        loaded = self.load(progress)
        if loaded.graph.class_names != known.class_names:
            raise DataError(
                f"{self.path} has other classes than the model, whose are {', '.join(known.class_names[:8])}. "
                f"Train on it: lcgnn train {self.path}"
            )
        return loaded
