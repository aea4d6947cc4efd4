"""Fused operations for the CPU, one a file: a plain torch version, a numba version and the choice between them.

Both versions compute the same thing, random numbers included; the tests hold them to that. The numba versions
run where the tensors are float32 on a CPU. ``LCGNN_KERNELS=plain`` in the environment, or ``use("plain")``,
switches all of them off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor

from lcgnn.errors import ConfigError

Choice = Literal["fused", "plain"]

_choice: str = os.environ.get("LCGNN_KERNELS", "fused")


@contextmanager
def use(choice: Choice) -> Iterator[None]:
    """Use the fused or the plain kernels inside a ``with`` block."""
    global _choice
    before, _choice = _choice, choice
    try:
        yield
    finally:
        _choice = before


def fused(*tensors: Tensor) -> bool:
    """Whether the numba version applies to these tensors."""
    if _choice not in ("fused", "plain"):
        raise ConfigError(f"LCGNN_KERNELS is {_choice!r}; it can be 'fused' or 'plain'.")
    return _choice == "fused" and all(
        tensor.device.type == "cpu" and tensor.dtype == torch.float32 for tensor in tensors
    )
