"""A graph in parts, as the rank that reports knows it: every node, but neither edges nor features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.parts.files import MANIFEST, Manifest, read_manifest, read_nodes
from lcgnn.sources.source import FileSource, Known, Progress


@dataclass(frozen=True, eq=False, kw_only=True)
class PartedGraph(Graph):
    """What is to be known of a graph's nodes to split its labels and to report on its predictions.

    Args:
        manifest: Of the folder that holds the parts.
        node_consistency: (N,) the nodes' label consistency.
    """

    manifest: Manifest
    node_consistency: NDArray[np.float64]

    @property
    def num_edges(self) -> int:
        return self.manifest.num_edges

    @property
    def num_features(self) -> int:
        return self.manifest.num_features

    @property
    def checksum(self) -> str:
        return cast(str, self.manifest.graph["checksum"])

    @property
    def label_consistency(self) -> NDArray[np.float64]:
        return self.node_consistency


def holds_parts(folder: Path) -> bool:
    """Whether a folder is meant to be a graph in parts."""
    return (folder / MANIFEST).is_file()


def load_parted(folder: Path) -> tuple[PartedGraph, Split]:
    """What the rank that reports has to know, and the split that the graph came with."""
    manifest = read_manifest(folder)
    facts = read_nodes(folder, manifest)
    graph = PartedGraph(
        name=str(manifest.graph["name"]),
        adjacency=csr_array((manifest.num_nodes, manifest.num_nodes), dtype=np.float32),
        labels=facts.labels,
        class_names=manifest.class_names,
        node_names=facts.names,
        manifest=manifest,
        node_consistency=facts.consistency,
    )
    return graph, facts.split


@dataclass(frozen=True)
class Parts(FileSource):
    """A graph that was cut into parts, of which every process that trains reads its own."""

    @property
    def name(self) -> str:
        return str(read_manifest(Path(self.path)).graph["name"])

    @property
    def parts(self) -> Path:
        return Path(self.path)

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        return Loaded(*load_parted(Path(self.path)))

    def load_whole(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        raise DataError(
            f"{self.path} is a graph in parts, which is only trained on. Name the graph that it was made of."
        )

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        raise DataError(
            f"{self.path} is a graph in parts, which is only trained on. Name the graph that it was made of: "
            "lcgnn predict RUN GRAPH"
        )
