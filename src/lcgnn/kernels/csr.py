"""torch CSR tensors without torch's warning that they are in beta."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

with warnings.catch_warnings():
    # torch says so once per process, at the first CSR tensor; this is that one.
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)


def csr_tensor(offsets: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """A CSR tensor over arrays that are known to be consistent, without a check or a copy."""
    return torch.sparse_csr_tensor(offsets, columns, values, tuple(shape), check_invariants=False)
