"""A hidden layer with its projection: the fused form is the plain one."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.backend import constant
from lcgnn.compute.kernels.dense import NarrowProduct, add_bias, transposed_product
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.kernels.hidden import hidden_layer


@settings(max_examples=60)
@given(
    st.integers(1, 60),
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from(["relu", "elu"]),
    st.sampled_from([0.0, 0.6]),
    st.integers(0, 2**32 - 1),
)
def test_value_and_gradients_equal_the_plain_form(rows, width, outputs, activation, rate, key):
    generator = torch.Generator().manual_seed(key)
    shapes = ((rows, width), (width,), (width, outputs))
    inputs = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    grad_output = torch.randn(rows, outputs, generator=generator)
    results = []
    for choice in ("fused", "plain"):
        with use(choice):
            output = hidden_layer(inputs[0], inputs[1], inputs[2], activation, Dropout(rate, key))
            results.append((output, *torch.autograd.grad(output, inputs, grad_output)))
    for fused, plain in zip(*results, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-4, atol=1e-5 * max(1, rows) ** 0.5 / (1 - rate))


def written(product: NarrowProduct, tall: Tensor) -> Tensor:
    result = torch.empty(tall.shape[0], product.padded.shape[1])
    product.write(tall, result)
    return result[:, : product.weight.shape[1]]


@given(st.integers(1, 40), st.integers(1, 20), st.integers(1, 20), st.integers(0, 1000))
def test_narrow_products_equal_the_usual_ones(rows, width, columns, seed):
    generator = torch.Generator().manual_seed(seed)
    tall, weight, other = (
        torch.randn(shape, generator=generator) for shape in ((rows, width), (width, columns), (rows, columns))
    )
    product = NarrowProduct(weight)
    for _ in range(2):
        product.update()
        torch.testing.assert_close(written(product, tall), tall @ weight, rtol=1e-5, atol=1e-5)
        weight.mul_(2)
    torch.testing.assert_close(transposed_product(tall, other), tall.T @ other, rtol=1e-5, atol=1e-5)


@given(st.integers(1, 40), st.sampled_from([1, 3, 7, 9]), st.integers(0, 1000))
def test_a_bias_reaches_every_row(rows, columns, seed):
    generator = torch.Generator().manual_seed(seed)
    matrix, bias = torch.randn(rows, columns, generator=generator), torch.randn(columns, generator=generator)
    expected = matrix + bias
    add_bias(constant(columns), matrix.numpy(), bias.numpy())
    torch.testing.assert_close(matrix, expected)
