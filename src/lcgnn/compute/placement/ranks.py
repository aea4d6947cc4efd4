"""What training asks of the other processes, where several train together."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor


class Ranks:
    """The processes that train together, each on the nodes that it holds. This one holds all of them."""

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum of every process's tensor, outside of autograd."""
        return tensor

    def total(self, count: int) -> int:
        """The sum of every process's count."""
        return int(self.sum(torch.tensor(count)))

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every parameter's gradient by the sum of all processes' gradients."""


class PartsInTurn(Ranks):
    """One process that holds a graph's parts in turn."""


ALONE = Ranks()
