"""A part as the models see it: products that fetch the boundary rows, masks by the nodes' numbers in the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.distributed.parts import Part
from lcgnn.distributed.world import World
from lcgnn.errors import DataError
from lcgnn.kernels.csr import product
from lcgnn.kernels.dropout import Dropout
from lcgnn.sparse import GraphTensors, SparseMatrix, as_csr_tensor


class Boundary:
    """Fetches the rows of other parts' nodes that have a neighbour here.

    Args:
        part: Says which rows go where.
        world: The ranks, one a part.
    """

    def __init__(self, part: Part, world: World) -> None:
        self.world = world
        self.send_rows = torch.from_numpy(part.send_rows).to(world.device)
        self.send_counts = part.send_counts.tolist()
        self.receive_counts = part.receive_counts.tolist()

    def fetch(self, rows: Tensor) -> Tensor:
        """(b, D) the boundary nodes' rows, given the own nodes' (n, D)."""
        return self.start(rows)()

    def start(self, rows: Tensor) -> Callable[[], Tensor]:
        """Begin to fetch; the rest of the way is to call what is returned."""
        sent = rows.index_select(0, self.send_rows)
        return self.world.send_rows(sent, self.send_counts, self.receive_counts, BOUNDARY_ROWS)


BOUNDARY_ROWS = "boundary rows"


@dataclass(frozen=True, eq=False, kw_only=True)
class PartAdjacency(SparseMatrix):
    """The own nodes' rows of a symmetric matrix.

    What reaches an own node in the backward pass is, by symmetry, the product with its row again.

    Args:
        matrix: (n, n) the columns of own nodes.
        beyond: (n, b) the columns of boundary nodes.
        boundary: Fetches the rows that ``beyond`` is multiplied with.
    """

    beyond: Tensor
    boundary: Boundary

    def product(self, dense: Tensor) -> Tensor:
        fetched = self.boundary.start(dense)
        result = product(self.matrix, dense)
        return result.add_(product(self.beyond, fetched()))

    def transposed_product(self, dense: Tensor) -> Tensor:
        return self.product(dense)


class PartTensors(GraphTensors):
    """A part of a graph as the models see it: only the own nodes are nodes.

    Args:
        part: The part.
        num_classes: C.
        world: The ranks, one a part.
    """

    def __init__(self, part: Part, num_classes: int, world: World) -> None:
        self.part, self.world, self.device = part, world, world.device
        self._num_classes = num_classes
        self._numbers = torch.from_numpy(part.nodes).to(self.device)
        self._boundary = Boundary(part, world)

    @property
    def num_nodes(self) -> int:
        return self.part.num_nodes

    @property
    def num_features(self) -> int:
        return 0 if self.part.features is None else int(self.part.features.shape[1])

    @property
    def num_classes(self) -> int:
        return self._num_classes

    def dropout(self, rate: float, key: int) -> Dropout:
        return Dropout(rate, key, self._numbers)

    @cached_property
    def features(self) -> SparseMatrix | Tensor:
        features = self.part.features
        if features is None:
            raise DataError("The graph has no node features, which this method needs. Add features.")
        if isinstance(features, csr_array):
            return SparseMatrix.of(features, self.device, rows=self._numbers)
        return torch.from_numpy(features).to(self.device)

    @cached_property
    def adjacency(self) -> PartAdjacency:
        rows = self.part.adjacency
        own = as_csr_tensor(csr_array(rows[:, : self.num_nodes]), self.device)
        beyond = as_csr_tensor(csr_array(rows[:, self.num_nodes :]), self.device)
        return PartAdjacency(matrix=own, transpose=own, beyond=beyond, boundary=self._boundary)

    @cached_property
    def labels(self) -> Tensor:
        return torch.from_numpy(self.part.labels).to(self.device)
