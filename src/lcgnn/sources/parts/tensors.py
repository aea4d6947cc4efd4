"""Arrays by name in a safetensors file, written as they are read: none of them is whole in memory for it."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.mapping import blocks, let_go

_TYPES = {"float32": "F32", "float64": "F64", "int8": "I8", "int32": "I32", "int64": "I64"}
_BYTES = 2**24


def write_arrays_in_pieces(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the file; those with the widest numbers first, so that all of them are aligned."""
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    described, end = {}, 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        described[name] = {
            "dtype": _TYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    header = json.dumps(described).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for name in names:
            _write(file, arrays[name])


def _write(file: Any, array: NDArray[Any]) -> None:
    rows = max(_BYTES * len(array) // max(array.nbytes, 1), 1)
    for block in blocks(len(array), rows):
        np.ascontiguousarray(array[block]).tofile(file)
        let_go(array)
