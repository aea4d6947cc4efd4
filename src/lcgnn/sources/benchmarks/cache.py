"""Parsed graphs on disk: one file each, free of pickle, checked before it is read and written atomically."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import secrets
from pathlib import Path

import numpy as np
import platformdirs
from scipy.sparse import csr_array

from lcgnn.csr import checked_csr
from lcgnn.graph import Graph, Split

# To be counted up whenever a parser's result or the layout below changes, so that old files are not read.
_MAGIC = b"lcgnn graph 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size

_log = logging.getLogger(__name__)


def folders() -> list[Path]:
    """Where data are looked for, and kept in the first: what LCGNN_DATA names, then the user's cache folder."""
    named, own = os.environ.get("LCGNN_DATA"), platformdirs.user_cache_dir("lcgnn", appauthor=False)
    return [Path(folder).expanduser() for folder in (named, own) if folder]


def location(name: str) -> Path:
    """The file that caches the graph of this name, in LCGNN_DATA or the user's cache folder."""
    return folders()[0] / f"{name}.graph"


def find(name: str) -> tuple[Graph, Split] | None:
    """The graph of this name and its split from the first folder that has it whole, or None."""
    read_in_turn = (read(folder / f"{name}.graph") for folder in folders())
    return next((found for found in read_in_turn if found is not None), None)


def read(path: Path) -> tuple[Graph, Split] | None:
    """The graph and split that were written here, or None if the file is missing, damaged or outdated."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_BYTES
    digest, arrays = content[len(_MAGIC) : start], content[start:]
    if not content.startswith(_MAGIC) or hashlib.sha256(arrays).digest() != digest:
        return None
    return _unpacked(arrays)


def write(path: Path, graph: Graph, split: Split) -> None:
    """Store a graph with sparse features and its split; readers see the whole file or none of it.

    A cache that cannot be written costs time, not results, so it is logged and not raised.
    """
    arrays = _packed(graph, split)
    keep(path, _MAGIC + hashlib.sha256(arrays).digest() + arrays, graph.name)


def keep(path: Path, content: bytes, name: str) -> None:
    """Write a file of the graph of this name whole or not at all, and log it if that cannot be done."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(content)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s is not cached: %s. Set LCGNN_DATA to a writable folder.", name, error)


def _packed(graph: Graph, split: Split) -> bytes:
    adjacency, features = graph.adjacency, csr_array(graph.features)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        name=np.array([graph.name, split.name]),
        adjacency_data=adjacency.data,
        adjacency_indices=adjacency.indices,
        adjacency_indptr=adjacency.indptr,
        features_data=features.data,
        features_indices=features.indices,
        features_indptr=features.indptr,
        num_features=np.array(graph.num_features),
        labels=graph.labels,
        class_names=np.array(graph.class_names),
        node_names=np.array([] if graph.node_names is None else graph.node_names, dtype=np.str_),
        num_source_links=np.array(-1 if graph.num_source_links is None else graph.num_source_links),
        train=split.train,
        validation=split.validation,
        test=split.test,
    )
    return buffer.getvalue()


def _unpacked(arrays: bytes) -> tuple[Graph, Split]:
    with np.load(io.BytesIO(arrays), allow_pickle=False) as stored:
        part = dict(stored)
    num_nodes = part["labels"].size
    graph_name, split_name = part["name"].tolist()
    adjacency = (part["adjacency_data"], part["adjacency_indices"], part["adjacency_indptr"])
    features = (part["features_data"], part["features_indices"], part["features_indptr"])
    num_source_links = int(part["num_source_links"])
    graph = Graph(
        graph_name,
        checked_csr(*adjacency, (num_nodes, num_nodes), "the cached adjacency matrix"),
        part["labels"],
        tuple(part["class_names"].tolist()),
        features=checked_csr(*features, (num_nodes, int(part["num_features"])), "the cached features"),
        node_names=part["node_names"] if part["node_names"].size else None,
        num_source_links=None if num_source_links < 0 else num_source_links,
    )
    return graph, Split(part["train"], part["validation"], part["test"], split_name)
