"""Arrays in files that are mapped into memory, and let go of where they will not be needed for a while.

What is mapped counts as memory of the process from when it is read until the system wants it back. What goes
through memory a part at a time says so itself, so that its process never holds more than it works on.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

# Rows, or entries, that are in memory at a time where all of them are gone through.
BLOCK = 2**20


class HasAddress(Protocol):
    """A tensor, as far as it matters here."""

    def data_ptr(self) -> int: ...


Held: TypeAlias = NDArray[Any] | HasAddress
_MAPPED: WeakValueDictionary[int, np.memmap[Any, Any]] = WeakValueDictionary()


def known_mapping(array: np.memmap[Any, Any]) -> np.memmap[Any, Any]:
    """The array, which is mapped to a file and shared with it, so that `let_go` knows it and what lies in it."""
    _MAPPED[_address(array)] = array
    return array


def let_go(*held: Held | None) -> None:
    """Take files out of this process's memory that these arrays or tensors lie in; reading brings them back.

    Nothing is lost: what was written is the system's to store. Arrays that lie in no file stay as they are.
    """
    advice = getattr(mmap, "MADV_DONTNEED", None)
    if advice is None:
        return
    for one in held:
        mapped = None if one is None else _mapping(_address(one))
        if mapped is not None:
            base: Any = mapped.base
            base.madvise(advice)


def blocks(length: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices of so many rows each that cover all of them."""
    return (slice(first, min(first + size, length)) for first in range(0, length, size))


def all_in_blocks(test: Callable[[NDArray[Any]], Any], array: NDArray[Any], size: int = BLOCK) -> bool:
    """Whether a test holds for all of an array, of which no more than a block is in memory for it."""
    for rows in blocks(len(array), size):
        if not bool(np.all(test(array[rows]))):
            return False
        let_go(array)
    return True


def _address(held: Held) -> int:
    if isinstance(held, np.ndarray):
        return int(held.__array_interface__["data"][0])
    return held.data_ptr()


def _mapping(address: int) -> np.memmap[Any, Any] | None:
    """The mapped array that an address lies in."""
    for start, mapped in list(_MAPPED.items()):
        if start <= address < start + mapped.nbytes:
            return mapped
    return None
