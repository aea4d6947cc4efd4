"""Bring a matrix of numbers to a scale that a network learns from, so that it can be done again to other rows.

The rule, for the columns of a table and for the matrix of a file alike: columns that count something (together
mostly zeros, and of one unit) stay sparse, and every row of them gets the Euclidean length 2; every other column
is standardised, and where there are more than four of these they are made smaller, so that a row of them has a
length of 2 on average. So a row is as long however many columns there are and in whatever unit they are: how sure
a network becomes of its classes, on which label consistency builds, hangs on that length.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, hstack

from lcgnn.errors import ConfigError, DataError, InputError
from lcgnn.features.cells import LARGEST_NUMBER
from lcgnn.graph import Features
from lcgnn.limits import check_features

ScalingKind = Literal["auto", "columns", "rows", "norm", "none"]
KINDS = ("auto", "columns", "rows", "norm", "none")
# What "auto" may come to beside these, and came to in models before 0.3.
_MIXED = ("mixed norm", "mixed")
# Features beyond this share of non-zeros are kept dense.
DENSE_SHARE = 0.3
# Columns count something if at most this share of their entries is not zero, all together.
_COUNTING_SHARE = 0.4
# A column with fewer zeros than this measures something, even among counts, if its entries are so many times
# larger or smaller than theirs: an age beside marks, where a frequent word is a word like others.
_FREQUENT, _OTHER_UNIT = 0.5, 10.0
# Of a row of counts, and of one of standardised columns on average, of which four have it as they are.
LENGTH = 2.0
# Cells that are worked on at a time.
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is done to every row.

    Args:
        kind: "columns" are standardised, "rows" divided by the sum of their absolute values, "norm" divides them
            by their Euclidean norm, "none"; "mixed norm" and "mixed" divide a row's counts by norm or sum and
            standardise the other columns.
        mean: (F,) subtracted from the columns.
        scale: (F,) that they are divided by; of columns that are divided over the row, after that.
        counted: (F,) which columns are divided over the row; all for "rows" and "norm", some for the mixed ones.
    """

    kind: str
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    counted: NDArray[np.bool_]

    @classmethod
    def fit(cls, features: Features, kind: ScalingKind = "auto") -> Scaling:
        """Choose what to do by these rows.

        "auto" gives rows the length 2 if the features count something, as words in a text; otherwise it
        standardises columns, and bounds the length of their rows. Where some columns count and others do not, each
        gets what it needs.
        """
        if kind not in KINDS:
            raise ConfigError(f"scaling is {kind!r}; it can be {', '.join(KINDS)}.")
        check_features("X", features.shape[1])
        width = features.shape[1]
        mean, scale, counted = np.zeros(width), np.ones(width), np.full(width, kind in ("rows", "norm"))
        if kind not in ("auto", "columns"):
            return cls(kind, mean, scale, counted)
        if kind == "auto":
            counted = counting(features.shape[0], _entries_of(features))
            scale[counted] = 1 / LENGTH
        others = np.flatnonzero(~counted)
        if others.size:
            mean[others], scale[others], varied = _statistics(features, others)
            scale[others] *= shrinkage(varied) if kind == "auto" else 1.0
        found = "norm" if counted.all() else "mixed norm" if counted.any() else "columns"
        return cls(found, mean, scale, counted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaling) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.mean.tobytes()))

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same scaling again."""
        content = {"kind": self.kind, "mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return {**content, "counted": np.flatnonzero(self.counted).tolist()} if self.kind in _MIXED else content

    @classmethod
    def from_json(cls, content: Any) -> Scaling:
        """The scaling that `to_json` described; DataError if the content is something else."""
        damaged = "The description of the features' scale is damaged. Train the model again."
        try:
            mean, scale = np.array(content["mean"], float), np.array(content["scale"], float)
            counted = np.full(mean.shape, content["kind"] in ("rows", "norm"))
            counted[np.array(content.get("counted", []), dtype=np.int64)] = True
            made = cls(content["kind"], mean, scale, counted)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataError(damaged) from error
        usable = np.isfinite(made.mean).all() and (made.scale > 0).all() and made.mean.shape == made.scale.shape
        if made.kind not in (*KINDS, *_MIXED) or not usable or made.mean.ndim != 1:
            raise DataError(damaged)
        return made

    def apply(self, features: Features) -> Features:
        """(N, F) the features of these rows, scaled.

        Standardised columns are dense; divided rows are sparse where that is faster.
        """
        values = features.data if isinstance(features, csr_array) else features
        if values.size and np.abs(values).max() > LARGEST_NUMBER:
            raise InputError(f"X: a value is beyond {LARGEST_NUMBER:g}, which cannot be a feature. Correct it.")
        if self.kind == "columns":
            return np.asarray((_dense(features) - self.mean) / self.scale, dtype=np.float32)
        if self.kind in ("rows", "norm"):
            rows = csr_array(features)
            return sparse_or_dense(divided_rows(rows, by_norm=self.kind == "norm", length=self._length))
        return self._mixed(features) if self.kind in _MIXED else features

    @property
    def _length(self) -> float:
        """What the norm of a row's counts, or their sum, is to be."""
        by_norm = self.kind in ("norm", "mixed norm")
        return 1 / float(self.scale[self.counted][0]) if by_norm and self.counted.any() else 1.0

    def _mixed(self, features: Features) -> Features:
        counts, others = np.flatnonzero(self.counted), np.flatnonzero(~self.counted)
        columns = csc_array(features)
        standardised = (_dense(csr_array(columns[:, others])) - self.mean[others]) / self.scale[others]
        by_norm = self.kind == "mixed norm"
        divided = divided_rows(csr_array(columns[:, counts]), by_norm=by_norm, length=self._length)
        joined = csc_array(hstack([divided, csr_array(standardised.astype(np.float32))], format="csc"))
        return sparse_or_dense(csr_array(joined[:, np.argsort(np.concatenate([counts, others]))]))


@dataclass(frozen=True, eq=False)
class Entries:
    """What is not zero in every column.

    Args:
        count: (F,) how many entries.
        total: (F,) the sum of their absolute values.
        negative: (F,) whether one is negative.
    """

    count: NDArray[np.int64]
    total: NDArray[np.float64]
    negative: NDArray[np.bool_]


def counting(num_rows: int, entries: Entries) -> NDArray[np.bool_]:
    """(F,) which columns count something, by what is not zero in them.

    Columns that are mostly zeros all together count, whatever their signs, as words do that a hash gives signs.
    Beside columns that are not, only those without a negative entry can count. Those that are seldom zero count
    with the others if they have the same unit and no negative entry: a measurement that somebody standardised is
    as large as marks are.
    """
    count = entries.count
    for able in (count > 0, ~entries.negative & (count > 0)):  # A column of zeros says nothing of the others.
        share = count[able].sum() / max(1, num_rows * int(able.sum()))
        if able.any() and share <= _COUNTING_SHARE:
            rare = able & (count <= _FREQUENT * num_rows)
            frequent = able & ~entries.negative & _of_one_unit(entries, rare)
            return np.asarray(rare | frequent | (count == 0))
    return np.zeros(count.size, dtype=bool)


def _of_one_unit(entries: Entries, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(F,) whether the entries of a column are as large as is usual among these columns, but for a factor."""
    mean = np.divide(entries.total, entries.count, out=np.zeros(among.size), where=entries.count > 0)
    usual = float(np.median(mean[among]))
    return np.asarray((mean <= _OTHER_UNIT * usual) & (mean >= usual / _OTHER_UNIT))


def shrinkage(num_columns: int) -> float:
    """What so many standardised columns are divided by, so that their rows are 2 long on average or less."""
    return max(1.0, math.sqrt(num_columns) / LENGTH)


def divided_rows(counts: csr_array, *, by_norm: bool, length: float = 1.0) -> csr_array:
    """(N, F) float32, every row with this Euclidean norm or sum of absolute values; a row of zeros stays one."""
    lengths = _norms(counts) if by_norm else _sums(counts)
    return csr_array(diags_array(length * _inverse(lengths)) @ counts).astype(np.float32)


def sparse_or_dense(features: csr_array) -> Features:
    """The features in the form that is faster for them."""
    if features.nnz > DENSE_SHARE * features.shape[0] * features.shape[1]:
        return features.toarray()
    return features


def mean_and_scale(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(g,) the mean and the standard deviation of g columns, given as rows (g, N) without gaps; no spread is 1.

    The sum over a row does not depend on how many rows there are, so that a column is scaled the same everywhere.
    """
    mean = columns.sum(axis=1) / columns.shape[1]
    spread = np.sqrt(np.square(columns - mean[:, None]).sum(axis=1) / columns.shape[1])
    # The mean of equal numbers may differ from them by rounding, which is no spread.
    constant = (columns == columns[:, :1]).all(axis=1)
    return np.where(constant, columns[:, 0], mean), np.where(constant | (spread == 0), 1.0, spread)


def checksum(features: Features) -> str:
    """A sha256 over the values, by which the same rows are known again."""
    parts = [features.data, features.indices, features.indptr] if isinstance(features, csr_array) else [features]
    digest = hashlib.sha256(str(features.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _statistics(
    features: Features, places: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """The mean and the standard deviation of these columns, and how many of them are not constant."""
    columns = csc_array(features) if isinstance(features, csr_array) else features
    step = max(1, _CELLS // max(1, features.shape[0]))
    means, scales, varied = [], [], 0
    for start in range(0, places.size, step):
        block = np.ascontiguousarray(_dense(columns[:, places[start : start + step]]).T)
        mean, scale = mean_and_scale(block)
        means.append(mean)
        scales.append(scale)
        varied += int((block != block[:, :1]).any(axis=1).sum())
    return np.concatenate(means), np.concatenate(scales), varied


def _entries_of(features: Features) -> Entries:
    if not isinstance(features, csr_array):
        total = np.abs(features).sum(axis=0, dtype=np.float64)
        return Entries(np.count_nonzero(features, axis=0), total, np.asarray((features < 0).any(axis=0)))
    width = features.shape[1]
    return Entries(
        np.bincount(features.indices[features.data != 0], minlength=width),
        np.asarray(np.bincount(features.indices, np.abs(features.data), minlength=width), dtype=np.float64),
        np.bincount(features.indices[features.data < 0], minlength=width) > 0,
    )


def _sums(features: Features) -> NDArray[np.float64]:
    """(N,) the sum of the absolute values of every row."""
    if isinstance(features, csr_array):
        return np.asarray(abs(features).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.abs(features).sum(axis=1, dtype=np.float64))


def _norms(features: csr_array) -> NDArray[np.float64]:
    """(N,) the Euclidean norm of every row, also of very small numbers, whose squares would be zero."""
    features = features.astype(np.float64)
    largest = abs(features).max(axis=1).toarray().ravel() if features.shape[1] else np.zeros(features.shape[0])
    unit = csr_array(diags_array(_inverse(largest)) @ features)
    return np.asarray(largest * np.sqrt(np.asarray(unit.power(2).sum(axis=1)).ravel()))


def _inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)


def _dense(features: Any) -> NDArray[np.float64]:
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    return np.asarray(dense, dtype=np.float64)
