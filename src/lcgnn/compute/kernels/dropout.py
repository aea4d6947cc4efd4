"""Dropout whose mask is a pure function of a key and an element's number.

There is no generator state to save, the mask does not depend on the device, the order of evaluation or the
number of threads, and a backward pass computes it again instead of storing it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_MASK32 = 0xFFFFFFFF
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Dropout:
    """Zero each element with probability ``rate`` and scale the rest by 1 / (1 - rate).

    Args:
        rate: Probability of zeroing, 0 <= rate < 1.
        key: 32 bits; the same key gives the same mask.
        rows: (N,) the row's number in the whole matrix, for a matrix that is some of its rows; None for all.
    """

    rate: float
    key: int
    rows: Tensor | None = field(default=None, compare=False)

    @property
    def scale(self) -> float:
        return 1.0 / (1.0 - self.rate)

    @property
    def threshold(self) -> int:
        """An element is kept if its random bits are at least this."""
        return min(int(self.rate * 2**32), _MASK32)

    def mask(self, numbers: Tensor) -> Tensor:
        """0 where the element of that number is dropped, the scale where it is kept."""
        return (random_bits(self.key, numbers) >= self.threshold).to(torch.float32) * self.scale

    def mask_like(self, matrix: Tensor) -> Tensor:
        """The mask for an (N, D) matrix: element k of the whole matrix's row i has the number i D + k."""
        return self.mask(self.numbers_like(matrix)).to(matrix.dtype)

    def numbers_like(self, matrix: Tensor) -> Tensor:
        """The number of every element of an (N, D) matrix in the whole one."""
        numbers = torch.arange(matrix.numel(), device=matrix.device).view(matrix.shape)
        return numbers if self.rows is None else self.rows[:, None] * matrix.shape[1] + numbers[0]

    def arguments(self) -> tuple[NDArray[Any], np.float32]:
        """Key and threshold as one array, and the scale: what the compiled kernels take."""
        return self._arguments

    @cached_property
    def row_numbers(self) -> NDArray[np.int64]:
        """The rows' numbers as the compiled kernels take them: none if they count from 0."""
        return _NO_ROWS if self.rows is None else self.rows.numpy()

    def of_rows(self, rows: slice) -> Dropout:
        """The same for a matrix that is some of the rows."""
        whole = self.rows is None and (not self.rate or not rows.start)
        return self if whole else replace(self, rows=torch.from_numpy(self.numbers_of(rows)))

    def numbers_of(self, rows: slice) -> NDArray[np.int64]:
        """The same for some of the rows."""
        if self.rows is not None:
            return self.row_numbers[rows]
        return np.arange(rows.start, rows.stop) if self.rate and rows.start else _NO_ROWS

    @cached_property
    def _arguments(self) -> tuple[NDArray[Any], np.float32]:
        return np.array([self.key, self.threshold], dtype=np.uint32), np.float32(self.scale)


NO_DROPOUT = Dropout(rate=0.0, key=0)


def derive_key(*parts: int | str) -> int:
    """A 32-bit key from a seed, an epoch, a layer's name, ...: different parts, unrelated keys."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")


def random_bits(key: int, numbers: Tensor) -> Tensor:
    """32 random bits for each number under a key, as int64; the plain twin of ``jit.random_bits``.

    Numbers count modulo 2^32: beyond that many elements the pattern repeats.
    """
    return _scramble((numbers * 0x9E3779B1 + key) & _MASK32)


def _scramble(x: Tensor) -> Tensor:
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & _MASK32
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & _MASK32
    return x ^ (x >> 16)
