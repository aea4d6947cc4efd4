"""A small kernel that needs of numba and llvmlite what all the others need, with what it should give."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from lcgnn.compute.kernels.compiled.jit import compiled, exp, random_bits
from lcgnn.compute.kernels.compiled.lanes import (
    exponential,
    kept,
    larger,
    load,
    repeated,
    single,
    spread,
    store,
    sums,
    where_positive,
)
from lcgnn.compute.kernels.compiled.prefetch import prefetch
from lcgnn.compute.kernels.dropout import Dropout

Floats = NDArray[np.float32]

_DROPOUT = Dropout(rate=0.5, key=7)


@compiled
def probe(values: Floats, key: NDArray[np.uint32], scale: np.float32, results: Floats) -> None:
    """Fill ``results`` (3, 6) from (6,) values."""
    prefetch(values, 0)
    given = load(values, 0, 6)
    two, half = spread(np.float32(2), 6), spread(np.float32(0.5), 6)
    store(results, 0, exponential(larger(given, half) / two - half) * kept(key[0], 0, 1, key[1], scale, 6))
    store(results, 6, where_positive(given, repeated(sums(given, 2), 2), given + two))
    for k in range(6):
        chosen = random_bits(key[0], k) >= key[1]
        results[2, k] = exp(single(given)) * scale if chosen else np.float32(0)


def _expected(values: Floats) -> Floats:
    mask = _DROPOUT.mask(torch.arange(6)).numpy()
    of_pairs = np.repeat(values.reshape(3, 2).sum(axis=1), 2)
    rows = (
        np.exp(np.maximum(values, 0.5) / 2 - 0.5) * mask,
        np.where(values > 0, of_pairs, values + 2),
        np.exp(values[0]) * mask,
    )
    return np.stack(rows).astype(np.float32)


def deviation() -> float:
    """How far the compiled kernel is off at most; infinite where it gives no number."""
    values = np.array([0.3, -1.2, 2.5, 0.7, -0.4, 1.1], dtype=np.float32)
    results = np.full((3, 6), np.nan, dtype=np.float32)
    probe(values, *_DROPOUT.arguments(), results)
    return float(np.nan_to_num(np.abs(results - _expected(values)), nan=np.inf).max())
