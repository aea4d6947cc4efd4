"""Single numpy arrays on disk, read without pickle; what a header says is checked before room is made for it."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.limits import check_memory
from lcgnn.mapping import known_mapping

_PLAIN = "biufUS"


@dataclass(frozen=True)
class Header:
    """What an array's file says of it.

    Args:
        dtype: Of its elements.
        shape: Its own.
        order: "C" by rows or "F" by columns.
        offset: Where the elements begin in the file.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: str
    offset: int

    @property
    def bytes(self) -> int:
        """Of the elements."""
        return math.prod(self.shape) * self.dtype.itemsize


def mapped_array(path: Path) -> NDArray[Any]:
    """The array in a file through a memory map; DataError says what is wrong with the file."""
    try:
        with path.open("rb") as stream:
            header = _header(stream, path.stat().st_size)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}). Generate or convert the graph again.") from error
    if not header.bytes:
        return np.empty(header.shape, dtype=header.dtype)
    order: Any = header.order
    return known_mapping(np.memmap(path, header.dtype, "r", header.offset, header.shape, order))


def unpacked_array(content: bytes) -> NDArray[Any]:
    """The array that the content of a file is; ValueError if it is none."""
    header = _header(io.BytesIO(content), len(content))
    order: Any = header.order
    return np.frombuffer(content, header.dtype, math.prod(header.shape), header.offset).reshape(
        header.shape, order=order
    )


def _header(stream: BinaryIO, size: int) -> Header:
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, by_columns, dtype = read(stream)
    except Exception as error:  # a damaged header raises whatever Python's parser and numpy's dtype raise
        raise ValueError("it is no .npy file, or its header is damaged") from error
    header = Header(dtype, shape, "F" if by_columns else "C", stream.tell())
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never loaded")
    if dtype.kind not in _PLAIN or not dtype.itemsize or any(length < 0 for length in shape):
        raise ValueError(f"it holds {dtype} of shape {shape}, which are neither numbers nor text")
    if header.bytes > size - header.offset:
        raise ValueError(
            f"its header tells of {header.bytes:,} bytes, and there are {size - header.offset:,}: it was cut short"
        )
    if not header.bytes:
        check_memory(f"An array of shape {shape}", max(shape, default=0))
    return header
