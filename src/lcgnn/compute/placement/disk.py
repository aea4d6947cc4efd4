"""Matrices with a row for every node that live in files, which the system maps into memory as they are used."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lcgnn.errors import OutputError
from lcgnn.files import SPACE_HINT
from lcgnn.mapping import known_mapping


def disk_tensor(num_rows: int, num_columns: int) -> Tensor:
    """A float32 tensor of zeros in a file of its own, which is deleted when the tensor is; ``let_go`` knows it."""
    if not num_rows * num_columns:
        return torch.zeros(num_rows, num_columns)
    try:
        handle, name = tempfile.mkstemp(prefix="lcgnn-")
        try:
            with os.fdopen(handle, "r+b") as file:
                _allocate(file.fileno(), 4 * num_rows * num_columns)
                mapped = np.memmap(file, np.float32, "r+", shape=(num_rows, num_columns))
        finally:
            Path(name).unlink()  # The mapping keeps the file until it goes itself.
    except OSError as error:
        needed = 4 * num_rows * num_columns / 1e9
        raise OutputError(
            f"{needed:,.1f} GB of temporary files cannot be made: {error.strerror}. {SPACE_HINT}"
        ) from error
    return torch.from_numpy(known_mapping(mapped))


def _allocate(handle: int, size: int) -> None:
    # Where a mapping meets a full disk there is no error, but a signal that ends the process.
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
    else:
        os.ftruncate(handle, size)
