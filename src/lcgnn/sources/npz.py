"""Graphs in one .npz file of numpy arrays, read without pickle.

- ``adjacency``: (N, N) weights, 0 where there is no edge, or its CSR form as ``adjacency_data``,
  ``adjacency_indices``, ``adjacency_indptr`` and ``adjacency_shape``. Instead there may be ``edge_index``, (2, M)
  node numbers, with ``edge_weight`` (M,) if they have weights.
- ``labels``: (N,) whole numbers, -1 where there is no label, or text, "" where there is none.
- ``features``: (N, F) numbers, or their CSR form as ``features_data`` and so on; may be left out.
- ``class_names``: (C,) what the labels 0 to C - 1 are called; may be left out.
- ``node_names``: (N,) what the nodes are called; may be left out.
- ``train_mask``, ``val_mask``, ``test_mask``: (N,) which labels are for what; without them all are for training.

The keys ``adj_*`` and ``attr_*``, as files of published benchmarks have them, stand for ``adjacency_*`` and
``features_*``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.files import written_atomically
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.sources.in_memory import from_arrays, graph_of, has_label
from lcgnn.sources.links import EdgeList, links_of, weighted_links
from lcgnn.sources.loaded import TableGraph

_CSR = ("data", "indices", "indptr", "shape")
_OTHER_NAMES = {"adj": "adjacency", "attr": "features"}
_MASKS = {"train": "train_mask", "validation": "val_mask", "test": "test_mask"}
_KEYS = {
    *("adjacency", "edge_index", "edge_weight", "features", "labels", "class_names", "node_names"),
    *_MASKS.values(),
    *(f"{matrix}_{part}" for matrix in ("adjacency", "features", *_OTHER_NAMES) for part in _CSR),
}

Arrays = Mapping[str, NDArray[Any]]


def load_npz(path: Path, *, name: str | None = None) -> TableGraph:
    """The graph in an .npz file; DataError says what is wrong if there is none."""
    arrays = _read(path)
    try:
        made = _made(arrays, name or path.stem)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    notes = [f"{path.name}: {note}" for note in made.notes]
    return replace(made, notes=(*notes, *_told(path, made)))


def load_known_npz(
    path: Path, class_names: tuple[str, ...], *, name: str
) -> tuple[Graph, Split | None, tuple[str, ...]]:
    """The graph in an .npz file for a model that knows these classes, its split if any label is given, and notes.

    Labels may be missing altogether; one that the model does not know counts as none.
    """
    arrays = _read(path)
    try:
        links, features = _links(arrays, _num_nodes(arrays)), _matrix(arrays, "features")
        labels = _known_labels(arrays, class_names)
        graph = graph_of(name, links, labels, class_names, features, _names(arrays, "node_names"))
        none = np.empty(0, dtype=np.int64)
        parts = _parts_of(arrays, graph) or {"train": graph.labelled, "validation": none, "test": none}
        split = Split(parts["train"], parts["validation"], parts["test"]) if parts["train"].size else None
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return graph, split, tuple(f"{path.name}: {note}" for note in links.notes)


def save_npz(path: Path, graph: Graph, split: Split | None = None) -> None:
    """Write a graph and, as masks, a split to an .npz file that `load_npz` makes the same graph of."""
    arrays: dict[str, Any] = {"labels": graph.labels, "class_names": np.array(graph.class_names)}
    arrays |= _parts("adjacency", graph.adjacency)
    if graph.features is not None:
        arrays |= _parts("features", graph.features)
    if graph.node_names is not None:
        arrays["node_names"] = graph.node_names
    if split is not None:
        for part, key in _MASKS.items():
            arrays[key] = np.isin(np.arange(graph.num_nodes), getattr(split, part))
    with written_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read(path: Path) -> dict[str, NDArray[Any]]:
    if not path.is_file():
        raise DataError(f"{path} does not exist. Give an .npz file, or a folder with nodes.csv and edges.csv.")
    try:
        # Opened here, because numpy leaves a file open that it cannot read.
        with path.open("rb") as stream:
            if not zipfile.is_zipfile(stream):
                raise ValueError("it is no .npz file")
            archive = np.load(stream, allow_pickle=False)
            found = {key: archive[key] for key in archive.files if key in _KEYS}
    except Exception as error:  # numpy, zipfile and zlib raise nearly everything on broken bytes
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "allow_pickle" in reason:
            reason = "it holds Python objects, which are never loaded"
        raise DataError(
            f"{path} cannot be read: {reason}. Write it with numpy.savez, with arrays only."
        ) from error
    return {_usual(key): array for key, array in found.items()}


def _usual(key: str) -> str:
    first, _, rest = key.partition("_")
    return f"{_OTHER_NAMES[first]}_{rest}" if first in _OTHER_NAMES else key


def _made(arrays: Arrays, name: str) -> TableGraph:
    if "labels" not in arrays:
        raise DataError(f"there is no array 'labels'. Add it, with -1 where there is none; {_there(arrays)}.")
    made = from_arrays(
        _matrix(arrays, "features"),
        arrays["labels"].ravel(),
        _links(arrays, arrays["labels"].size),
        class_names=_names(arrays, "class_names"),
        node_names=_names(arrays, "node_names"),
        name=name,
    )
    parts = _parts_of(arrays, made.graph)
    return made if parts is None else replace(made, split=Split(**parts, name="the file's"))


def _num_nodes(arrays: Arrays) -> int:
    if "labels" in arrays:
        return arrays["labels"].size
    for matrix in (_matrix(arrays, "features"), _matrix(arrays, "adjacency")):
        if matrix is not None:
            return int(matrix.shape[0])
    raise DataError("there are neither labels nor features, so how many nodes there are is not known. Add some.")


def _known_labels(arrays: Arrays, class_names: tuple[str, ...]) -> NDArray[np.int64]:
    """Every node's place among the classes that a model knows, -1 where it has none or another."""
    if "labels" not in arrays:
        return np.full(_num_nodes(arrays), UNLABELLED, dtype=np.int64)
    values, names = arrays["labels"].ravel(), _names(arrays, "class_names")
    given = has_label(values)
    if names is None:
        texts = [str(value) for value in values]
    elif values.dtype.kind in "iu" and -1 <= values.min() <= values.max() < names.size:
        texts = [str(names[value]) for value in values]
    else:
        raise DataError(f"labels: with {names.size} class names, give numbers from 0 to {names.size - 1}, or -1.")
    places = {name: place for place, name in enumerate(class_names)}
    found = [places.get(text, UNLABELLED) for text in texts]
    return np.where(given, found, UNLABELLED)


def _there(arrays: Arrays) -> str:
    return f"there are {', '.join(sorted(arrays))}" if arrays else "there is none that is known"


def _matrix(arrays: Arrays, name: str) -> Any:
    """A dense array, a matrix in CSR form, or None."""
    if name in arrays:
        return arrays[name]
    parts = {part: arrays[f"{name}_{part}"] for part in _CSR if f"{name}_{part}" in arrays}
    if not parts:
        return None
    if len(parts) < len(_CSR):
        raise DataError(f"of the sparse {name}, {name}_{min(set(_CSR) - set(parts))} is missing. Add it.")
    try:
        shape = tuple(int(length) for length in parts["shape"])
        matrix = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    except (TypeError, ValueError, IndexError) as error:
        raise DataError(f"the sparse {name} is no CSR matrix: {error}. Write it anew.") from error
    return matrix


def _links(arrays: Arrays, num_nodes: int) -> EdgeList:
    matrix = _matrix(arrays, "adjacency")
    if matrix is not None:
        return links_of(matrix, num_nodes)
    if "edge_index" not in arrays:
        raise DataError(f"there is neither 'adjacency' nor 'edge_index'. Add one; {_there(arrays)}.")
    if "edge_weight" in arrays:
        return weighted_links(arrays["edge_index"], arrays["edge_weight"], num_nodes)
    return links_of(arrays["edge_index"], num_nodes)


def _names(arrays: Arrays, key: str) -> NDArray[np.str_] | None:
    return arrays[key].ravel().astype(np.str_) if key in arrays else None


def _parts_of(arrays: Arrays, graph: Graph) -> dict[str, NDArray[np.int64]] | None:
    """The labelled nodes of each part of the split, if there are masks that say so."""
    if not any(key in arrays for key in _MASKS.values()):
        return None
    labelled = np.isin(np.arange(graph.num_nodes), graph.labelled)
    parts = {}
    for part, key in _MASKS.items():
        mask = arrays.get(key, np.zeros(labelled.size, dtype=bool))
        if mask.shape != labelled.shape or mask.dtype != np.bool_:
            raise DataError(f"'{key}' is {mask.dtype} of shape {mask.shape}. Give True or False for each node.")
        parts[part] = np.flatnonzero(mask & labelled)
    return parts


def _parts(name: str, matrix: Any) -> dict[str, Any]:
    if not isinstance(matrix, csr_array):
        return {name: matrix}
    return {f"{name}_{part}": np.array(getattr(matrix, part)) for part in _CSR}


def _told(path: Path, made: TableGraph) -> list[str]:
    graph, split = made.graph, made.split
    counted = ", ".join(
        f"{getattr(split, part).size:,} for {part}" for part in _MASKS if getattr(split, part).size
    )
    return [f"{path.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges; labels {counted}."]
