"""Attention over neighbours: the fused form is the plain one, and both keep attention's promises."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.attention import Neighbourhood, attend
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout


def random_neighbourhood(num_nodes: int, density: float, seed: int) -> Neighbourhood:
    """A symmetric pattern with self-loops; at low density most nodes have no neighbour."""
    upper = np.triu(np.random.default_rng(seed).random((num_nodes, num_nodes)) < density, 1)
    pattern = csr_array((upper | upper.T | np.eye(num_nodes, dtype=bool)).astype(np.float32))
    return Neighbourhood(pattern, torch.device("cpu"))


def inputs(num_nodes: int, heads: int, width: int, seed: int, dtype=torch.float32) -> Any:
    """Projected features, the two score vectors, and the gradient that comes from above."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((num_nodes, heads * width), (heads, width), (heads, width), (num_nodes, heads * width))
    return tuple(torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)


def run(choice, projected, source, target, grad_output, neighbourhood, dropout) -> tuple[Tensor, ...]:
    """Output and all gradients."""
    leaves = [tensor.detach().requires_grad_() for tensor in (projected, source, target)]
    with use(choice):
        output = attend(leaves[0], leaves[1], leaves[2], neighbourhood, dropout)
        return output.detach(), *torch.autograd.grad(output, leaves, grad_output)


def dense_attention(projected: Tensor, source: Tensor, target: Tensor, pattern: np.ndarray) -> Tensor:
    """One head by the definition: an N x N softmax with minus infinity where there is no edge."""
    score = torch.nn.functional.leaky_relu(projected @ target[0][:, None] + projected @ source[0], 0.2)
    score = score.masked_fill(torch.tensor(pattern == 0), -torch.inf)
    return torch.softmax(score, dim=1) @ projected


@settings(max_examples=60)
@given(
    st.integers(1, 30),
    # Every shape is compiled.
    st.sampled_from([(1, 1), (1, 7), (2, 3), (3, 4), (8, 3), (8, 8)]),
    st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    st.sampled_from([0.0, 0.3, 0.6]),
    st.integers(0, 2**32 - 1),
)
def test_the_fused_form_equals_the_plain_one(num_nodes, shape, density, rate, seed):
    neighbourhood = random_neighbourhood(num_nodes, density, seed)
    arguments = (*inputs(num_nodes, shape[0], shape[1], seed), neighbourhood, Dropout(rate, seed))
    results = zip(run("fused", *arguments), run("plain", *arguments), strict=True)
    for position, (fused, plain) in enumerate(results):
        # The score vectors' gradients are sums of terms that nearly cancel.
        scale = plain.abs().max().item() if position < 2 else max(plain.abs().max().item(), 1.0)
        torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("seed", range(3))
def test_one_head_equals_a_dense_masked_softmax(seed, choice):
    neighbourhood = random_neighbourhood(12, 0.2, seed)
    *arguments, grad_output = inputs(12, 1, 5, seed)
    leaves = [tensor.requires_grad_() for tensor in arguments]
    expected = dense_attention(leaves[0], leaves[1], leaves[2], neighbourhood.pattern.toarray())
    expected_gradients = torch.autograd.grad(expected, leaves, grad_output)
    output, *gradients = run(choice, leaves[0], leaves[1], leaves[2], grad_output, neighbourhood, NO_DROPOUT)
    torch.testing.assert_close(output, expected.detach(), rtol=1e-5, atol=1e-6)
    for gradient, wanted in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_the_plain_gradient_is_the_derivative(rate):
    neighbourhood = random_neighbourhood(6, 0.3, 0)
    *arguments, _ = inputs(6, 2, 3, 0, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda projected, source, target: attend(projected, source, target, neighbourhood, Dropout(rate, 1)),
        [tensor.requires_grad_() for tensor in arguments],
    )


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_a_node_without_neighbours_attends_to_itself_alone(choice):
    neighbourhood = random_neighbourhood(4, 0.0, 0)
    projected, source, target, grad_output = inputs(4, 2, 3, 1)
    output, grad_projected, grad_source, grad_target = run(
        choice, projected, source, target, grad_output, neighbourhood, NO_DROPOUT
    )
    torch.testing.assert_close(output, projected)
    torch.testing.assert_close(grad_projected, grad_output)
    torch.testing.assert_close(grad_source, torch.zeros(2, 3), rtol=0, atol=1e-6)
    torch.testing.assert_close(grad_target, torch.zeros(2, 3), rtol=0, atol=1e-6)


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_the_coefficients_of_a_node_sum_to_one(choice):
    neighbourhood = random_neighbourhood(20, 0.3, 2)
    _, source, target, _ = inputs(20, 3, 4, 2)
    constant = torch.arange(12.0).repeat(20, 1)
    with use(choice):
        torch.testing.assert_close(attend(constant, source, target, neighbourhood), constant)


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_several_heads_are_single_heads_side_by_side(choice):
    neighbourhood = random_neighbourhood(15, 0.2, 3)
    projected, source, target, _ = inputs(15, 3, 4, 3)
    with use(choice):
        together = attend(projected, source, target, neighbourhood)
        alone = [
            attend(
                projected[:, 4 * h : 4 * h + 4].contiguous(), source[h : h + 1], target[h : h + 1], neighbourhood
            )
            for h in range(3)
        ]
    torch.testing.assert_close(together, torch.cat(alone, dim=1))


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_scores_of_any_size_give_finite_coefficients(choice):
    neighbourhood = random_neighbourhood(10, 0.5, 4)
    projected, source, target, grad_output = inputs(10, 2, 3, 4)
    for result in run(choice, 1e3 * projected, 1e3 * source, target, grad_output, neighbourhood, NO_DROPOUT):
        assert torch.isfinite(result).all()


def test_torchs_default_precision_makes_no_difference():
    neighbourhood = random_neighbourhood(10, 0.3, 6)
    arguments = (*inputs(10, 2, 3, 6), neighbourhood, Dropout(0.5, 1))
    expected = run("fused", *arguments)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        results = run("fused", *arguments)
    finally:
        torch.set_default_dtype(before)
    assert all(torch.equal(result, wanted) for result, wanted in zip(results, expected, strict=True))


@pytest.mark.parametrize(("heads", "width"), [(1, 70), (6, 20), (16, 8)])
@pytest.mark.parametrize("rate", [0.0, 0.6])
def test_heads_that_are_worked_on_one_after_the_other_equal_the_plain_form(heads, width, rate):
    for num_nodes, density in ((1, 1.0), (10, 0.0), (40, 0.2), (25, 1.0)):
        neighbourhood = random_neighbourhood(num_nodes, density, num_nodes)
        arguments = (*inputs(num_nodes, heads, width, num_nodes), neighbourhood, Dropout(rate, 3))
        for fused, plain in zip(run("fused", *arguments), run("plain", *arguments), strict=True):
            scale = max(plain.abs().max().item(), 1.0)
            torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_a_number_that_is_not_one_reaches_those_who_attend_to_it_and_nobody_else(choice):
    pattern = csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32))
    projected, source, target, _ = inputs(3, 8, 2, 0)
    projected[0, 0] = torch.nan
    with use(choice):
        attended = attend(projected, source, target, Neighbourhood(pattern, torch.device("cpu")))
    assert attended[:2, 0].isnan().all()
    assert attended[2].isfinite().all()
    assert attended[:, 2:].isfinite().all()
