"""The one place where rows are divided among threads, so that no result depends on how many there are.

Rows are cut into blocks by their number alone, never by the number of threads. Each block is one call of the same
kernel or the same product of torch's, whoever makes it, and a sum over rows adds up those of the blocks in their
order: any number of threads gives the same bits. Kernels and torch let go of Python's lock while they compute, so
that threads of this process are enough.

What has few rows is one block, and its own thread is the only one.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from lcgnn.errors import ConfigError
from lcgnn.limits import available_cores

Sum = TypeVar("Sum", torch.Tensor, NDArray[np.float64], float)
Part = TypeVar("Part", slice, int)

# Rows of the smallest block, and how many of them begin to be worth a second thread.
_ROWS, _FEWEST = 2**13, 4
# Every block has a sum of its own until its turn comes.
_MOST = 32
# Ends of blocks are multiples of this, which is what label consistency works on at a time.
_TOGETHER = 256


def fair_share(processes: int = 1) -> int:
    """Threads of each of so many processes that compute at the same time: their share of the cores, at least one.

    ``OMP_NUM_THREADS`` bounds it, as it bounds others' threads. torchrun sets that variable by itself; its ranks
    share the cores of their machine instead.
    """
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    if ranks.isdecimal() and int(ranks) > 0:
        return max(available_cores() // (int(ranks) * processes), 1)
    bound = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    cores = available_cores()
    if bound.isdecimal() and int(bound) > 0:
        cores = min(cores, int(bound))
    return max(cores // processes, 1)


def check_threads(count: int | None) -> None:
    """ConfigError unless it is a number of threads, or None for a fair share."""
    if count is not None and count < 1:
        raise ConfigError(f"At least one thread is needed, not {count}.")


_chosen: int | None = None


@contextmanager
def using(count: int | None) -> Iterator[None]:
    """Compute on so many threads inside a ``with`` block; None for as many as before."""
    global _chosen
    check_threads(count)
    before, _chosen = _chosen, count or _chosen
    try:
        yield
    finally:
        _chosen = before


def number(processes: int = 1) -> int:
    """How many threads rows are divided among, in each of so many processes that compute at the same time."""
    return _chosen or fair_share(processes)


@contextmanager
def steady() -> Iterator[None]:
    """Keep torch's own operations on one thread inside a ``with`` block, since their sums depend on how many.

    Blocks of rows are for the threads of this module, in which every operation of torch has one.
    """
    global _steady, _before
    with _lock:
        if not _steady:
            _before = torch.get_num_threads()
        _steady += 1
    _leave_to_one()
    try:
        yield
    finally:
        with _lock:
            _steady -= 1
            if not _steady and _before != 1:
                torch.set_num_threads(_before)


_lock = threading.Lock()
_steady, _before = 0, 1


def _leave_to_one() -> None:
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


def blocks(num_rows: int, offsets: NDArray[np.int32] | None = None) -> list[slice]:
    """The rows from the first to the last in blocks: a matter of their number, and of the offsets, only.

    Args:
        num_rows: N.
        offsets: (N + 1,) where the entries of every row begin; the blocks then take about as long as each other,
            and otherwise have as many rows.
    """
    if is_one_block(num_rows):
        return [slice(0, num_rows)]
    count = min(num_rows // _ROWS, _MOST)
    # A power of two, which two, four or eight threads share evenly.
    count = 1 << (count.bit_length() - 1)
    if offsets is None:
        ends = [part * num_rows // count for part in range(1, count)]
    else:
        ends = _by_entries(offsets, count)
    cuts = sorted({0, num_rows, *(round(end / _TOGETHER) * _TOGETHER for end in ends)})
    inside = [cut for cut in cuts if cut <= num_rows]
    return [slice(first, last) for first, last in pairwise(inside)]


def is_one_block(num_rows: int) -> bool:
    """Whether so many rows are not divided at all."""
    return num_rows // _ROWS < _FEWEST


def _by_entries(offsets: NDArray[np.int32], count: int) -> list[int]:
    """Where blocks end that have as many rows and entries taken together."""
    num_rows, begin = offsets.size - 1, int(offsets[0])

    def before(row: int) -> int:
        return row + int(offsets[row]) - begin

    total = before(num_rows)
    return [bisect_left(range(num_rows), part * total // count, key=before) for part in range(1, count)]


def for_rows(work: Callable[[slice], object], num_rows: int, offsets: NDArray[np.int32] | None = None) -> None:
    """Call ``work`` for every block of rows, whose results have nothing to do with each other.

    Autograd does not look on. Arguments as of ``blocks``.
    """
    _share(work, blocks(num_rows, offsets))


def sum_over_rows(work: Callable[[slice], Sum], num_rows: int, offsets: NDArray[np.int32] | None = None) -> Sum:
    """The sum of what ``work`` gives for every block of rows, which are added up in their order.

    Args:
        work: Gives a tensor or an array that is nobody else's, or a number.
        num_rows: As of ``blocks``.
        offsets: As of ``blocks``.
    """
    parts = blocks(num_rows, offsets)
    total = _InOrder[Sum]()
    _share(lambda number: total.add(number, work(parts[number])), range(len(parts)))
    return total.sum


class _InOrder(Generic[Sum]):
    """A sum whose terms come in any order and are added in that of their numbers."""

    sum: Sum

    def __init__(self) -> None:
        self._waiting: dict[int, Sum] = {}
        self._next = 0
        self._lock = threading.Lock()

    def add(self, number: int, term: Sum) -> None:
        """Take in the term of that number."""
        with self._lock:
            self._waiting[number] = term
            while self._next in self._waiting:
                due = self._waiting.pop(self._next)
                if self._next:
                    self.sum += due
                else:
                    self.sum = due
                self._next += 1


def _share(work: Callable[[Part], object], parts: Sequence[Part]) -> None:
    """Call ``work`` for every part, on this thread and on others as far as there are some."""
    with torch.no_grad():
        if len(parts) == 1:
            work(parts[0])
            return
        left = deque(parts)
        # What is divided again is so for the thread's own turn: others have theirs.
        others = 0 if getattr(_here, "at_work", False) else min(number(), len(parts)) - 1
        helpers = [_pool().submit(_work_off, work, left) for _ in range(others)]
        before = torch.get_num_threads()
        try:
            _work_off(work, left)
        finally:
            left.clear()
            # Of those that others have not begun nothing is left to do.
            failures = [helper.exception() for helper in helpers if not helper.cancel()]
            if before != 1:
                torch.set_num_threads(before)
        for failure in filter(None, failures):
            raise failure


def _work_off(work: Callable[[Part], object], left: deque[Part]) -> None:
    _leave_to_one()
    before, _here.at_work = getattr(_here, "at_work", False), True
    try:
        with torch.no_grad():
            while left:
                try:
                    part = left.popleft()
                except IndexError:
                    return
                work(part)
    finally:
        _here.at_work = before


_here = threading.local()


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads of this process, which are started as they are needed."""
    return ThreadPoolExecutor(_MOST, "lcgnn")


if hasattr(os, "register_at_fork"):
    # A process that was forked has none of its parent's threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
