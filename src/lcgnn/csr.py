"""Sparse matrices from outside: checked before anything is computed with them, and in one form afterwards.

scipy computes with whatever the arrays say, beyond the end of them too. Its own check takes differences in the
type of the offsets, which wrap, and looks at no entry if the last offset is negative. So nothing but what went
through here may reach it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lcgnn.errors import DataError
from lcgnn.limits import check_memory
from lcgnn.mapping import blocks, let_go

_NUMBERS, _WHOLE = "biuf", "iu"
# Entries that are compared with their transpose at a time.
_TRANSPOSED = 2**22


def checked_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: Any, what: str
) -> csr_array:
    """The CSR matrix of these arrays; DataError if they are none.

    Args:
        data: (E,) the entries.
        indices: (E,) their columns.
        indptr: (rows + 1,) where every row's entries begin, and the last ones end.
        shape: Rows and columns.
        what: What messages call it.
    """
    shape = _dimensions(shape, what)
    data, indices, indptr = (_native(part) for part in (data, indices, indptr))
    _check_entries(data, indices, what)
    _check_offsets(indptr, indices.size, shape[0], what)
    _check_within(indices, shape[1], what, "column")
    check_memory(f"{what}: a matrix of {shape[1]:,} columns", 8 * shape[1])
    return csr_array((data, indices, indptr), shape=shape)


def checked_sparse(matrix: Any, what: str) -> Any:
    """A scipy matrix of any form, after a check that its entries lie within its shape."""
    form = matrix.format
    if form in ("csr", "csc"):
        shape = matrix.shape if form == "csr" else matrix.shape[::-1]
        _check_offsets(matrix.indptr, matrix.indices.size, shape[0], what)
        _check_entries(matrix.data, matrix.indices, what)
        _check_within(matrix.indices, shape[1], what, "column" if form == "csr" else "row")
    elif form == "bsr":
        height, width = matrix.blocksize
        _check_offsets(matrix.indptr, matrix.indices.size, matrix.shape[0] // height, what)
        if matrix.data.shape[0] != matrix.indices.size:
            raise _damaged(what, f"{matrix.data.shape[0]:,} blocks and {matrix.indices.size:,} columns for them")
        _check_within(matrix.indices, matrix.shape[1] // width, what, "block column")
    elif form == "coo":
        for axis, (name, places) in enumerate((("row", matrix.row), ("column", matrix.col))):
            _check_entries(matrix.data, places, what)
            _check_within(places, matrix.shape[axis], what, name)
    return matrix


def csr_parts(matrix: csr_array) -> list[NDArray[Any]]:
    """The three arrays that make a matrix."""
    return [matrix.data, matrix.indices, matrix.indptr]


def canonical(matrix: Any, what: str) -> csr_array:
    """Any sparse matrix as CSR of float32 with sorted rows, each place once; copied unless it is read-only."""
    if issparse(matrix):
        checked_sparse(matrix, what)
    made = csr_array(matrix, dtype=np.float32)
    if any(part.flags.writeable for part in csr_parts(made)) or not made.has_canonical_format:
        made = made.copy()
        made.sum_duplicates()
        made.sort_indices()
    # One index type, whatever the source used, so that equal graphs have equal checksums.
    fits = max(made.nnz, *made.shape) <= np.iinfo(np.int32).max
    index_type = np.int32 if fits else np.int64
    made.indices = made.indices.astype(index_type, copy=False)
    made.indptr = made.indptr.astype(index_type, copy=False)
    return made


def is_symmetric(matrix: csr_array) -> bool:
    """Whether a square matrix in canonical form equals its transpose, to the bit.

    By ascending row, the transpose of some rows has the next entries of every row of the transpose of all; so no
    more than some rows are transposed at a time, beside where in every row the next entry is.
    """
    following = matrix.indptr[:-1].astype(np.int64)
    rows = max(_TRANSPOSED * matrix.shape[0] // max(matrix.nnz, 1), 1)
    for block in blocks(matrix.shape[0], rows):
        turned = csr_array(matrix[block].T)
        counts = np.diff(turned.indptr)
        if (following + counts > matrix.indptr[1:]).any():
            return False
        places = np.repeat(following - turned.indptr[:-1], counts)
        places += np.arange(places.size)
        if not np.array_equal(matrix.indices[places], turned.indices + block.start):
            return False
        if not np.array_equal(matrix.data[places], turned.data):
            return False
        following += counts
        let_go(*csr_parts(matrix))
    return bool((following == matrix.indptr[1:]).all())


def _dimensions(shape: Any, what: str) -> tuple[int, int]:
    sizes = np.asarray(shape)
    if sizes.shape != (2,) or sizes.dtype.kind not in _WHOLE or (sizes < 0).any():
        raise _damaged(what, "its shape is not two whole numbers")
    return int(sizes[0]), int(sizes[1])


def _native(part: Any) -> NDArray[Any]:
    """The array in the byte order and the types that scipy computes with."""
    array: NDArray[Any] = np.asarray(part) if not isinstance(part, np.ndarray) else part
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_entries(data: NDArray[Any], places: NDArray[Any], what: str) -> None:
    if data.ndim != 1 or places.ndim != 1 or data.size != places.size:
        raise _damaged(what, f"entries of shape {data.shape} at places of shape {places.shape}")
    if data.dtype.kind not in _NUMBERS:
        raise _damaged(what, f"entries of type {data.dtype}")
    if places.dtype.kind not in _WHOLE:
        raise _damaged(what, f"places of type {places.dtype}")


def _check_offsets(indptr: NDArray[Any], num_entries: int, num_rows: int, what: str) -> None:
    if indptr.ndim != 1 or indptr.dtype.kind not in _WHOLE:
        raise _damaged(what, f"row starts are {indptr.dtype} of shape {indptr.shape}")
    if indptr.size != num_rows + 1:
        raise _damaged(what, f"{indptr.size:,} row starts for {num_rows:,} rows")
    if indptr[0] != 0 or indptr[-1] != num_entries:
        raise _damaged(what, f"rows start at {indptr[0]} and end at {indptr[-1]}, with {num_entries:,} entries")
    # Compared, not subtracted: a difference of 32-bit numbers may wrap.
    if not (indptr[1:] >= indptr[:-1]).all():
        raise _damaged(what, "a row ends before it begins")


def _check_within(places: NDArray[Any], length: int, what: str, axis: str) -> None:
    if places.size and not (int(places.min()) >= 0 and int(places.max()) < length):
        worst = int(places.max()) if int(places.min()) >= 0 else int(places.min())
        raise _damaged(what, f"an entry in {axis} {worst:,} of {length:,}, counted from 0")


def _damaged(what: str, why: str) -> DataError:
    return DataError(f"{what} is no CSR matrix: {why}. Write it anew.")
