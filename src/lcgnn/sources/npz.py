"""Graphs in one .npz file of numpy arrays, read without pickle.

- ``adjacency``: (N, N) weights, 0 where there is no edge, or its CSR form as ``adjacency_data``,
  ``adjacency_indices``, ``adjacency_indptr`` and ``adjacency_shape``. Instead there may be ``edge_index``, (2, M)
  node numbers, with ``edge_weight`` (M,) if they have weights.
- ``labels``: (N,) whole numbers, -1 where there is no label, or text, "" where there is none.
- ``features``: (N, F) numbers, or their CSR form as ``features_data`` and so on; may be left out. They are scaled
  as the columns of a table are, unless ``scaling`` says "none", "rows", "norm" or "columns".
- ``class_names``: (C,) what the labels 0 to C - 1 are called; may be left out.
- ``node_names``: (N,) what the nodes are called; may be left out.
- ``train_mask``, ``val_mask``, ``test_mask``: (N,) which labels are for what; without them all are for training.

The keys ``adj_*`` and ``attr_*``, as files of published benchmarks have them, stand for ``adjacency_*`` and
``features_*``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.csr import checked_csr
from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import KINDS, Scaling, ScalingKind
from lcgnn.features.structure import with_structural_features
from lcgnn.features.table import listed
from lcgnn.files import written_atomically
from lcgnn.graph import UNLABELLED, Features, Graph, Split
from lcgnn.limits import check_memory
from lcgnn.sources.benchmarks import BENCHMARKS
from lcgnn.sources.in_memory import all_labels, from_arrays, graph_of, has_label, numbers_of
from lcgnn.sources.links import EdgeList, links_of, links_of_edges
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.npy import unpacked_array
from lcgnn.sources.source import FileSource, Known, Progress, check_without_columns
from lcgnn.sources.tables.form import TableForm

# Beyond this a float is not every whole number.
_LARGEST_WHOLE = 2.0**53
_CSR = ("data", "indices", "indptr", "shape")
_OTHER_NAMES = {"adj": "adjacency", "attr": "features"}
_MASKS = {"train": "train_mask", "validation": "val_mask", "test": "test_mask"}
_KEYS = {
    *("adjacency", "edge_index", "edge_weight", "features", "labels", "class_names", "node_names", "scaling"),
    *_MASKS.values(),
    *(f"{matrix}_{part}" for matrix in ("adjacency", "features", *_OTHER_NAMES) for part in _CSR),
}

Arrays = Mapping[str, NDArray[Any]]


def load_npz(path: Path, *, name: str | None = None) -> Loaded:
    """The graph in an .npz file; DataError says what is wrong if there is none."""
    arrays, unknown = _read(path)
    try:
        made = _made(arrays, name or path.stem)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    notes = [f"{path.name}: {note}" for note in (*made.notes, *unknown)]
    return replace(made, notes=(*notes, *_told(path, made)))


def load_known_npz(
    path: Path, class_names: tuple[str, ...], *, name: str, scaling: Scaling | None = None
) -> Loaded:
    """The graph in an .npz file for a model that knows these classes.

    Labels may be missing altogether; one that the model does not know counts as none.

    Args:
        path: The file.
        class_names: Of the model.
        name: What to call the graph.
        scaling: What was done to the features that the model was trained on; None for nothing.
    """
    arrays, unknown = _read(path)
    try:
        links, features = _links(arrays, _num_nodes(arrays)), _matrix(arrays, "features")
        labels = _known_labels(arrays, class_names, unknown)
        if features is not None and scaling is not None and _scaling(arrays) != "none":
            features = _scaled(numbers_of(features), scaling)
        graph = graph_of(name, links, labels, class_names, features, _names(arrays, "node_names"))
        split = _split_of(arrays, graph) or all_labels(graph)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    notes = tuple(f"{path.name}: {note}" for note in (*links.notes, *unknown))
    if graph.features is None:
        return Loaded(with_structural_features(graph), split, notes, made_of_edges=True)
    return Loaded(graph, split, notes, None if scaling is None else TableForm(None, Encoding(), scaling))


def load_unlabelled_npz(path: Path, *, name: str) -> Loaded:
    """The graph in an .npz file in which no node need have a label."""
    arrays, _ = _read(path)
    labels, features = _labels(arrays), _matrix(arrays, "features")
    if labels is not None and has_label(labels).any():
        return load_npz(path, name=name)
    kind = _scaling(arrays)
    scaling = None if features is None or kind == "none" else Scaling.fit(numbers_of(features), kind)
    return load_known_npz(path, (), name=name, scaling=scaling)


def save_npz(path: Path, graph: Graph, split: Split | None = None) -> None:
    """Write a graph and, as masks, a split to an .npz file that `load_npz` makes the same graph of."""
    arrays: dict[str, Any] = {"labels": graph.labels, "class_names": np.array(graph.class_names)}
    arrays |= _parts("adjacency", graph.adjacency)
    if graph.features is not None:
        # They are what networks get already.
        arrays |= {**_parts("features", graph.features), "scaling": np.array("none")}
    if graph.node_names is not None:
        arrays["node_names"] = graph.node_names
    if split is not None:
        for part, key in _MASKS.items():
            arrays[key] = np.isin(np.arange(graph.num_nodes), getattr(split, part))
    with written_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """The arrays of a file by their usual names, and what there is to say of others."""
    if not path.is_file():
        raise DataError(f"{path} does not exist. Give an .npz file, or a folder with nodes.csv and edges.csv.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            known = {key: info for key, info in members.items() if key in _KEYS}
            size = sum(info.file_size for info in known.values())
            check_memory(f"{path}: unpacked, it", size)
            found = {key: unpacked_array(archive.read(info)) for key, info in known.items()}
    except DataError:
        raise
    except zipfile.BadZipFile as error:
        raise DataError(
            f"{path} cannot be read: it is no .npz file, or is damaged. Write it with numpy.savez."
        ) from error
    except Exception as error:  # zipfile and zlib raise nearly everything on broken bytes
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{path} cannot be read: {reason}. Write it with numpy.savez, with arrays only."
        ) from error
    unknown = sorted(set(members) - set(known))
    if not known:
        raise DataError(f"{path}: {_nothing_known(path.stem, unknown)}")
    notes = [f"not used, since no such array is known: {listed(unknown)}."] if unknown else []
    arrays = {_usual(key): array for key, array in found.items()}
    if len(arrays) < len(found):
        both = next(key for key in found if _usual(key) != key and _usual(key) in found)
        raise DataError(f"{path}: there are both {both!r} and {_usual(both)!r}. Keep one of them.")
    return arrays, notes


def _nothing_known(name: str, there: list[str]) -> str:
    """What a file needs that has nothing of it, and what it may be instead."""
    which = f"there are {listed(there)}" if there else "there are none"
    needed = "'labels', a whole number for each node and -1 where it has no label, and 'adjacency' or 'edge_index'"
    hint = ""
    if name in BENCHMARKS:
        hint = (
            f" If it is {BENCHMARKS[name].title} as published, give the name, not the file: lcgnn inspect {name}"
        )
    return f"it has no array of a name that is known ({which}). Add {needed}.{hint}"


def _usual(key: str) -> str:
    first, _, rest = key.partition("_")
    return f"{_OTHER_NAMES[first]}_{rest}" if first in _OTHER_NAMES else key


def _made(arrays: Arrays, name: str) -> Loaded:
    labels = _labels(arrays)
    if labels is None:
        raise DataError(
            f"there is no array 'labels', only {listed(sorted(arrays))}. Add it: a whole number for each node, -1 "
            "where it has no label."
        )
    made = from_arrays(
        _matrix(arrays, "features"),
        labels,
        _links(arrays, labels.size),
        class_names=_names(arrays, "class_names"),
        node_names=_names(arrays, "node_names"),
        name=name,
        scaling=_scaling(arrays),
    )
    split = _split_of(arrays, made.graph)
    return made if split is None else replace(made, split=split)


def _labels(arrays: Arrays) -> NDArray[Any] | None:
    labels = arrays.get("labels")
    if labels is not None and labels.ndim != 1:
        how = "labels.argmax(axis=1)" if labels.ndim == 2 and labels.shape[1] > 1 else "labels.ravel()"
        raise DataError(f"labels: shape {labels.shape}. Give one for each node, in one dimension: {how}")
    return labels if labels is None else _as_whole(labels)


def _as_whole(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels that are whole numbers with NaN where there is none as whole numbers with -1."""
    if labels.dtype.kind != "f":
        return labels
    known = np.where(np.isnan(labels), UNLABELLED, labels)
    is_whole = (known == np.floor(known)).all() and (np.abs(known) < _LARGEST_WHOLE).all()
    return known.astype(np.int64) if is_whole else labels


def _scaled(features: Features, scaling: Scaling) -> Features:
    """The features as a model was trained on them; other features are for the model to refuse."""
    return scaling.apply(features) if features.shape[1] == scaling.mean.size else features


def _scaling(arrays: Arrays) -> ScalingKind:
    told = str(arrays["scaling"]) if "scaling" in arrays else "auto"
    if told not in KINDS:
        raise DataError(f"'scaling' is {told!r}. It can be {', '.join(KINDS)}.")
    return told  # type: ignore[return-value]


def _num_nodes(arrays: Arrays) -> int:
    labels = _labels(arrays)
    if labels is not None:
        return int(labels.size)
    for matrix in (_matrix(arrays, "features"), _matrix(arrays, "adjacency")):
        if matrix is not None and matrix.ndim == 2:
            return int(matrix.shape[0])
    raise DataError("there are neither labels nor features, so how many nodes there are is not known. Add some.")


def _known_labels(arrays: Arrays, class_names: tuple[str, ...], notes: list[str]) -> NDArray[np.int64]:
    """Every node's place among the classes that a model knows, -1 where it has none or another, which is told."""
    values, names = _labels(arrays), _names(arrays, "class_names")
    if values is None:
        return np.full(_num_nodes(arrays), UNLABELLED, dtype=np.int64)
    given = has_label(values)
    if names is None:
        texts = [str(value) for value in values]
    elif values.dtype.kind in "iu" and -1 <= values.min() <= values.max() < names.size:
        texts = [str(names[value]) for value in values]
    else:
        raise DataError(f"labels: with {names.size} class names, give numbers from 0 to {names.size - 1}, or -1.")
    places = {name: place for place, name in enumerate(class_names)}
    found = [places.get(text, UNLABELLED) for text in texts]
    strange = sorted(
        {text for text, is_given in zip(texts, given, strict=True) if is_given and text not in places}
    )
    if strange:
        notes.append(f"Warning: labels: the model does not know {listed(strange)}. To add a class, train again.")
    return np.where(given, found, UNLABELLED)


def _matrix(arrays: Arrays, name: str) -> Any:
    """A dense array, a matrix in CSR form, or None."""
    parts = {part: arrays[f"{name}_{part}"] for part in _CSR if f"{name}_{part}" in arrays}
    if name in arrays:
        if parts:
            raise DataError(f"there are both {name!r} and its CSR form, {name}_{min(parts)}. Keep one of them.")
        return arrays[name]
    if not parts:
        return None
    if len(parts) < len(_CSR):
        raise DataError(f"of the sparse {name}, {name}_{min(set(_CSR) - set(parts))} is missing. Add it.")
    return checked_csr(parts["data"], parts["indices"], parts["indptr"], parts["shape"], f"the sparse {name}")


def _links(arrays: Arrays, num_nodes: int) -> EdgeList:
    matrix = _matrix(arrays, "adjacency")
    if matrix is not None:
        second = next((key for key in ("edge_index", "edge_weight") if key in arrays), None)
        if second is not None:
            raise DataError(f"there are both 'adjacency' and {second!r}. Keep one of the two forms of edges.")
        if matrix.ndim != 2 or matrix.shape != (num_nodes, num_nodes):
            raise DataError(f"adjacency: shape {matrix.shape} for {num_nodes} rows. Give a row for each node.")
        return links_of(matrix, num_nodes)
    if "edge_index" not in arrays:
        raise DataError(f"there is neither 'adjacency' nor 'edge_index', only {listed(sorted(arrays))}. Add one.")
    return links_of_edges(arrays["edge_index"], arrays.get("edge_weight"), num_nodes)


def _names(arrays: Arrays, key: str) -> NDArray[np.str_] | None:
    if key not in arrays:
        return None
    names = arrays[key]
    if names.ndim != 1:
        raise DataError(f"{key}: shape {names.shape}. Give one name for each, in one dimension.")
    try:
        return names.astype(np.str_)
    except UnicodeDecodeError as error:
        raise DataError(f"{key}: bytes that are not ASCII. Give text: np.char.decode({key}, 'utf-8')") from error


def _split_of(arrays: Arrays, graph: Graph) -> Split | None:
    """What the masks of the three parts say of the labelled nodes, if there are any."""
    if not any(key in arrays for key in _MASKS.values()):
        return None
    labelled = np.isin(np.arange(graph.num_nodes), graph.labelled)
    parts = {}
    for part, key in _MASKS.items():
        mask = arrays.get(key, np.zeros(labelled.size, dtype=bool))
        if mask.shape != labelled.shape or mask.dtype != np.bool_:
            raise DataError(f"'{key}' is {mask.dtype} of shape {mask.shape}. Give True or False for each node.")
        parts[part] = np.flatnonzero(mask & labelled)
    return Split(parts["train"], parts["validation"], parts["test"], "the file's")


def _parts(name: str, matrix: Any) -> dict[str, Any]:
    if not isinstance(matrix, csr_array):
        return {name: matrix}
    return {f"{name}_{part}": np.array(getattr(matrix, part)) for part in _CSR}


def _told(path: Path, made: Loaded) -> list[str]:
    graph, split = made.graph, made.split
    counted = ", ".join(
        f"{getattr(split, part).size:,} for {part}" for part in _MASKS if getattr(split, part).size
    )
    return [f"{path.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges; labels {counted}."]


@dataclass(frozen=True)
class Npz(FileSource):
    """A graph in one .npz file."""

    @property
    def name(self) -> str:
        return Path(self.path).resolve().stem or "graph"

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        return load_npz(Path(self.path), name=self.name)

    def load_for_labelling(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        return load_unlabelled_npz(Path(self.path), name=self.name)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        check_without_columns(known, self.path)
        scaling = None if known.form is None else known.form.scaling
        return load_known_npz(Path(self.path), known.class_names, name=self.name, scaling=scaling)
