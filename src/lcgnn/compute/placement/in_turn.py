"""A graph whose parts are in memory one after the other, for graphs that do not fit as a whole.

A part is a range of nodes with their rows of the normalised adjacency, cut down to the columns that they use.
Parts are written to disk once and read whenever it is their turn; matrices with a row for every node live in files
that the operating system maps into memory, and drops from it, as it sees fit. They are made where Python makes
temporary files (``TMPDIR``), and are gone with the process.

Ranges cost nothing to find, while METIS needs more memory than training on the whole graph would. How large a
part's border is decides about memory and speed alone, never about the result.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.kernels.attention import Neighbourhood
from lcgnn.compute.kernels.csr import csr_tensor, product
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.placement.base import EdgeRows, Kind
from lcgnn.compute.placement.disk import disk_tensor
from lcgnn.compute.placement.rows import NormalizedRows
from lcgnn.compute.placement.whole import GraphRows
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.files import SPACE_HINT, temporary_folder
from lcgnn.graph import Graph
from lcgnn.mapping import blocks, let_go

# Columns of the features that are propagated at a time, and rows of logits that are in memory at a time.
_COLUMNS = 16
_ROWS = 2**16


@dataclass(frozen=True)
class GraphPart:
    """A range of nodes; the rest is on disk.

    Args:
        first: The first node.
        last: The node after the last.
        num_nodes: Of the whole graph.
        path: Where its rows of the normalised adjacency are, but for the names' endings.
    """

    first: int
    last: int
    num_nodes: int
    path: Path

    @property
    def nodes(self) -> slice:
        return slice(self.first, self.last)

    def dropout(self, dropout: Dropout) -> Dropout:
        """The whole matrix's dropout, on the rows of these nodes."""
        return Dropout(dropout.rate, dropout.key, torch.arange(self.first, self.last))

    def product(self, dense: Tensor) -> Tensor:
        """(n, D): the part's rows of the normalised adjacency times ``dense`` (N, D)."""
        return product(self._rows(), dense)

    def save(self, rows: Iterable[csr_array]) -> None:
        """Write the rows, which come some at a time."""
        degrees = []
        try:
            with self._file("columns").open("wb") as columns, self._file("values").open("wb") as values:
                for block in rows:
                    degrees.append(np.diff(block.indptr))
                    block.indices.astype(np.int32, copy=False).tofile(columns)
                    block.data.tofile(values)
            offsets = np.concatenate([[0], np.cumsum(np.concatenate(degrees), dtype=np.int64)])
            if offsets[-1] > np.iinfo(np.int32).max:
                raise DataError(f"A part with {offsets[-1]:,} entries is too large. Ask for more parts.")
            offsets.astype(np.int32).tofile(self._file("offsets"))
        except OSError as error:
            raise OutputError(f"Cannot write {self.path}: {error.strerror or error}. {SPACE_HINT}") from error

    def _rows(self) -> Tensor:
        """The rows as a matrix (n, N)."""
        offsets, columns = (np.fromfile(self._file(name), dtype=np.int32) for name in ("offsets", "columns"))
        values = np.fromfile(self._file("values"), dtype=np.float32)
        arrays = torch.from_numpy(offsets), torch.from_numpy(columns), torch.from_numpy(values)
        return csr_tensor(*arrays, (self.last - self.first, self.num_nodes))

    def _file(self, ending: str) -> Path:
        return self.path.with_suffix(f".{ending}")


class PartwiseTensors(GraphRows):
    """A graph as the models see it, a part at a time, on a CPU; logits and gradients are on disk.

    Args:
        graph: The graph; its arrays may be memory maps.
        num_parts: The more, the less memory is needed at once.
    """

    kind: ClassVar[Kind] = "in turn"

    def __init__(self, graph: Graph, num_parts: int) -> None:
        super().__init__(graph, "cpu")
        if not 1 <= num_parts <= graph.num_nodes:
            raise ConfigError(f"{graph.name} can be cut into 1 to {graph.num_nodes} parts, not {num_parts}.")
        self.num_parts = num_parts
        self._folder = temporary_folder("parts")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @cached_property
    def parts(self) -> tuple[GraphPart, ...]:
        """The parts, which have about the same number of edges."""
        rows = NormalizedRows.of(self.graph.adjacency)
        parts = []
        for first, last in zip(self.bounds.tolist(), self.bounds[1:].tolist(), strict=False):
            parts.append(GraphPart(first, last, self.num_nodes, self._folder / str(first)))
            parts[-1].save(rows.blocks(np.arange(first, last)))
        return tuple(parts)

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """(K + 1,) where every part begins."""
        work = self.graph.adjacency.indptr + np.arange(self.num_nodes + 1)
        cuts = np.searchsorted(work, np.linspace(0, work[-1], self.num_parts + 1)[1:-1])
        return np.unique(np.concatenate([[0], cuts, [self.num_nodes]]))

    @property
    def adjacency(self) -> SparseMatrix:
        raise self.refused("The adjacency of all nodes at once")

    @property
    def neighbourhood(self) -> Neighbourhood:
        raise self.refused("The neighbourhood of all nodes at once")

    @cached_property
    def propagated(self) -> Tensor:
        features = self.features
        if not isinstance(features, Tensor):
            raise DataError(
                f"{self.graph.name} has sparse features, and parts need dense ones. Train it without parts."
            )
        result = disk_tensor(self.num_nodes, self.num_features)
        for first in range(0, self.num_features, _COLUMNS):
            columns = slice(first, first + _COLUMNS)
            taken = self._columns(features, columns)
            for part in self.parts:
                result[part.nodes, columns] = part.product(taken)
                let_go(result)
        return result

    def _columns(self, features: Tensor, columns: slice) -> Tensor:
        """Some columns of all features in memory, read some rows at a time."""
        taken = torch.empty(self.num_nodes, features[:1, columns].shape[1])
        for rows in blocks(self.num_nodes, _ROWS):
            taken[rows] = features[rows, columns]
            let_go(features)
        return taken

    def edge_rows(self, nodes: Tensor) -> EdgeRows:  # noqa: ARG002
        raise self.refused("Aggregation over the edges")

    def agreement(self, logits: Tensor) -> Tensor:
        total = torch.zeros(logits.shape[1], logits.shape[1], dtype=torch.float64)
        for rows in self._blocks(logits):
            total += consistency.agreement(torch.softmax(logits[rows], dim=1))
        return total.to(logits.dtype)

    def by_rows(self, function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        result = self.zeros(rows.shape[1])
        for block in self._blocks(rows, result):
            result[block] = function(rows[block])
        return result

    def zeros(self, num_columns: int) -> Tensor:
        return disk_tensor(self.num_nodes, num_columns)

    def added(self, rows: Tensor, others: Tensor, factor: float) -> Tensor:
        for block in self._blocks(rows, others):
            rows[block].add_(others[block], alpha=factor)
        return rows

    def _blocks(self, *tensors: Tensor) -> Iterator[slice]:
        """Some rows at a time; of the tensors, no others are in memory."""
        for rows in blocks(self.num_nodes, _ROWS):
            yield rows
            let_go(*tensors)
