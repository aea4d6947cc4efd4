"""All nodes of a graph, and all of them in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import torch
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.attention import Neighbourhood
from lcgnn.compute.kernels.objective import class_agreement
from lcgnn.compute.kernels.threads import is_one_block
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.sparse import SelectedRows, SparseMatrix, as_tensor, normalized_adjacency, with_self_loops
from lcgnn.errors import DataError
from lcgnn.graph import Graph

if TYPE_CHECKING:
    from lcgnn.compute.placement.ordered import OrderedTensors

# Nodes from which on the order of the rows matters: smaller graphs lie in the processor's caches anyway.
LARGE = 2**18


class GraphRows(Placement):
    """A row for every node of a graph, in the graph's order.

    Args:
        graph: The graph.
        device: Where the tensors live.
    """

    def __init__(self, graph: Graph, device: torch.device | str = "cpu") -> None:
        self.graph = graph
        self.device = torch.device(device)

    @property
    def num_nodes(self) -> int:
        return self.graph.num_nodes

    @property
    def num_features(self) -> int:
        return self.graph.num_features

    @property
    def num_classes(self) -> int:
        return self.graph.num_classes

    @property
    def row_numbers(self) -> None:
        return None

    @cached_property
    def features(self) -> SparseMatrix | Tensor:
        features = self.graph.features
        if features is None:
            raise DataError(
                f"{self.graph.name} has no node features, which this method needs. "
                "Use a method that needs none, or add features."
            )
        if isinstance(features, csr_array):
            return SparseMatrix.of(features, self.device)
        return as_tensor(features, self.device)

    @cached_property
    def labels(self) -> Tensor:
        return torch.tensor(self.graph.labels, device=self.device)


class GraphTensors(GraphRows):
    """A graph that is whole on a device; each form is made on first use and kept."""

    kind: ClassVar[Kind] = "whole"
    holds_all: ClassVar[bool] = True

    @cached_property
    def adjacency(self) -> SparseMatrix:
        return SparseMatrix.of(normalized_adjacency(self.graph.adjacency), self.device, symmetric=True)

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        return Neighbourhood(with_self_loops(self.graph.adjacency), self.device)

    @property
    def links(self) -> csr_array:
        return self.graph.adjacency

    @cached_property
    def ordered(self) -> OrderedTensors | None:
        """The graph in an order in which many more neighbours are near each other, if it is large and has one."""
        from lcgnn.compute.placement.ordered import OrderedTensors, better_order

        large = self.num_nodes >= LARGE and self.device.type == "cpu"
        order = better_order(self.graph) if large else None
        return None if order is None else OrderedTensors(self.graph, order, self.device)

    def class_agreement(self, logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        divided = fused(logits) and not is_one_block(self.num_nodes)
        return class_agreement(logits) if divided else super().class_agreement(logits)

    def edge_rows(self, nodes: Tensor) -> SelectedRows:
        return SelectedRows.of(self.adjacency.matrix, nodes)
