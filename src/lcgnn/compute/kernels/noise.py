"""Noise whose every element is a pure function of a key and the element's number, as dropout's masks are."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from lcgnn.compute.kernels import threads
from lcgnn.compute.kernels.backend import fused
from lcgnn.compute.kernels.dropout import Dropout, random_bits

# The sum of four even bytes: its mean, and the square root of its variance.
MEAN, DEVIATION = 4 * 255 / 2, math.sqrt(4 * (256**2 - 1) / 12)


def noise_like(matrix: Tensor, dropout: Dropout) -> Tensor:
    """(N, D) noise of mean 0 and variance 1, nearly normal: the sum of an element's four random bytes.

    Args:
        matrix: (N, D), of which only the shape counts.
        dropout: Its key and rows number the elements; its rate has no effect.
    """
    if fused(matrix):
        from lcgnn.compute.kernels.compiled.noise import fill

        result = torch.empty(matrix.shape)
        key, written = np.uint32(dropout.key), result.numpy()

        def of_rows(rows: slice) -> None:
            fill(key, dropout.numbers_of(rows), written[rows])

        threads.for_rows(of_rows, matrix.shape[0])
        return result
    bits = random_bits(dropout.key, dropout.numbers_like(matrix))
    total = (bits & 255) + ((bits >> 8) & 255) + ((bits >> 16) & 255) + (bits >> 24)
    return (total.to(torch.float32) - MEAN) * np.float32(1 / DEVIATION).item()
