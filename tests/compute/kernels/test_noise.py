"""Noise by number: compiled and plain, on the whole matrix and on some of its rows."""

import pytest
import torch

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.kernels.noise import noise_like

both_kernels = pytest.mark.parametrize("choice", ["fused", "plain"])


def test_the_compiled_noise_equals_the_plain_to_the_bit():
    shape, rows = torch.empty(50, 7), torch.arange(50).flip(0)
    for dropout in (Dropout(0.3, 11), Dropout(0.3, 11, rows)):
        with use("fused"):
            compiled = noise_like(shape, dropout)
        with use("plain"):
            assert torch.equal(noise_like(shape, dropout), compiled)


@both_kernels
def test_some_rows_have_the_noise_that_they_have_in_the_whole_matrix(choice):
    rows = torch.tensor([3, 17, 4])
    with use(choice):
        whole = noise_like(torch.empty(20, 5), Dropout(0.5, 2))
        assert torch.equal(noise_like(torch.empty(3, 5), Dropout(0.5, 2, rows)), whole[rows])


@both_kernels
def test_noise_has_mean_0_and_variance_1_and_nearly_the_tails_of_a_normal_distribution(choice):
    with use(choice):
        noise = noise_like(torch.empty(20_000, 10), Dropout(0.5, 5)).double()
    assert noise.mean().abs() < 0.01
    assert noise.var().item() == pytest.approx(1, abs=0.01)
    assert (noise.abs() > 1.96).double().mean().item() == pytest.approx(0.05, abs=0.01)


def test_another_key_gives_unrelated_noise():
    one, other = (noise_like(torch.empty(5000, 4), Dropout(0.5, key)).flatten() for key in (1, 2))
    assert torch.corrcoef(torch.stack([one, other]))[0, 1].abs() < 0.03
