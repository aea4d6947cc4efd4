"""Memory that an epoch frees stays with the process until the next one asks for it.

glibc gives every array of more than 32 MB back to the system as soon as it is freed, and the system clears each
page when it hands it out again: with millions of nodes a fifth to a third of an epoch. Kept memory is in pieces,
not all of which fit what is asked for next: it takes some epochs until nothing new is needed, and a tenth to a
quarter more memory.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lcgnn.limits import available, resident

# Nodes from which on it pays.
PAYS_FROM = 2**18
# An epoch that keeps its memory takes up to so many times what the graph takes by itself (attention does).
_TIMES = 4

# Of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_MEGABYTE = 2**20
_KEPT = {_MMAP_MAX: 0, _TRIM_THRESHOLD: 2**31 - 1}
# What glibc comes to by itself in a process that uses large arrays.
_GIVEN_BACK = {_MMAP_MAX: 65536, _TRIM_THRESHOLD: 64 * _MEGABYTE, _MMAP_THRESHOLD: 32 * _MEGABYTE}

_lock = threading.Lock()
_depth = 0


@contextmanager
def kept_memory(num_nodes: int) -> Iterator[None]:
    """Keep what is freed inside a ``with`` block, where so many nodes make that pay and there is memory enough."""
    library = _glibc() if num_nodes >= PAYS_FROM and _TIMES * resident() < available() else None
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
