"""Memory that an epoch frees stays with the process until the next one asks for it.

glibc gives every array of more than 32 MB back to the system as soon as it is freed, and the system clears each
page when it hands it out again: with millions of nodes a fifth to a third of an epoch. Kept memory is in pieces,
not all of which fit what is asked for next: it takes some epochs until nothing new is needed, and more memory.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lcgnn.limits import available

# Nodes from which on it pays.
PAYS_FROM = 2**18
# An epoch that keeps its memory comes to so many arrays as wide as the widest layer (attention does).
_ARRAYS = 20

# Of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_MEGABYTE = 2**20
_KEPT = {_MMAP_MAX: 0, _TRIM_THRESHOLD: 2**31 - 1}
# What glibc comes to by itself in a process that uses large arrays.
_GIVEN_BACK = {_MMAP_MAX: 65536, _TRIM_THRESHOLD: 64 * _MEGABYTE, _MMAP_THRESHOLD: 32 * _MEGABYTE}

_lock = threading.Lock()
_depth = 0


@contextmanager
def kept_memory(num_nodes: int, columns: int) -> Iterator[None]:
    """Keep what is freed inside a ``with`` block, where that pays and takes at most half of the memory there is.

    Args:
        num_nodes: Rows of what an epoch computes.
        columns: Of the widest layer.
    """
    pays = num_nodes >= PAYS_FROM and _ARRAYS * 4 * num_nodes * columns < available() / 2
    library = _glibc() if pays else None
    if library is None:
        yield
        return
    global _depth
    with _lock:
        _depth += 1
        _choose(library, _KEPT)
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth:
                _choose(library, _GIVEN_BACK)
                library.malloc_trim(0)


def _choose(library: Any, settings: dict[int, int]) -> None:
    for name, value in settings.items():
        library.mallopt(name, value)


def _glibc() -> Any:
    try:
        library = ctypes.CDLL(None)
        # musl has a mallopt that does nothing, but no version.
        return library if library.gnu_get_libc_version else None
    except (AttributeError, OSError, TypeError):
        return None
