"""Bring a matrix of numbers to a scale that a network learns from, so that it can be done again to other rows.

The rule, for the columns of a table and for the matrix of a file alike: columns that count something (none
negative, together mostly zeros, each zero in at least half of the rows) stay sparse, and a row's counts are
divided by their sum; every other column is standardised.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, hstack

from lcgnn.errors import ConfigError, DataError, InputError
from lcgnn.features.cells import LARGEST_NUMBER
from lcgnn.graph import Features
from lcgnn.limits import check_features

ScalingKind = Literal["auto", "columns", "rows", "none"]
KINDS = ("auto", "columns", "rows", "none")
# Features beyond this share of non-zeros are kept dense.
DENSE_SHARE = 0.3
# A column with fewer zeros measures something, even among counts.
_DENSE_COLUMN = 0.5
# Cells that are worked on at a time.
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is done to every row.

    Args:
        kind: "columns" are standardised, "rows" divided by the sum of their absolute values, "none", or "mixed".
        mean: (F,) subtracted from the columns.
        scale: (F,) that they are divided by.
        counted: (F,) which columns are divided by their sum over the row; all for "rows", some for "mixed".
    """

    kind: str
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    counted: NDArray[np.bool_]

    @classmethod
    def fit(cls, features: Features, kind: ScalingKind = "auto") -> Scaling:
        """Choose what to do by these rows.

        "auto" divides rows by their sum if the features count something, as words in a text, as the paper does,
        and otherwise standardises columns; where some columns count and others do not, each as it needs.
        """
        if kind not in KINDS:
            raise ConfigError(f"scaling is {kind!r}; it can be {', '.join(KINDS)}.")
        check_features("X", features.shape[1])
        width = features.shape[1]
        counted = np.full(width, kind == "rows")
        if kind == "auto":
            counted = counting(features.shape[0], *_numbers_of_entries(features))
        mean, scale = np.zeros(width), np.ones(width)
        if kind in ("auto", "columns") and not counted.all():
            mean[~counted], scale[~counted] = _statistics(features, np.flatnonzero(~counted))
        found: str = "rows" if counted.all() else "mixed" if counted.any() else "columns"
        return cls("none" if kind == "none" else found, mean, scale, counted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaling) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.mean.tobytes()))

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same scaling again."""
        content = {"kind": self.kind, "mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return {**content, "counted": np.flatnonzero(self.counted).tolist()} if self.kind == "mixed" else content

    @classmethod
    def from_json(cls, content: Any) -> Scaling:
        """The scaling that `to_json` described; DataError if the content is something else."""
        damaged = "The description of the features' scale is damaged. Train the model again."
        try:
            mean, scale = np.array(content["mean"], float), np.array(content["scale"], float)
            counted = np.full(mean.shape, content["kind"] == "rows")
            counted[np.array(content.get("counted", []), dtype=np.int64)] = True
            made = cls(content["kind"], mean, scale, counted)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataError(damaged) from error
        usable = np.isfinite(made.mean).all() and (made.scale > 0).all() and made.mean.shape == made.scale.shape
        if made.kind not in (*KINDS, "mixed") or not usable or made.mean.ndim != 1:
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
        if self.kind == "rows":
            if isinstance(features, csr_array) or _share_of_entries(features) <= DENSE_SHARE:
                return divided_by_row_sums(csr_array(features))
            sums = np.abs(features).sum(axis=1, dtype=np.float64)
            return np.asarray(features * _inverse(sums)[:, None], dtype=np.float32)
        return self._mixed(features) if self.kind == "mixed" else features

    def _mixed(self, features: Features) -> Features:
        counts, others = np.flatnonzero(self.counted), np.flatnonzero(~self.counted)
        columns = csc_array(features)
        standardised = (_dense(csr_array(columns[:, others])) - self.mean[others]) / self.scale[others]
        divided = divided_by_row_sums(csr_array(columns[:, counts]))
        joined = csc_array(hstack([divided, csr_array(standardised.astype(np.float32))], format="csc"))
        return sparse_or_dense(csr_array(joined[:, np.argsort(np.concatenate([counts, others]))]))


def counting(num_rows: int, entries: NDArray[np.int64], negative: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(F,) which columns count something, by how many of their entries are not zero, and if any is negative."""
    # A column of zeros says nothing of the others.
    able = ~negative & (entries > 0)
    share = entries[able].sum() / max(1, num_rows * int(able.sum()))
    if not able.any() or share > DENSE_SHARE:
        return np.zeros(entries.size, dtype=bool)
    return np.asarray(~negative & (entries <= _DENSE_COLUMN * num_rows))


def divided_by_row_sums(counts: csr_array) -> csr_array:
    """(N, F) float32, every row divided by the sum of its absolute values; a row of zeros stays one."""
    sums = np.asarray(abs(counts).sum(axis=1), dtype=np.float64).ravel()
    return csr_array(diags_array(_inverse(sums)) @ counts).astype(np.float32)


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
    return mean, np.where(spread > 0, spread, 1.0)


def checksum(features: Features) -> str:
    """A sha256 over the values, by which the same rows are known again."""
    parts = [features.data, features.indices, features.indptr] if isinstance(features, csr_array) else [features]
    digest = hashlib.sha256(str(features.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _statistics(features: Features, places: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    columns = csc_array(features) if isinstance(features, csr_array) else features
    step = max(1, _CELLS // max(1, features.shape[0]))
    means, scales = [], []
    for start in range(0, places.size, step):
        block = columns[:, places[start : start + step]]
        mean, scale = mean_and_scale(np.ascontiguousarray(_dense(block).T))
        means.append(mean)
        scales.append(scale)
    return np.concatenate(means), np.concatenate(scales)


def _numbers_of_entries(features: Features) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(F,) how many entries of every column are not zero, and whether one is negative."""
    if not isinstance(features, csr_array):
        return np.count_nonzero(features, axis=0), np.asarray((features < 0).any(axis=0))
    width = features.shape[1]
    entries = np.bincount(features.indices[features.data != 0], minlength=width)
    return entries, np.bincount(features.indices[features.data < 0], minlength=width) > 0


def _inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)


def _share_of_entries(features: Features) -> float:
    values = features.data if isinstance(features, csr_array) else features
    return float(np.count_nonzero(values) / max(1, features.shape[0] * features.shape[1]))


def _dense(features: Any) -> NDArray[np.float64]:
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    return np.asarray(dense, dtype=np.float64)
