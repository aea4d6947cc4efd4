"""Pickles of published files: read after their checksum, by an unpickler that knows a handful of names."""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from lcgnn.errors import DataError


def unpickled(file_name: str, content: bytes) -> Any:
    """What a published file holds: arrays, sparse matrices, a dict of lists; DataError if it names anything else.

    Args:
        file_name: What messages call it.
        content: Of the file, after its checksum was compared.
    """
    return _Unpickler(file_name, content).load()


def _dtype(code: str, *_: object) -> np.dtype[Any]:
    # Files of Python 2 pass numpy.dtype integers where numpy 2.4 asks for booleans, with a warning.
    return np.dtype(code)


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    # The function that numpy's own pickles name; its module has moved since these files were written.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    """Builds arrays, sparse matrices and a dict of lists, and refuses every other name."""

    def __init__(self, file_name: str, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")
        self.file_name = file_name

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise DataError(
                f"{self.file_name}: names {module}.{name}, which no published file needs. "
                "Do not trust this file; fetch the published one."
            )
        return _ADMITTED[module, name]
