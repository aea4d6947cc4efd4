"""Arrays that live in temporary files, which the system maps into memory as they are used."""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from lcgnn.errors import OutputError
from lcgnn.files import SPACE_HINT
from lcgnn.mapping import known_mapping


def disk_array(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros in a file of its own, which is deleted when the array is; ``let_go`` knows it."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not size:
        return np.zeros(shape, dtype)
    try:
        handle, name = tempfile.mkstemp(prefix="lcgnn-")
        try:
            with os.fdopen(handle, "r+b") as file:
                _allocate(file.fileno(), size)
                mapped = np.memmap(file, dtype, "r+", shape=shape)
        finally:
            Path(name).unlink()  # The mapping keeps the file until it goes itself.
    except OSError as error:
        raise OutputError(
            f"{size / 1e9:,.1f} GB of temporary files cannot be made: {error.strerror}. {SPACE_HINT}"
        ) from error
    return known_mapping(mapped)


def disk_tensor(num_rows: int, num_columns: int) -> Tensor:
    """A float32 tensor of zeros in such a file."""
    return torch.from_numpy(disk_array((num_rows, num_columns), np.float32))


def _allocate(handle: int, size: int) -> None:
    # Where a mapping meets a full disk there is no error, but a signal that ends the process.
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
    else:
        os.ftruncate(handle, size)
