"""Vectors inside compiled code compute what numpy computes."""

import numpy as np
import pytest
import torch

from lcgnn.compute.kernels.compiled.jit import compiled
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
from lcgnn.compute.kernels.dropout import Dropout

COUNT = 6


@compiled
def arithmetic(first, second, results):
    a, b = load(first, 0, 6), load(second, 0, 6)
    store(results, 0, a + b)
    store(results, 6, a - b)
    store(results, 12, a * b)
    store(results, 18, a / b)
    store(results, 24, larger(a, b))
    store(results, 30, where_positive(a, b, spread(np.float32(7), 6)))


@compiled
def regrouped(values, results):
    given = load(values, 0, 6)
    store(results, 0, sums(given, 1))
    store(results, 6, sums(given, 2))
    store(results, 9, sums(given, 3))
    store(results, 11, sums(given, 6))
    store(results, 12, repeated(given, 2))
    results[24] = single(given)


@compiled
def exponentials(values, results):
    for i in range(0, values.size, 5):
        store(results, i, exponential(load(values, i, 5)))


@compiled
def masks(key, first, step, scale, results):
    store(results, 0, kept(key[0], first, step, key[1], scale, 7))


def numbers(seed: int, count: int = COUNT) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count).astype(np.float32)


def test_arithmetic_is_lane_by_lane():
    a, b = numbers(0), numbers(1)
    results = np.empty(6 * COUNT, dtype=np.float32)
    arithmetic(a, b, results)
    expected = [a + b, a - b, a * b, a / b, np.maximum(a, b), np.where(a > 0, b, 7)]
    np.testing.assert_allclose(results.reshape(6, COUNT), expected, rtol=1e-6)


def test_lanes_are_loaded_from_and_stored_to_where_they_are_and_nowhere_else():
    values, results = numbers(0, 8), np.zeros(8, dtype=np.float32)

    @compiled
    def copy(source, target):
        store(target, 2, load(source, 1, 3))

    copy(values, results)
    np.testing.assert_array_equal(results, [0, 0, *values[1:4], 0, 0, 0])


def test_neighbouring_lanes_are_added_and_lanes_repeated():
    values = numbers(2)
    results = np.empty(25, dtype=np.float32)
    regrouped(values, results)
    np.testing.assert_allclose(results[:6], values)
    np.testing.assert_allclose(results[6:9], values.reshape(3, 2).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(results[9:11], values.reshape(2, 3).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(results[11], values.sum(), rtol=1e-5)
    np.testing.assert_array_equal(results[12:24], np.repeat(values, 2))
    assert results[24] == values[0]


def test_the_exponential_is_right_to_two_units_in_the_last_place():
    values = np.linspace(-86, 80, 5000).astype(np.float32)
    results = np.empty_like(values)
    exponentials(values, results)
    np.testing.assert_allclose(results, np.exp(values.astype(np.float64)), rtol=2.4e-7)


def test_the_exponential_of_what_is_far_below_zero_is_as_good_as_zero_and_that_of_nan_is_nan():
    values = np.array([-88, -1e30, -np.inf, np.nan, 0], dtype=np.float32)
    results = np.empty_like(values)
    exponentials(values, results)
    assert (results[:3] < 1e-37).all()
    assert np.isnan(results[3])
    assert results[4] == 1


@pytest.mark.parametrize(("first", "step"), [(0, 1), (5, 3), (2**32 - 4, 1), (2**33 + 1, 100)])
def test_masks_are_those_of_dropout(first, step):
    dropout = Dropout(0.6, 99)
    results = np.empty(7, dtype=np.float32)
    key, scale = dropout.arguments()
    masks(key, first, step, scale, results)
    np.testing.assert_allclose(results, dropout.mask(first + step * torch.arange(7)), rtol=1e-6)
