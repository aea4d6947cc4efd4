"""torch CSR tensors without torch's beta warning, and products with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.kernels import fused, threads

# Columns of a dense matrix that are multiplied at a time: as many as stay in the registers.
_MOST_COLUMNS = 64
# From this many numbers on, a dense matrix is fetched into the cache ahead of its use.
_LARGE = 2**20

KernelOf = Callable[[int, bool], Callable[..., None]]

with warnings.catch_warnings():
    # torch says so once per process, at the first CSR tensor; this is that one.
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)


def csr_tensor(offsets: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """A CSR tensor over arrays that are known to be consistent, without a check or a copy."""
    return torch.sparse_csr_tensor(offsets, columns, values, tuple(shape), check_invariants=False)


class Entries(NamedTuple):
    """The arrays of a CSR matrix as the compiled kernels take them."""

    offsets: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, matrix: Tensor) -> Entries | None:
        """Those of a CSR tensor; None where the kernels do not apply."""
        if not fused(matrix.values()):
            return None
        parts = matrix.crow_indices(), matrix.col_indices(), matrix.values().detach()
        return cls(*(part.numpy() for part in parts))

    def of_rows(self, rows: slice) -> Entries:
        """Those of some rows; where each begins is counted as before."""
        return Entries(self.offsets[rows.start : rows.stop + 1], self.columns, self.values)


def product(matrix: Tensor, dense: Tensor, entries: Entries | None = None) -> Tensor:
    """``matrix @ dense`` for a CSR matrix, whose entries may be given where they are at hand."""
    entries = entries or Entries.of(matrix)
    if entries is None or not fused(dense):
        result: Tensor = matrix @ dense
        return result
    result = torch.empty(matrix.shape[0], dense.shape[1])
    write_product(entries, dense if dense.stride(1) == 1 else dense.contiguous(), result)
    return result


def blended_product(
    matrix: Tensor, dense: Tensor, factor: float, added: Tensor, share: float, entries: Entries | None = None
) -> Tensor:
    """``factor * (matrix @ dense) + share * added`` for a CSR matrix and an (N, D) matrix that is added."""
    entries = entries or Entries.of(matrix)
    if entries is None or not fused(dense, added):
        result: Tensor = matrix @ dense
        return result.mul_(factor).add_(added, alpha=share)
    dense = dense if dense.stride(1) == 1 else dense.contiguous()
    result = torch.empty(matrix.shape[0], dense.shape[1])
    write_blended_product(entries, dense, factor, added.detach().contiguous(), share, result)
    return result


def repeated_product(entries: Entries, dense: Tensor, factor: float, share: float, times: int) -> Tensor:
    """``factor * (matrix @ rows) + share * dense`` of what it gave before, so many times from the (N, D) on.

    The matrix is square. All times are one call of a kernel, on one thread.
    """
    dense = dense.detach().contiguous()
    result, scratch = torch.empty_like(dense), torch.empty_like(dense)
    further = _memory(dense), np.float32(factor), np.float32(share), times, _memory(scratch)
    _by_columns(_multiply_blended(), dense.numel() >= _LARGE, entries, dense, result, *further)
    return result


def transposed_product(entries: Entries, num_columns: int, dense: Tensor) -> Tensor:
    """``matrix.T @ dense`` for the entries of a matrix with so many columns, without its transpose."""
    dense = dense.detach().contiguous()

    def of_rows(rows: slice) -> Tensor:
        result = torch.zeros(num_columns, dense.shape[1])
        add_transposed_product(entries.of_rows(rows), dense[rows], result)
        return result

    return threads.sum_over_rows(of_rows, dense.shape[0], entries.offsets)


def add_transposed_product(entries: Entries, dense: Tensor, result: Tensor) -> None:
    """Add ``matrix.T @ dense`` to the result."""
    from lcgnn.compute.kernels.compiled.csr import add_transposed

    _by_columns(add_transposed, result.numel() >= _LARGE, entries, dense.contiguous(), result)


def write_product(entries: Entries, dense: Tensor, result: Tensor) -> None:
    """Fill the result with ``matrix @ dense``."""
    from lcgnn.compute.kernels.compiled.csr import multiply

    def of_rows(rows: slice) -> None:
        _by_columns(multiply, dense.numel() >= _LARGE, entries.of_rows(rows), dense, result[rows])

    threads.for_rows(of_rows, result.shape[0], entries.offsets)


def write_blended_product(
    entries: Entries, dense: Tensor, factor: float, added: Tensor, share: float, result: Tensor
) -> None:
    """Fill the result with ``factor * (matrix @ dense) + share * added``."""
    kernel, large, factors = _multiply_blended(), dense.numel() >= _LARGE, (np.float32(factor), np.float32(share))

    def of_rows(rows: slice) -> None:
        further = _memory(added[rows]), *factors, 1, _memory(result[rows])
        _by_columns(kernel, large, entries.of_rows(rows), dense, result[rows], *further)

    threads.for_rows(of_rows, result.shape[0], entries.offsets)


def _multiply_blended() -> KernelOf:
    from lcgnn.compute.kernels.compiled.blended import multiply_blended

    return multiply_blended


def _by_columns(
    kernel: KernelOf,
    large: bool,
    entries: Entries,
    dense: Tensor,
    result: Tensor,
    *further: object,
) -> None:
    """Call the kernel for so many columns with all of them, a few at a time."""
    read, written = _memory(dense.detach()), _memory(result)
    row, result_row, width = dense.stride(0), result.stride(0), dense.shape[1]
    for first in range(0, width, _MOST_COLUMNS):
        multiply = kernel(min(_MOST_COLUMNS, width - first), large)
        multiply(*entries, first, read, row, written, result_row, *further)


def _memory(matrix: Tensor) -> NDArray[np.float32]:
    """The numbers of a matrix from the first to the last as they lie in memory, with what is between its rows."""
    if matrix.is_contiguous():
        return matrix.numpy().reshape(-1)
    return matrix.as_strided(((matrix.shape[0] - 1) * matrix.stride(0) + matrix.shape[1],), (1,)).numpy()


def as_scipy(matrix: Tensor) -> csr_array:
    """A torch CSR tensor as a scipy matrix, over its own memory if possible; it must not be written to."""
    offsets, columns, values = (
        part.cpu().numpy() for part in (matrix.crow_indices(), matrix.col_indices(), matrix.values())
    )
    return csr_array((values, columns, offsets), shape=tuple(matrix.shape))
