"""torch CSR tensors without torch's beta warning, and their products with wide and with tall matrices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.kernels import fused
from lcgnn.kernels.jit import compiled
from lcgnn.kernels.prefetch import AHEAD, LINE, prefetch

# From this many columns, or numbers in the dense matrix, on the loops below are faster than the vendor's library
# on one thread.
_WIDE = 48
_LARGE = 2**20
# Numbers of a dense matrix that lie in a core's own cache together with what is multiplied with them.
_BLOCK = 2**16

with warnings.catch_warnings():
    # torch says so once per process, at the first CSR tensor; this is that one.
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)


def csr_tensor(offsets: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """A CSR tensor over arrays that are known to be consistent, without a check or a copy."""
    return torch.sparse_csr_tensor(offsets, columns, values, tuple(shape), check_invariants=False)


def product(matrix: Tensor, dense: Tensor) -> Tensor:
    """``matrix @ dense`` for a CSR matrix, by the fastest of three ways."""
    large = dense.numel() >= _LARGE
    if not (large or dense.shape[1] >= _WIDE) or torch.get_num_threads() > 1 or not fused(matrix.values(), dense):
        result: Tensor = matrix @ dense
        return result
    result = torch.empty(matrix.shape[0], dense.shape[1])
    multiply = _large_product if large else _product
    multiply(
        matrix.crow_indices().numpy(),
        matrix.col_indices().numpy(),
        matrix.values().detach().numpy(),
        dense.detach().contiguous().numpy(),
        result.numpy(),
    )
    return result


class TransposedProduct:
    """``matrix.T @ dense`` for a dense matrix with very many rows, block by block of them.

    A column of a sparse matrix reads rows from everywhere; those of one block are in a core's cache.

    Args:
        matrix: (N, F) a CSR tensor on the CPU.
        transpose: The same transposed, which is the only block if one is enough.
        width: Columns of the dense matrix.
    """

    def __init__(self, matrix: Tensor, transpose: Tensor, width: int) -> None:
        height = _BLOCK // width
        self._slices = [slice(start, start + height) for start in range(0, matrix.shape[0], height)]
        if len(self._slices) == 1:
            self._blocks = [transpose]
        else:
            rows = as_scipy(matrix)
            self._blocks = [_transposed(rows[part]) for part in self._slices]

    def __call__(self, dense: Tensor) -> Tensor:
        result = self._blocks[0] @ dense[self._slices[0]]
        for block, part in zip(self._blocks[1:], self._slices[1:], strict=True):
            torch.addmm(result, block, dense[part], out=result)
        return result


def as_scipy(matrix: Tensor) -> csr_array:
    """A torch CSR tensor as a scipy matrix, over its own memory if possible; it must not be written to."""
    offsets, columns, values = (
        part.cpu().numpy() for part in (matrix.crow_indices(), matrix.col_indices(), matrix.values())
    )
    return csr_array((values, columns, offsets), shape=tuple(matrix.shape))


def _transposed(matrix: csr_array) -> Tensor:
    result = csr_array(matrix.T)
    offsets, columns = (torch.from_numpy(part.astype(np.int32)) for part in (result.indptr, result.indices))
    return csr_tensor(offsets, columns, torch.from_numpy(result.data), result.shape)


@compiled
def _product(
    offsets: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    dense: NDArray[np.float32],
    result: NDArray[np.float32],
) -> None:
    """Four entries of a row at a time, so that the row of the result is read and written a quarter as often."""
    width = dense.shape[1]
    for i in range(offsets.size - 1):
        row = result[i]
        row[:] = 0
        whole = offsets[i] + (offsets[i + 1] - offsets[i]) // 4 * 4
        for e in range(offsets[i], whole, 4):
            a, b, c, d = values[e], values[e + 1], values[e + 2], values[e + 3]
            row_a, row_b = dense[columns[e]], dense[columns[e + 1]]
            row_c, row_d = dense[columns[e + 2]], dense[columns[e + 3]]
            for k in range(width):
                row[k] += a * row_a[k] + b * row_b[k] + c * row_c[k] + d * row_d[k]
        for e in range(whole, offsets[i + 1]):
            a, row_a = values[e], dense[columns[e]]
            for k in range(width):
                row[k] += a * row_a[k]


@compiled
def _large_product(
    offsets: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    dense: NDArray[np.float32],
    result: NDArray[np.float32],
) -> None:
    """The same for a dense matrix that no cache holds, whose rows are fetched ahead of their use."""
    width, last = dense.shape[1], columns.size - 1
    for i in range(offsets.size - 1):
        row = result[i]
        row[:] = 0
        for e in range(offsets[i], offsets[i + 1]):
            soon = np.int64(columns[min(e + AHEAD, last)]) * width
            for k in range(0, width, LINE):
                prefetch(dense, soon + k)
        whole = offsets[i] + (offsets[i + 1] - offsets[i]) // 4 * 4
        for e in range(offsets[i], whole, 4):
            a, b, c, d = values[e], values[e + 1], values[e + 2], values[e + 3]
            row_a, row_b = dense[columns[e]], dense[columns[e + 1]]
            row_c, row_d = dense[columns[e + 2]], dense[columns[e + 3]]
            for k in range(width):
                row[k] += a * row_a[k] + b * row_b[k] + c * row_c[k] + d * row_d[k]
        for e in range(whole, offsets[i + 1]):
            a, row_a = values[e], dense[columns[e]]
            for k in range(width):
                row[k] += a * row_a[k]
