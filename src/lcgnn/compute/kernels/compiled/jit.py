"""How numba compiles here, and the few scalar functions that the kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from lcgnn.compute.kernels.compiled.kept import keep

Function = TypeVar("Function", bound=Callable[..., Any])

# Reordering and contraction are free to the compiler; NaN and infinity keep their meaning.
MATH = {"reassoc", "contract", "arcp", "nsz"}

# A position in an array that the compiler cannot know to be at least 0 is taken for one from the end where it is
# negative, and that question takes as long as a short row's arithmetic. Unsigned ones are not asked.
ONE, TWO = np.uint64(1), np.uint64(2)


def compiled(function: Function) -> Function:
    """Compile for one thread on first use; the machine code is kept on disk."""
    dispatcher = numba.njit(nogil=True, error_model="numpy", fastmath=MATH)(function)
    keep(dispatcher)
    return cast(Function, dispatcher)


def inlined(function: Function) -> Function:
    """A helper that is compiled into its callers.

    Compiled functions must not call each other: fresh from the compiler and from the disk they may be linked with
    different copies of what they call, which round differently, and a run would not repeat to the bit.
    """
    return cast(Function, numba.njit(inline="always", error_model="numpy", fastmath=MATH)(function))


@inlined
def value_of(number: Any, otherwise: Any) -> Any:
    """Inside compiled code: the constant's value, or the other one if it has none."""
    return len(number) if len(number) else otherwise


@inlined
def exp(x: Any) -> Any:
    """e^x in float32 to one or two units in the last place, in a form that the compiler can vectorise.

    Cody and Waite's reduction to [-ln 2 / 2, ln 2 / 2] and the usual polynomial of degree 6; 0 below -87.
    """
    x = max(x, np.float32(-87.0))
    n = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    r = x - n * np.float32(0.693359375)
    r = r - n * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1.0)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@inlined
def scramble(x: Any) -> Any:
    """A bijection of 32-bit integers without visible pattern (two rounds of multiply and xor-shift)."""
    x = np.uint32(x ^ (x >> np.uint32(16)))
    x = np.uint32(x * np.uint32(0x7FEB352D))
    x = np.uint32(x ^ (x >> np.uint32(15)))
    x = np.uint32(x * np.uint32(0x846CA68B))
    return np.uint32(x ^ (x >> np.uint32(16)))


@inlined
def random_bits(key: Any, number: Any) -> Any:
    """The 32 random bits of an element's number under a key: a function, not a stream."""
    return scramble(np.uint32(np.uint32(np.uint32(number) * np.uint32(0x9E3779B1)) + np.uint32(key)))
