"""Sparse matrices as the models need them: products with a cheap backward, real dropout, normalised adjacency.

A matrix is a torch CSR tensor with 32-bit indices, and its products are those of ``kernels.csr``. The backward
pass of a product is one with the transpose, which is the matrix itself where that is symmetric, and is not needed
where the fused kernels apply.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from torch import Tensor

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.csr import (
    Entries,
    as_scipy,
    blended_product,
    csr_tensor,
    product,
    repeated_product,
    transposed_product,
)
from lcgnn.compute.kernels.dense import column_sums, projected
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.kernels.dropped import dropped_dense_product, dropped_entries
from lcgnn.compute.kernels.threads import for_rows, is_one_block
from lcgnn.errors import DataError

with warnings.catch_warnings():
    # torch says so once per process, at the first read-only array; this is that one. Nothing here writes to any.
    warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
    torch.from_numpy(np.broadcast_to(np.float32(0), (1,)))


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix that can be multiplied from both sides.

    Args:
        matrix: A torch CSR tensor.
        symmetric: Whether it is its own transpose.
        rows: (N,) the row's number in the whole matrix, if these are some of its rows; None for all.
        known_transpose: Its transpose, if that is there already.
    """

    matrix: Tensor
    symmetric: bool = False
    rows: Tensor | None = None
    known_transpose: Tensor | None = None

    @classmethod
    def of(
        cls, matrix: csr_array, device: torch.device, *, symmetric: bool = False, rows: Tensor | None = None
    ) -> SparseMatrix:
        """From a scipy matrix."""
        return cls(as_csr_tensor(matrix, device), symmetric, rows)

    @cached_property
    def transpose(self) -> Tensor:
        """The transpose, made on first use."""
        if self.symmetric:
            return self.matrix
        if self.known_transpose is not None:
            return self.known_transpose
        return as_csr_tensor(csr_array(as_scipy(self.matrix).T), self.matrix.device)

    @property
    def shape(self) -> torch.Size:
        return self.matrix.shape

    def __matmul__(self, dense: Tensor) -> Tensor:
        result: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return result

    def product(self, dense: Tensor) -> Tensor:
        """``self @ dense``, outside of autograd."""
        return product(self.matrix, dense, self._entries)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """``self.T @ dense``, outside of autograd."""
        if self.symmetric:
            return self.product(dense)
        if self._entries and fused(dense):
            return transposed_product(self._entries, self.shape[1], dense)
        return product(self.transpose, dense)

    def product_plus(self, dense: Tensor, bias: Tensor) -> Tensor:
        """``self @ dense + bias`` for a (D,) bias."""
        result: Tensor = _ProductPlus.apply(dense, bias, self)  # type: ignore[no-untyped-call]
        return result

    def blended(self, dense: Tensor, factor: float, added: Tensor, share: float) -> Tensor:
        """``factor * (self @ dense) + share * added``, outside of autograd."""
        return blended_product(self.matrix, dense, factor, added, share, self._entries)

    def repeated(self, dense: Tensor, factor: float, share: float, times: int) -> Tensor:
        """So many times ``factor * (self @ rows) + share * dense``, from the dense rows on; no autograd."""
        if times and self._entries and self._all_rows_here and fused(dense) and is_one_block(self.shape[0]):
            return repeated_product(self._entries, dense, factor, share, times)
        rows = dense
        for _ in range(times):
            rows = self.blended(rows, factor, dense, share)
        return rows

    def operand(self, dense: Tensor) -> tuple[Entries, Tensor]:
        """For a product that is taken a few rows at a time: the entries, and the matrix that they refer to."""
        assert self._entries is not None
        return self._entries, dense

    def dropout(self, dropout: Dropout, kept_rows: Tensor | None = None) -> SparseMatrix:
        """Drop stored entries: the same as dropout on the dense matrix, since a zero stays zero.

        Args:
            dropout: Of entries.
            kept_rows: (N,) whether a row has any entries left; None for all.
        """
        if not dropout.rate and kept_rows is None:
            return self
        if fused(self.matrix.values()):
            return SparseMatrix(dropped_entries(self.matrix, self._numbers_modulo, dropout, kept_rows))
        if kept_rows is not None:
            raise ValueError("Whole rows are dropped where the fused kernels apply.")
        numbers, numbers_of_transpose = self._numbers, self._numbers_of_transpose
        dropped = _drop_plain(self.matrix, numbers, dropout)
        return SparseMatrix(dropped, known_transpose=_drop_plain(self.transpose, numbers_of_transpose, dropout))

    @property
    def _all_rows_here(self) -> bool:
        """Whether a product can be multiplied again without asking anybody else."""
        return True

    @cached_property
    def _entries(self) -> Entries | None:
        return Entries.of(self.matrix)

    @cached_property
    def _numbers(self) -> Tensor:
        """The number of every stored entry in the dense matrix, row-major."""
        rows, columns = _positions(self.matrix)
        return self._in_whole(rows) * self.shape[1] + columns

    @cached_property
    def _numbers_of_transpose(self) -> Tensor:
        """The same in the order of the transpose's entries."""
        columns, rows = _positions(self.transpose)
        return self._in_whole(rows) * self.shape[1] + columns

    @cached_property
    def _numbers_modulo(self) -> NDArray[np.uint32]:
        """The numbers modulo 2^32, which is all that a mask depends on."""
        return self._numbers.numpy().astype(np.uint32)

    def _in_whole(self, rows: Tensor) -> Tensor:
        return rows if self.rows is None else self.rows[rows]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, sparse: SparseMatrix) -> Tensor:
        ctx.sparse = sparse
        return sparse.product(dense)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        return ctx.sparse.transposed_product(grad_output.contiguous()), None


class _ProductPlus(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, bias: Tensor, sparse: SparseMatrix) -> Tensor:
        ctx.sparse = sparse
        result = sparse.product(dense)
        for_rows(lambda rows: result[rows].add_(bias), result.shape[0])
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, Tensor, None]:
        return ctx.sparse.transposed_product(grad_output.contiguous()), column_sums(grad_output), None


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of a sparse matrix, cut down to the columns in which they have an entry.

    Their product with a dense matrix reads only the rows of it that those columns name.

    Args:
        columns: (M,) the columns, ascending.
        matrix: (rows, M) the entries.
    """

    columns: Tensor
    matrix: SparseMatrix

    @classmethod
    def of(cls, matrix: Tensor, rows: Tensor) -> SelectedRows:
        """From a CSR tensor and the numbers of the rows."""
        chosen = as_scipy(matrix)[rows.cpu().numpy()]
        used = np.unique(chosen.indices)
        cut = csr_array(chosen[:, used])
        return cls(torch.from_numpy(used.astype(np.int64)).to(rows.device), SparseMatrix.of(cut, rows.device))

    def softmax_product(self, logits: Tensor) -> Tensor:
        """(rows, C) the product with the softmax of logits (N, C), of which only the columns' rows are read."""
        return self.matrix @ torch.softmax(logits.index_select(0, self.columns), dim=1)


def dropped_product(
    features: SparseMatrix | Tensor, weight: Tensor, dropout: Dropout, kept_rows: Tensor | None = None
) -> Tensor:
    """``dropout(features) @ weight`` for sparse or dense features.

    Args:
        features: (N, F).
        weight: (F, D).
        dropout: Of entries.
        kept_rows: (N,) whether a row counts; where not, its product is zero. None for all.
    """
    if kept_rows is not None and not (isinstance(features, SparseMatrix) and fused(weight)):
        return dropped_product(features, weight, dropout) * kept_rows[:, None]
    if isinstance(features, SparseMatrix):
        return features.dropout(dropout, kept_rows) @ weight
    if dropout.rate and fused(features, weight):
        return dropped_dense_product(features, weight, dropout)
    return projected(features * dropout.mask_like(features) if dropout.rate else features, weight)


def normalized_adjacency(adjacency: csr_array) -> csr_array:
    r""":math:`D^{-1/2} (A + I) D^{-1/2}` as in GCN; a self-loop that is there keeps its weight."""
    looped = with_self_loops(adjacency)
    scale = 1.0 / np.sqrt(np.asarray(looped.sum(axis=1), dtype=np.float64).ravel())
    values = np.repeat(scale, np.diff(looped.indptr))
    values *= looped.data
    values *= scale[looped.indices]
    return csr_array((values.astype(np.float32), looped.indices, looped.indptr), shape=looped.shape)


def with_self_loops(adjacency: csr_array) -> csr_array:
    """The adjacency with a self-loop of weight 1 where there is none."""
    missing = (adjacency.diagonal() == 0).astype(np.float32)
    looped = csr_array(adjacency + diags_array(missing) @ eye_array(adjacency.shape[0], format="csr"))
    looped.eliminate_zeros()
    looped.sort_indices()
    return looped


def as_csr_tensor(matrix: csr_array, device: torch.device) -> Tensor:
    """A scipy matrix as a torch CSR tensor with 32-bit indices."""
    if matrix.nnz > np.iinfo(np.int32).max:
        raise DataError(f"A matrix with {matrix.nnz} entries is too large for 32-bit indices.")
    return csr_tensor(
        as_tensor(matrix.indptr.astype(np.int32, copy=False), device),
        as_tensor(matrix.indices.astype(np.int32, copy=False), device),
        as_tensor(matrix.data, device),
        matrix.shape,
    )


def as_tensor(array: NDArray[Any], device: torch.device) -> Tensor:
    """A tensor over the array's own memory where that is possible; it must not be written to."""
    return torch.from_numpy(array).to(device)


def _positions(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Row and column of every stored entry."""
    rows = torch.arange(matrix.shape[0], device=matrix.device)
    return torch.repeat_interleave(rows, matrix.crow_indices().diff()), matrix.col_indices().long()


def _drop_plain(matrix: Tensor, numbers: Tensor, dropout: Dropout) -> Tensor:
    values = matrix.values() * dropout.mask(numbers).to(matrix.dtype)
    return csr_tensor(matrix.crow_indices(), matrix.col_indices(), values, matrix.shape)
