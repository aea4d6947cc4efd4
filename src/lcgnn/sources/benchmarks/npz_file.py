"""Benchmark graphs that are published as one npz file without a split that everybody uses."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lcgnn.errors import DataError, DownloadError
from lcgnn.features.scaling import Scaling
from lcgnn.graph import Features, Graph, Split
from lcgnn.sources.benchmarks import cache
from lcgnn.sources.benchmarks.download import download
from lcgnn.sources.benchmarks.registry import Benchmark
from lcgnn.sources.source import Progress, silent
from lcgnn.sources.splits import random_split

TIMEOUT_SECONDS = 10


@dataclass(frozen=True, eq=False)
class Contents:
    """What a published file says.

    Args:
        links: (2, M) both ends of every link, directions, duplicates and self-loops as published.
        num_links: How many links these are; a matrix with an entry at both ends of each has half as many.
        labels: (N,) the classes' numbers, which may start at any.
        features: (N, F) as published.
    """

    links: NDArray[np.int64]
    num_links: int
    labels: NDArray[np.int64]
    features: Features


@dataclass(frozen=True)
class NpzFile(Benchmark):
    """A benchmark in one published file, looked for in LCGNN_DATA, the cache and at its public address.

    Links become undirected edges without weight, each once; self-loops are dropped. Features are scaled by one
    rule (`scaled`). There is no split that everybody uses, so that its own is a random draw, always the same: 20
    labels of every class, 500 for validation and 1,000 for test, fewer in a small graph.

    Args:
        address: Where the file is published, of one commit.
        sha256: Of the file.
        class_names: In the order of the published numbers; () where nobody named them.
        scaling: What the features are divided by.
    """

    has_public_split: ClassVar[bool] = False

    address: str = ""
    sha256: str = ""
    class_names: tuple[str, ...] = ()
    scaling: Literal["norm", "columns"] = "norm"

    @abstractmethod
    def parse(self, content: bytes) -> Contents:
        """What the checked file says."""

    @property
    def file_name(self) -> str:
        """Of the published file."""
        return self.address.rpartition("/")[2]

    def read(self, *, root: Path | None = None, progress: Progress | None = None) -> tuple[Graph, Split]:
        progress = progress or silent
        found = self._found([root] if root else cache.folders())
        content = self._downloaded(progress) if found is None else self._checked(found)
        progress(f"reading {self.key}", 0, None)
        graph = self._graph(self.parse(content))
        return graph, random_split(graph, seed=0)

    def is_here(self) -> bool:
        return self._found(cache.folders()) is not None

    def _found(self, folders: list[Path]) -> Path | None:
        paths = (folder / self.file_name for folder in folders)
        return next((path for path in paths if path.is_file()), None)

    def _checked(self, path: Path) -> bytes:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}. Make the file readable.") from error
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise DataError(
                f"{path}: not the published file (its sha256 differs). "
                "Replace it, or take it away and let lcgnn fetch it."
            )
        return content

    def _downloaded(self, progress: Progress) -> bytes:
        try:
            content = download(self.address, progress, TIMEOUT_SECONDS)
            if hashlib.sha256(content).hexdigest() != self.sha256:
                raise DownloadError(f"{self.address}: what is there has a wrong checksum")
        except DownloadError as error:
            raise DownloadError(
                f"{self.key} is not on this machine and cannot be fetched ({error}). "
                f"Put {self.file_name} from there into a folder and set LCGNN_DATA to it."
            ) from error
        cache.keep(cache.folders()[0] / self.file_name, content, self.key)
        return content

    def _graph(self, published: Contents) -> Graph:
        numbers, labels = np.unique(published.labels, return_inverse=True)
        return Graph.from_edges(
            self.key,
            published.links,
            labels.size,
            labels,
            self.class_names or tuple(map(str, numbers)),
            features=scaled(published.features, self.scaling),
            num_source_links=published.num_links,
        )


def scaled(features: Features, scaling: str) -> Features:
    """(N, F) the features as a network can learn from them: counts sparse, measurements dense.

    Counts ("norm") are divided row by row by their Euclidean norm. Divided by their sum, as Planetoid's are, the
    entries of a long row are so small that a network stays unsure of every class. What measures something
    ("columns") is standardised.
    """
    if scaling == "columns":
        return Scaling.fit(features, "columns").apply(features)
    counts = csr_array(features, dtype=np.float64)
    norms: NDArray[Any] = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms != 0)
    return csr_array(diags_array(inverse) @ counts).astype(np.float32)
