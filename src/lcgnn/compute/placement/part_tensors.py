"""A part as the models see it: products that fetch the boundary rows, masks by the nodes' numbers in the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.kernels.attention import Neighbourhood
from lcgnn.compute.kernels.csr import Entries, blended_product, product
from lcgnn.compute.kernels.objective import class_agreement
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.placement.world import BOUNDARY_ROWS, World
from lcgnn.compute.sparse import SparseMatrix, as_csr_tensor
from lcgnn.errors import DataError
from lcgnn.sources.parts.part import Part


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
        self._num_rows = part.num_nodes + part.num_boundary
        self._memory: Tensor | None = None

    def extended(self, rows: Tensor) -> Tensor:
        """(n + b, D) the rows of own and boundary nodes, given the own nodes' (n, D)."""
        return self._fill(rows.new_empty(self._num_rows, rows.shape[1]), rows)

    def extended_for_now(self, rows: Tensor) -> Tensor:
        """The same in memory that the next call writes to: fresh memory costs as much as what is sent."""
        if self._memory is None or self._memory.shape[1] != rows.shape[1]:
            self._memory = rows.new_empty(self._num_rows, rows.shape[1])
        return self._fill(self._memory, rows)

    def _fill(self, result: Tensor, rows: Tensor) -> Tensor:
        num_own = rows.shape[0]
        sent = rows.index_select(0, self.send_rows)
        received = self.world.send_rows(
            sent, self.send_counts, self.receive_counts, BOUNDARY_ROWS, into=result[num_own:]
        )
        result[:num_own] = rows
        received()
        return result

    def give_back(self, gradient: Tensor, own: Tensor) -> None:
        """Send the boundary rows' gradient (b, D) to their holders; what comes from others is added to ``own``."""
        send, receive = self.receive_counts, self.send_counts
        own.index_add_(0, self.send_rows, self.world.send_rows(gradient, send, receive, BOUNDARY_ROWS)())


class _Extended(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, boundary: Boundary) -> Tensor:
        ctx.boundary, ctx.num_own = boundary, rows.shape[0]
        return boundary.extended(rows)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        gradient = grad_output[: ctx.num_own].clone()
        ctx.boundary.give_back(grad_output[ctx.num_own :], gradient)
        return gradient, None


@dataclass(frozen=True, eq=False, kw_only=True)
class PartNeighbourhood(Neighbourhood):
    """The own nodes' neighbours, boundary nodes after own ones.

    Args:
        boundary: Fetches the boundary nodes' rows.
    """

    boundary: Boundary

    def extended(self, rows: Tensor) -> Tensor:
        result: Tensor = _Extended.apply(rows, self.boundary)  # type: ignore[no-untyped-call]
        return result


@dataclass(frozen=True, eq=False, kw_only=True)
class PartAdjacency(SparseMatrix):
    """The own nodes' rows (n, n + b) of a symmetric matrix.

    What reaches an own node in the backward pass is, by symmetry, the product with its row again.

    Args:
        boundary: Fetches the boundary nodes' rows of what the matrix is multiplied with.
    """

    boundary: Boundary

    def product(self, dense: Tensor) -> Tensor:
        return product(self.matrix, self.boundary.extended_for_now(dense))

    def transposed_product(self, dense: Tensor) -> Tensor:
        return self.product(dense)

    def operand(self, dense: Tensor) -> tuple[Entries, Tensor]:
        entries, _ = super().operand(dense)
        return entries, self.boundary.extended_for_now(dense)

    def blended(self, dense: Tensor, factor: float, added: Tensor, share: float) -> Tensor:
        return blended_product(self.matrix, self.boundary.extended_for_now(dense), factor, added, share)

    @property
    def _all_rows_here(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class PartRows:
    """Some own nodes' rows of the adjacency. The whole product is made, for which all ranks fetch boundary rows.

    Args:
        adjacency: Of the part.
        nodes: (n,) by their number here.
    """

    adjacency: PartAdjacency
    nodes: Tensor

    @property
    def columns(self) -> None:
        return None

    def softmax_product(self, logits: Tensor) -> Tensor:
        return (self.adjacency @ torch.softmax(logits, dim=1))[self.nodes]


class _Gathered(torch.autograd.Function):
    """All ranks' rows; each rank keeps its own rows' part of the gradient, which all of them know."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, world: World, counts: Sequence[int]) -> Tensor:
        ctx.own = world.rank, list(counts)
        return world.gather(rows.contiguous(), counts)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        rank, counts = ctx.own
        return torch.split(grad_output, counts)[rank], None, None


class PartTensors(Placement):
    """A part of a graph as the models see it: only the own nodes are nodes, and the other ranks hold the rest.

    Of every loss all ranks compute the whole, from the few labelled rows, which they gather, and from the (C, C)
    class agreement, which they add up. The gradient of what was gathered or added is then known everywhere and
    stays at home.

    Args:
        part: The part.
        num_classes: C.
        world: The ranks, one a part.
    """

    kind: ClassVar[Kind] = "on ranks"
    alone: ClassVar[bool] = False

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

    @property
    def row_numbers(self) -> Tensor:
        return self._numbers

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
        rows = as_csr_tensor(self.part.adjacency, self.device)
        return PartAdjacency(matrix=rows, symmetric=True, boundary=self._boundary)

    @cached_property
    def neighbourhood(self) -> PartNeighbourhood:
        # The order of a row's entries tells their numbers in the graph.
        rows = self.part.adjacency
        shifts = self.part.row_starts - rows.indptr[:-1]
        return PartNeighbourhood(pattern=rows, device=self.device, shifts=shifts, boundary=self._boundary)

    @cached_property
    def labels(self) -> Tensor:
        return torch.from_numpy(self.part.labels).to(self.device)

    def edge_rows(self, nodes: Tensor) -> PartRows:
        return PartRows(self.adjacency, nodes)

    def class_agreement(self, logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        own, carry_back = class_agreement(logits)
        return self.sum(own), carry_back

    def scores(self, log_likelihood: Tensor, correct: Tensor) -> tuple[float, int]:
        own = [-float(log_likelihood.double().sum()), int(correct.sum()), correct.shape[0]]
        loss, right, count = self.sum(torch.tensor(own, dtype=torch.float64)).tolist()
        return loss / count, int(right)

    def sum(self, tensor: Tensor) -> Tensor:
        return self.world.sum(tensor)

    def counts(self, count: int) -> list[int]:
        return self.world.counts(count)

    def gather(self, rows: Tensor, counts: Sequence[int]) -> Tensor:
        result: Tensor = _Gathered.apply(rows, self.world, counts)  # type: ignore[no-untyped-call]
        return result

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        self.world.sum_gradients(parameters)
