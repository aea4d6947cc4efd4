"""Bias, activation and dropout: the fused form is the plain one, which is a true derivative."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout

ACTIVATIONS = ("relu", "elu")


def inputs(rows: int, columns: int, seed: int = 0, dtype=torch.float32) -> tuple[Tensor, ...]:
    """x, bias and the gradient that comes from above."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((rows, columns), (columns,), (rows, columns))
    return tuple(3 * torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)


def run(choice, x, bias, grad_output, activation, dropout) -> tuple[Tensor, ...]:
    """Output and the gradients of x and bias."""
    x, bias = x.detach().requires_grad_(), bias.clone().requires_grad_()
    with use(choice):
        output = activate(x, bias, activation, dropout)
        return output.detach(), *torch.autograd.grad(output, (x, bias), grad_output)


@settings(max_examples=60)
@given(
    st.integers(1, 50),
    st.integers(1, 20),
    st.sampled_from(ACTIVATIONS),
    st.sampled_from([0.0, 0.3, 0.6, 0.95]),
    st.integers(0, 2**32 - 1),
)
def test_the_fused_form_equals_the_plain_one(rows, columns, activation, rate, key):
    arguments = (*inputs(rows, columns, key), activation, Dropout(rate, key))
    # Far below zero ELU's slope is the small difference of two numbers near 1: compare with the slope above zero.
    scales = (1.0, arguments[2].abs().max().item() / (1 - rate), arguments[2].abs().sum().item() / (1 - rate))
    results = zip(scales, run("fused", *arguments), run("plain", *arguments), strict=True)
    for scale, fused, plain in results:
        torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-6 * scale)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_inputs_and_gradients_may_be_transposed_views(activation):
    x, bias, grad_output = inputs(7, 5)
    expected = run("plain", x, bias, grad_output, activation, NO_DROPOUT)
    strided = x.T.contiguous().T, bias, grad_output.T.contiguous().T
    for fused, plain in zip(run("fused", *strided, activation, NO_DROPOUT), expected, strict=True):
        torch.testing.assert_close(fused, plain)


@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_plain_gradient_is_the_derivative(activation, rate):
    x, bias, _ = inputs(6, 4, dtype=torch.float64)
    dropout = Dropout(rate, 3)
    assert torch.autograd.gradcheck(
        lambda x, bias: activate(x, bias, activation, dropout), (x.requires_grad_(), bias.requires_grad_())
    )


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_dropout_acts_on_the_activated_values_with_the_mask_of_the_key(activation, choice):
    x, bias, _ = inputs(30, 8)
    dropout = Dropout(0.4, 77)
    with use(choice):
        torch.testing.assert_close(
            activate(x, bias, activation, dropout), activate(x, bias, activation) * dropout.mask_like(x)
        )


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_extreme_values_stay_exact(choice):
    x, bias = torch.tensor([[-1e30, -200.0, -88.0, 0.0, 1e30]]), torch.zeros(5)
    output, slope, _ = run(choice, x, bias, torch.ones(1, 5), "elu", NO_DROPOUT)
    torch.testing.assert_close(output, torch.tensor([[-1.0, -1.0, -1.0, 0.0, 1e30]]))
    torch.testing.assert_close(slope, torch.tensor([[0.0, 0.0, 0.0, 1.0, 1.0]]), rtol=0, atol=1e-7)


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_network_that_went_wrong_is_not_hidden(activation, choice):
    with use(choice):
        output = activate(torch.tensor([[float("nan"), 1.0]]), torch.zeros(2), activation)
    assert torch.isnan(output).tolist() == [[True, False]]
