"""Bring a matrix of numbers to a scale that a network learns from, so that it can be done again to other rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lcgnn.errors import ConfigError, DataError, InputError
from lcgnn.features.cells import LARGEST_NUMBER
from lcgnn.features.encoding import DENSE_SHARE
from lcgnn.graph import Features

ScalingKind = Literal["auto", "columns", "rows", "none"]
KINDS = ("auto", "columns", "rows", "none")


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is done to every row.

    Args:
        kind: "columns" are standardised, "rows" divided by the sum of their absolute values, or "none".
        mean: (F,) subtracted from the columns.
        scale: (F,) that they are divided by.
    """

    kind: ScalingKind
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def fit(cls, features: Features, kind: ScalingKind = "auto") -> Scaling:
        """Choose what to do by these rows.

        "auto" scales rows if the features count something (mostly zeros, none negative, as words in a text), as
        the paper does, and otherwise columns.
        """
        if kind not in KINDS:
            raise ConfigError(f"scaling is {kind!r}; it can be {', '.join(KINDS)}.")
        if kind == "auto":
            kind = "rows" if _are_counts(features) else "columns"
        width = features.shape[1]
        if kind != "columns":
            return cls(kind, np.zeros(width), np.ones(width))
        dense = _dense(features)
        spread = dense.std(axis=0)
        return cls(kind, dense.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same scaling again."""
        return {"kind": self.kind, "mean": self.mean.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_json(cls, content: Any) -> Scaling:
        """The scaling that `to_json` described; DataError if the content is something else."""
        damaged = "The description of the features' scale is damaged. Train the model again."
        try:
            made = cls(content["kind"], np.array(content["mean"], float), np.array(content["scale"], float))
        except (LookupError, TypeError, ValueError) as error:
            raise DataError(damaged) from error
        usable = np.isfinite(made.mean).all() and (made.scale > 0).all() and made.mean.shape == made.scale.shape
        if made.kind not in KINDS or not usable:
            raise DataError(damaged)
        return made

    def apply(self, features: Features) -> Features:
        """(N, F) the features of these rows, scaled.

        Standardised columns are dense; scaled rows are sparse where that is faster.
        """
        values = features.data if isinstance(features, csr_array) else features
        if values.size and np.abs(values).max() > LARGEST_NUMBER:
            raise InputError(f"X: a value is beyond {LARGEST_NUMBER:g}, which cannot be a feature. Correct it.")
        if self.kind == "columns":
            return np.asarray((_dense(features) - self.mean) / self.scale, dtype=np.float32)
        if self.kind == "rows":
            sums = np.asarray(abs(features).sum(axis=1), dtype=np.float64).ravel()
            factors = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
            if isinstance(features, csr_array) or _share_of_entries(features) <= DENSE_SHARE:
                return csr_array(diags_array(factors) @ csr_array(features)).astype(np.float32)
            return np.asarray(features * factors[:, None], dtype=np.float32)
        return features


def checksum(features: Features) -> str:
    """A sha256 over the values, by which the same rows are known again."""
    parts = [features.data, features.indices, features.indptr] if isinstance(features, csr_array) else [features]
    digest = hashlib.sha256(str(features.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _are_counts(features: Features) -> bool:
    values = features.data if isinstance(features, csr_array) else features
    return bool(_share_of_entries(features) <= DENSE_SHARE and (values >= 0).all())


def _share_of_entries(features: Features) -> float:
    values = features.data if isinstance(features, csr_array) else features
    return float(np.count_nonzero(values) / max(1, features.shape[0] * features.shape[1]))


def _dense(features: Features) -> NDArray[np.float64]:
    dense = features.toarray() if isinstance(features, csr_array) else features
    return np.asarray(dense, dtype=np.float64)
