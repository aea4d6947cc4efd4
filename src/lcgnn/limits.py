"""What the machine has to give: memory, unless the user says how much by name, and cores."""

from __future__ import annotations

import os
from pathlib import Path

from lcgnn.errors import ConfigError, DataError

VARIABLE = "LCGNN_MEMORY_GB"
GIGABYTE = 10**9
# A feature costs a network at least 16 weights of four bytes, each with its gradient and Adam's two moments.
BYTES_OF_A_FEATURE = 16 * 4 * 4
# Where the machine does not say what it has.
_ASSUMED = 16 * GIGABYTE


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_memory(what: str, needed: int) -> None:
    """Refuse what needs more memory than there is, before any of it is taken.

    Args:
        what: The subject of the sentence that refuses it.
        needed: Bytes.
    """
    bound = available()
    if needed > bound:
        raise DataError(
            f"{what} needs {_in_words(needed)} of memory, and {_in_words(bound)} may be used. "
            f"Make it smaller, or raise the bound: {VARIABLE}={-(-needed // GIGABYTE)}"
        )


def check_features(what: str, num_features: int) -> None:
    """Refuse more features than there is memory for the weights of, however few of them are not zero."""
    check_memory(f"{what}: a network for {num_features:,} features", num_features * BYTES_OF_A_FEATURE)


def available() -> int:
    """Bytes that reading may take: as the environment says, or as many as are free."""
    told = os.environ.get(VARIABLE)
    if told is None:
        return min(_free(), _left_to_group())
    try:
        bound = float(told) * GIGABYTE
    except ValueError:
        bound = 0.0
    if not 0 < bound < 2**63:
        raise ConfigError(f"{VARIABLE} is {told!r}. Give the gigabytes that reading may take, such as 32.")
    return int(bound)


def _free() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _ASSUMED


def _left_to_group() -> int:
    """What a container may still take; no bound if it has none, or says nothing."""
    group = Path("/sys/fs/cgroup")
    try:
        most, used = (int((group / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):
        return 2**63 - 1
    return max(most - used, 0)


def _in_words(count: int) -> str:
    return f"{count / GIGABYTE:,.1f} GB" if count >= GIGABYTE / 10 else f"{count / 10**6:,.1f} MB"
