"""Dropout masks that are functions of a key: their statistics, and that numba and torch agree to the bit."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lcgnn.compute.kernels.compiled import jit
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout, derive_key, random_bits

SIZE = 200_000
KEYS = [derive_key(0, "base", epoch) for epoch in range(6)]


@jit.compiled
def compiled_bits(key, numbers, bits):
    for position in range(numbers.size):
        bits[position] = jit.random_bits(key, numbers[position])


def mask(rate: float, key: int, size: int = SIZE) -> torch.Tensor:
    return Dropout(rate, key).mask(torch.arange(size))


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**40))
def test_numba_and_torch_give_the_same_bits(key, first):
    numbers = torch.arange(first, first + 100)
    bits = np.empty(100, dtype=np.uint32)
    compiled_bits(np.uint32(key), numbers.numpy(), bits)
    np.testing.assert_array_equal(bits, random_bits(key, numbers).numpy())


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.6, 0.95])
def test_elements_are_kept_at_the_rate_and_scaled_so_that_the_mean_stays(rate, key):
    values = mask(rate, key)
    assert set(values.tolist()) == {0.0, torch.tensor(1 / (1 - rate)).item()}
    deviation = math.sqrt(rate * (1 - rate) / SIZE)
    assert abs((values > 0).double().mean() - (1 - rate)) < 5 * deviation
    assert abs(values.double().mean() - 1) < 5 * deviation / (1 - rate)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(KEYS, 2)))
def test_masks_of_different_keys_are_uncorrelated(one, other):
    both = torch.stack([mask(0.5, one), mask(0.5, other)])
    assert abs(torch.corrcoef(both)[0, 1]) < 5 / math.sqrt(SIZE)


@pytest.mark.parametrize("lag", [1, 2, 16, 64, 1433])
def test_elements_of_one_mask_are_uncorrelated(lag):
    values = mask(0.5, KEYS[0])
    assert abs(torch.corrcoef(torch.stack([values[:-lag], values[lag:]]))[0, 1]) < 5 / math.sqrt(SIZE)


def test_every_bit_is_fair():
    bits = random_bits(KEYS[0], torch.arange(SIZE))
    for position in range(32):
        assert abs(((bits >> position) & 1).double().mean() - 0.5) < 5 * 0.5 / math.sqrt(SIZE)


def test_the_same_key_gives_the_same_mask_and_another_key_another():
    assert torch.equal(mask(0.5, 7), mask(0.5, 7))
    assert not torch.equal(mask(0.5, 7), mask(0.5, 8))


def test_a_mask_does_not_depend_on_what_else_is_computed():
    everything = mask(0.5, 3, 100)
    some = torch.tensor([99, 5, 42])
    assert torch.equal(Dropout(0.5, 3).mask(some), everything[some])


def test_the_mask_of_a_matrix_numbers_its_elements_row_by_row():
    matrix = torch.zeros(7, 5, dtype=torch.float64)
    values = Dropout(0.5, 11).mask_like(matrix)
    assert values.dtype == torch.float64
    assert torch.equal(values.view(-1).float(), mask(0.5, 11, 35))


def test_without_dropout_everything_is_kept():
    assert torch.equal(NO_DROPOUT.mask(torch.arange(1000)), torch.ones(1000))


def test_a_larger_rate_drops_more_of_the_same_elements():
    assert (mask(0.6, 5)[mask(0.3, 5) == 0] == 0).all()


def test_keys_are_32_bits_and_differ_with_every_part():
    parts = [(seed, phase, epoch) for seed in range(5) for phase in ("base", "control") for epoch in range(50)]
    keys = {derive_key(*part) for part in parts}
    assert len(keys) == len(parts)
    assert all(0 <= key < 2**32 for key in keys)
    assert derive_key(1, "base", 23) == derive_key(1, "base", 23)


def test_the_order_and_the_borders_of_the_parts_matter():
    assert len({derive_key(12, 3), derive_key(1, 23), derive_key(123), derive_key(3, 12)}) == 4
