"""The door to the compiled kernels: whether they are wanted, whether they work here, and what happens if not.

The compiled versions run where the tensors are float32 on a CPU. ``LCGNN_KERNELS=plain`` in the environment, or
``use("plain")``, switches all of them off; numba is not even imported then. Before the first of them is used, a
small kernel that needs all that the others need is compiled and compared with what it should give. Where that
fails, for whatever reason (numba is missing or of another version, the processor is unknown to it, ...), one line
says so and the plain versions take over.

Machine code is kept on disk (``code_folder``). Where there is no place for it, it is compiled anew by every
process, which takes half a minute, and one line says so.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from lcgnn.errors import ConfigError

Choice = Literal["fused", "plain"]

# A small number that compiled code knows while it is compiled, so that loops over it are unrolled: it is the
# length of a tuple, which is part of the tuple's type. An empty one says nothing.
Constant = tuple[int, ...]

_LARGEST_CONSTANT = 8
_LONGEST_REASON = 160

_log = logging.getLogger(__name__)
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
    """Whether the compiled version applies to these tensors; without any, whether compiled versions are used."""
    if _choice not in ("fused", "plain"):
        raise ConfigError(f"LCGNN_KERNELS is {_choice!r}; it can be 'fused' or 'plain'.")
    # A loop: this is asked many times an epoch, and a generator takes longer than all that it asks.
    for tensor in tensors:
        if tensor.dtype is not torch.float32 or not tensor.is_cpu:
            return False
    return _choice == "fused" and _work()


def ready() -> None:
    """Find out whether the compiled kernels work, so that processes that are started from here need not tell."""
    fused()


@cache
def _work() -> bool:
    reason = _problem()
    if reason:
        _log.warning("lcgnn: the plain kernels, which are slower, take over from the compiled ones: %s", reason)
        # The processes that this one starts fall back as well, and do not say it again.
        os.environ["LCGNN_KERNELS"] = "plain"
    return not reason


def _problem() -> str:
    """Why the compiled kernels cannot be used here, in one line; empty if they can."""
    try:
        from lcgnn.compute.kernels.compiled.probe import deviation

        found = deviation()
    except Exception as error:
        # Whatever it is, the plain versions do not have it.
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0] if lines else ''}"[:_LONGEST_REASON]
    return "" if found < 1e-5 else f"what they compute is off by {found:.1g}."


@cache
def constant(number: int) -> Constant:
    """A number as a ``Constant``, if it is small enough for this to pay."""
    return (0,) * number if number <= _LARGEST_CONSTANT else ()
