"""A graph in parts on disk: a manifest, one file a part, and one with what only the rank that reports needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet
from safetensors import SafetensorError
from safetensors.numpy import load_file
from scipy.sparse import csr_array

from lcgnn.errors import DataError, OutputError
from lcgnn.files import for_arrow, write_json, written_atomically
from lcgnn.graph import Graph, Split
from lcgnn.mapping import blocks
from lcgnn.sources.described import COUNT, OBJECT, OBJECTS, TEXT, TEXTS, checked_fields, read_described
from lcgnn.sources.parts.checks import AGAIN, checked_part
from lcgnn.sources.parts.part import USES, Part, split_uses
from lcgnn.sources.parts.tensors import write_arrays_in_pieces
from lcgnn.sources.tables.parquet import read_parquet

MANIFEST = "parts.json"
_FORMAT = "lcgnn parts 1"
_NODES = "nodes.parquet"
_GRAPH = ("name", "checksum", "split")
_FIELDS = {
    "graph": OBJECT,
    "num_nodes": COUNT,
    "num_edges": COUNT,
    "num_features": COUNT,
    "class_names": TEXTS,
    "cut_edges": COUNT,
    "nodes": OBJECT,
    "parts": OBJECTS,
}


@dataclass(frozen=True)
class StoredFile:
    """A file of the folder, and what it has to be."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class StoredPart:
    """A part's file, and its size as a graph.

    Args:
        file: Where it is.
        nodes: That it holds.
        boundary: Other parts' nodes with a neighbour in it.
        entries: Of its rows of the adjacency matrix, self-loops included.
    """

    file: StoredFile
    nodes: int
    boundary: int
    entries: int


@dataclass(frozen=True)
class Manifest:
    """What a folder of parts says of itself.

    Args:
        graph: Where the graph came from, and what else whoever trains on it wants to know.
        num_nodes: N.
        num_edges: E.
        num_features: F.
        class_names: The C names.
        cut_edges: Edges between two parts.
        nodes: The file that says of every node what is reported of it.
        parts: In the order of the ranks.
    """

    graph: Mapping[str, Any]
    num_nodes: int
    num_edges: int
    num_features: int
    class_names: tuple[str, ...]
    cut_edges: int
    nodes: StoredFile
    parts: tuple[StoredPart, ...]

    def summary(self) -> dict[str, Any]:
        """The sizes of the graph and of its parts, as plain data."""
        parts = [{"nodes": part.nodes, "boundary": part.boundary} for part in self.parts]
        return {"nodes": self.num_nodes, "edges": self.num_edges, "cut_edges": self.cut_edges, "parts": parts}

    def in_words(self) -> str:
        """How even the parts are, and how much lies between them."""
        nodes = [part.nodes for part in self.parts]
        boundary = max(part.boundary for part in self.parts)
        return (
            f"{len(nodes)} part{'s' if len(nodes) > 1 else ''} of {min(nodes):,} to {max(nodes):,} nodes, "
            f"{self.cut_edges:,} of {self.num_edges:,} edges between them, at most {boundary:,} boundary "
            "nodes each"
        )


@dataclass(frozen=True, eq=False)
class NodeFacts:
    """What is reported of every node of the whole graph, beside its prediction.

    Args:
        labels: (N,).
        split: Which of them are for what.
        consistency: (N,) label consistency, NaN where unknown.
        names: (N,) how the source calls its nodes, if it does.
    """

    labels: NDArray[np.int64]
    split: Split
    consistency: NDArray[np.float64]
    names: NDArray[np.str_] | None


def write_parts(
    folder: Path, graph: Graph, split: Split, parts: Iterable[Part], described: Mapping[str, Any]
) -> Manifest:
    """Write a graph in parts; the manifest comes last, so that a folder that has one is whole.

    Args:
        folder: Where to write; made if need be.
        graph: The graph.
        split: Its split.
        parts: The parts that it is cut into, one after the other.
        described: Goes into the manifest as ``graph``.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already. Delete it, or choose another --out folder.")
    split.check(graph)
    nodes = _write_nodes(folder / _NODES, graph, split)
    stored, beyond = [], 0
    for number, part in enumerate(parts):
        file = _write_part(folder / f"part-{number}.safetensors", part)
        stored.append(StoredPart(file, part.num_nodes, part.num_boundary, int(part.adjacency.nnz)))
        beyond += sum(
            int((part.adjacency.indices[entries] >= part.num_nodes).sum())
            for entries in blocks(part.adjacency.nnz)
        )
    manifest = Manifest(
        graph=dict(described),
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        num_features=graph.num_features,
        class_names=graph.class_names,
        cut_edges=beyond // 2,
        nodes=nodes,
        parts=tuple(stored),
    )
    write_json(folder / MANIFEST, {"format": _FORMAT, **asdict(manifest)})
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """What a folder of parts says of itself, or DataError."""
    path = folder / MANIFEST
    content = read_described(path, {"format": TEXT}, AGAIN)
    if content.pop("format") != _FORMAT:
        raise DataError(f"{path} is of another version of lcgnn. {AGAIN}")
    checked_fields(content, _FIELDS, str(path), AGAIN)
    checked_fields(content["graph"], dict.fromkeys(_GRAPH, TEXT), str(path), AGAIN, within="graph")
    return Manifest(
        graph=content["graph"],
        class_names=tuple(content["class_names"]),
        nodes=_stored_file(content["nodes"], path, "nodes"),
        parts=tuple(_stored_part(item, path, f"part {number}") for number, item in enumerate(content["parts"])),
        **{name: content[name] for name, kind in _FIELDS.items() if kind == COUNT},
    )


def _stored_file(content: Any, path: Path, which: str) -> StoredFile:
    fields = {"name": TEXT, "bytes": COUNT, "sha256": TEXT}
    told = checked_fields(content, fields, str(path), AGAIN, within=which)
    if Path(told["name"]).name != told["name"]:
        raise DataError(f"{path} is damaged ({which}: {told['name']!r} is no file of this folder). {AGAIN}")
    return StoredFile(told["name"], told["bytes"], told["sha256"])


def _stored_part(content: Any, path: Path, which: str) -> StoredPart:
    counts = ("nodes", "boundary", "entries")
    told = checked_fields(
        content, {"file": OBJECT, **dict.fromkeys(counts, COUNT)}, str(path), AGAIN, within=which
    )
    return StoredPart(_stored_file(told["file"], path, which), *(told[name] for name in counts))


def read_part(folder: Path, manifest: Manifest, number: int) -> Part:
    """One part, after a check that its file is the one that was written."""
    path = folder / manifest.parts[number].file.name
    _check(path, manifest.parts[number].file)
    try:
        arrays = load_file(path)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}). {AGAIN}") from error
    return checked_part(
        arrays,
        str(path),
        num_nodes=manifest.num_nodes,
        num_parts=len(manifest.parts),
        num_features=manifest.num_features,
        num_classes=len(manifest.class_names),
    )


def read_nodes(folder: Path, manifest: Manifest) -> NodeFacts:
    """What is reported of every node, after a check of the file."""
    path = folder / manifest.nodes.name
    _check(path, manifest.nodes)
    columns = _node_columns(path, manifest)
    train, validation, test = (np.flatnonzero(columns["use"] == USES.index(use)) for use in USES[1:])
    return NodeFacts(
        labels=columns["label"],
        split=Split(train, validation, test, manifest.graph["split"]),
        consistency=columns["label_consistency"],
        names=columns.get("name"),
    )


def _node_columns(path: Path, manifest: Manifest) -> dict[str, NDArray[Any]]:
    """The columns of the file of nodes, each of its type and with a row for every node."""
    table, _ = read_parquet(path)
    wanted = {"label": "i", "use": "i", "label_consistency": "f", "name": "U"}
    columns: dict[str, NDArray[Any]] = {}
    for name in [name for name in wanted if name in table.column_names or name != "name"]:
        if name not in table.column_names:
            raise DataError(f"{path}: there is no column {name!r}. {AGAIN}")
        try:
            cells = table.column(name).to_numpy()
            values = np.array(cells, dtype=np.str_) if wanted[name] == "U" else np.asarray(cells)
        except (pa.ArrowException, ValueError) as error:
            raise DataError(f"{path}: column {name!r} holds what cannot be read. {AGAIN}") from error
        if values.dtype.kind != wanted[name] or values.size != manifest.num_nodes:
            raise DataError(
                f"{path}: column {name!r} holds {values.size:,} cells of {values.dtype} for "
                f"{manifest.num_nodes:,} nodes. {AGAIN}"
            )
        columns[name] = values
    return columns


def _write_nodes(path: Path, graph: Graph, split: Split) -> StoredFile:
    columns = {
        "label": pa.array(graph.labels),
        "use": pa.array(split_uses(split, graph.num_nodes)),
        "label_consistency": pa.array(graph.label_consistency),
    }
    if graph.node_names is not None:
        columns["name"] = pa.array(graph.node_names.astype(object), pa.string())
    with written_atomically(path) as temporary:
        parquet.write_table(pa.table(columns), for_arrow(temporary))
    return _stored(path)


def _write_part(path: Path, part: Part) -> StoredFile:
    arrays: dict[str, NDArray[Any]] = {
        "nodes": part.nodes,
        "labels": part.labels,
        "uses": part.uses,
        **_matrix_arrays("adjacency", part.adjacency),
        "row_starts": part.row_starts,
        "send_rows": part.send_rows,
        "send_counts": part.send_counts,
        "receive_counts": part.receive_counts,
    }
    if isinstance(part.features, csr_array):
        arrays |= _matrix_arrays("features", part.features)
    elif part.features is not None:
        arrays["features"] = part.features
    with written_atomically(path) as temporary:
        write_arrays_in_pieces(temporary, arrays)
    return _stored(path)


def _matrix_arrays(name: str, matrix: csr_array) -> dict[str, NDArray[Any]]:
    return {f"{name}.values": matrix.data, f"{name}.columns": matrix.indices, f"{name}.offsets": matrix.indptr}


def _stored(path: Path) -> StoredFile:
    return StoredFile(path.name, path.stat().st_size, _sha256(path))


def _check(path: Path, expected: StoredFile) -> None:
    if not _is_file(path):
        raise DataError(
            f"{path} is missing. Copy it from where the graph was cut, or cut it again: lcgnn partition"
        )
    size = path.stat().st_size
    if size != expected.bytes:
        raise DataError(
            f"{path} has {size} bytes and should have {expected.bytes}: it was cut short or replaced. "
            "Copy it again, or cut the graph again: lcgnn partition"
        )
    if _sha256(path) != expected.sha256:
        raise DataError(
            f"{path} is not the file that was written: its checksum differs. "
            "Copy it again, or cut the graph again: lcgnn partition"
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # A name that no file system takes.
        return False


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
