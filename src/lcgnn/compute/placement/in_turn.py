"""A graph whose parts are in memory one after the other, for graphs that do not fit as a whole.

A part is a range of nodes with their rows of the normalised adjacency, cut down to the columns that they use.
Parts are written to disk once and read whenever it is their turn; matrices with a row for every node live in files
that the operating system maps into memory, and drops from it, as it sees fit. They are made where Python makes
temporary files (``TMPDIR``), and are gone with the process.

Ranges cost nothing to find, while METIS needs more memory than training on the whole graph would. How large a
part's border is decides about memory and speed alone, never about the result.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
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
from lcgnn.compute.kernels.csr import product
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.placement.base import EdgeRows, Kind
from lcgnn.compute.placement.whole import GraphRows
from lcgnn.compute.sparse import SparseMatrix, as_csr_tensor
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.files import SPACE_HINT, temporary_folder
from lcgnn.graph import Graph

# Columns of the features that are propagated at a time, and rows of logits that are in memory at a time.
_COLUMNS = 16
_ROWS = 2**16


def disk_tensor(num_rows: int, num_columns: int) -> Tensor:
    """A float32 tensor of zeros in a file of its own, which is deleted when the tensor is."""
    try:
        handle, name = tempfile.mkstemp(prefix="lcgnn-")
        try:
            # Where a mapping meets a full disk there is no error, but a signal that ends the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle, 0, max(4 * num_rows * num_columns, 1))
            flat = torch.from_file(name, shared=True, size=num_rows * num_columns, dtype=torch.float32)
        finally:
            os.close(handle)
            Path(name).unlink()  # The mapping keeps the file until it goes itself.
    except OSError as error:
        needed = 4 * num_rows * num_columns / 1e9
        raise OutputError(
            f"{needed:,.1f} GB of temporary files cannot be made: {error.strerror}. {SPACE_HINT}"
        ) from error
    return flat.view(num_rows, num_columns)


@dataclass(frozen=True)
class GraphPart:
    """A range of nodes; the rest is on disk.

    Args:
        first: The first node.
        last: The node after the last.
        path: Where its rows of the normalised adjacency are.
    """

    first: int
    last: int
    path: Path

    @property
    def nodes(self) -> slice:
        return slice(self.first, self.last)

    def dropout(self, dropout: Dropout) -> Dropout:
        """The whole matrix's dropout, on the rows of these nodes."""
        return Dropout(dropout.rate, dropout.key, torch.arange(self.first, self.last))

    def product(self, dense: Tensor) -> Tensor:
        """(n, D): the part's rows of the normalised adjacency times ``dense`` (N, D)."""
        used, matrix = self._rows()
        return product(matrix, dense[used])

    def product_by_columns(self, dense: Tensor) -> Tensor:
        """The same for a wide ``dense``, of which never more than a few columns are in memory."""
        used, matrix = self._rows()
        parts = [product(matrix, dense[used, k : k + _COLUMNS]) for k in range(0, dense.shape[1], _COLUMNS)]
        return torch.cat(parts, dim=1)

    def save(self, rows: csr_array) -> None:
        used, columns = np.unique(rows.indices, return_inverse=True)
        try:
            with self.path.open("wb") as file:
                for array in (used, rows.indptr, columns.astype(np.int32), rows.data):
                    np.save(file, array)
        except OSError as error:
            raise OutputError(f"Cannot write {self.path}: {error.strerror or error}. {SPACE_HINT}") from error

    def _rows(self) -> tuple[Tensor, Tensor]:
        """The nodes that the rows have an entry for, and the rows as a matrix (n, used)."""
        with self.path.open("rb") as file:
            used, offsets, columns, values = (np.load(file) for _ in range(4))
        matrix = csr_array((values, columns, offsets), shape=(self.last - self.first, used.size))
        return torch.from_numpy(used).long(), as_csr_tensor(matrix, torch.device("cpu"))


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
        scale = np.concatenate([1 / np.sqrt(rows.sum(axis=1)) for _, rows in self._looped_rows()])
        parts = []
        for (first, last), rows in self._looped_rows():
            values = np.repeat(scale[first:last], np.diff(rows.indptr))
            values *= rows.data
            values *= scale[rows.indices]
            parts.append(GraphPart(first, last, self._folder / str(first)))
            parts[-1].save(csr_array((values.astype(np.float32), rows.indices, rows.indptr), shape=rows.shape))
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
        for part in self.parts:
            result[part.nodes] = part.product_by_columns(features)
        return result

    def edge_rows(self, nodes: Tensor) -> EdgeRows:  # noqa: ARG002
        raise self.refused("Aggregation over the edges")

    def agreement(self, logits: Tensor) -> Tensor:
        total = torch.zeros(logits.shape[1], logits.shape[1], dtype=torch.float64)
        for rows in self._blocks():
            total += consistency.agreement(torch.softmax(logits[rows], dim=1))
        return total.to(logits.dtype)

    def by_rows(self, function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        result = self.zeros(rows.shape[1])
        for block in self._blocks():
            result[block] = function(rows[block])
        return result

    def zeros(self, num_columns: int) -> Tensor:
        return disk_tensor(self.num_nodes, num_columns)

    def _blocks(self) -> Iterator[slice]:
        return (slice(first, first + _ROWS) for first in range(0, self.num_nodes, _ROWS))

    def _looped_rows(self) -> Iterator[tuple[tuple[int, int], csr_array]]:
        """Every part's rows of the adjacency, in double precision, with self-loops where there are none."""
        adjacency = self.graph.adjacency
        for first, last in zip(self.bounds.tolist(), self.bounds[1:].tolist(), strict=False):
            rows = adjacency[first:last].astype(np.float64)
            own = np.arange(last - first)
            missing = (rows.diagonal(first) == 0).astype(np.float64)
            loops = csr_array((missing, (own, own + first)), shape=rows.shape)
            looped = csr_array(rows + loops)
            looped.eliminate_zeros()
            looped.sort_indices()
            yield (first, last), looped
