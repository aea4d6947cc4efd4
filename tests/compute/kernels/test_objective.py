"""The fused label-consistency loss and scores are the plain ones, at any size and any saturation."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lcgnn import consistency
from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.compiled.agreement import BLOCK
from lcgnn.compute.kernels.objective import (
    class_agreement,
    cross_entropy_gradient,
    cross_entropy_scores,
    label_consistency_loss,
    label_consistency_scores,
)


def problem(num_nodes, num_classes, num_labelled, seed, spread=1.5) -> tuple[Tensor, Tensor, Tensor]:
    """Logits, labels and labelled nodes, in no particular order."""
    generator = torch.Generator().manual_seed(seed)
    logits = spread * torch.randn(num_nodes, num_classes, generator=generator)
    labels = torch.randint(num_classes, (num_nodes,), generator=generator)
    return logits, labels, torch.randperm(num_nodes, generator=generator)[:num_labelled]


def run(choice, logits, labels, nodes, weight, reduction) -> tuple[Tensor, Tensor]:
    """Loss and the gradient of the logits."""
    logits = logits.detach().requires_grad_()
    with use(choice):
        loss = label_consistency_loss(logits, labels, nodes, weight, reduction)
        (gradient,) = torch.autograd.grad(loss, logits)
    return loss.detach(), gradient


def assert_same(*arguments) -> None:
    (fused, fused_gradient), (plain, plain_gradient) = run("fused", *arguments), run("plain", *arguments)
    torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-6)
    scale = plain_gradient.abs().max().item()
    # Of C = 1 the gradient is zero, up to what float32 leaves of differences of numbers near 1 / L.
    torch.testing.assert_close(fused_gradient, plain_gradient, rtol=1e-5, atol=1e-5 * scale + 1e-7)


@settings(max_examples=80)
@given(
    st.integers(1, 60),
    st.sampled_from([1, 2, 7, 12]),  # up to 8 their number is a constant to the compiler, and each is compiled
    st.floats(0, 1),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.sampled_from(["mean", "sum"]),
    st.integers(0, 2**32),
)
def test_the_fused_loss_equals_the_plain_one(num_nodes, num_classes, share, weight, reduction, seed):
    num_labelled = max(1, round(share * num_nodes))
    assert_same(*problem(num_nodes, num_classes, num_labelled, seed), weight, reduction)


@pytest.mark.parametrize("num_labelled", [1, 31, 32, 33, 140])
@pytest.mark.parametrize("num_nodes", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1])
def test_sizes_around_a_block_of_nodes_and_a_group_of_factors_make_no_difference(num_nodes, num_labelled):
    assert_same(*problem(num_nodes, 7, num_labelled, num_nodes), 2.0, "mean")


def test_logits_may_be_a_transposed_view():
    logits, labels, nodes = problem(300, 4, 40, 0)
    strided = logits.T.contiguous().T
    assert_same(strided, labels, nodes, 2.0, "mean")
    for one, other in zip(
        run("fused", strided, labels, nodes, 2.0, "mean"),
        run("fused", logits, labels, nodes, 2.0, "mean"),
        strict=True,
    ):
        assert torch.equal(one, other)


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_the_gradient_scales_with_what_is_done_to_the_loss(choice):
    logits, labels, nodes = problem(20, 3, 5, 0)
    _, gradient = run(choice, logits, labels, nodes, 1.0, "mean")
    logits.requires_grad_()
    with use(choice):
        (-3 * label_consistency_loss(logits, labels, nodes)).backward()
    torch.testing.assert_close(logits.grad, -3 * gradient)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_the_plain_gradient_is_the_derivative(weight, reduction):
    logits, labels, nodes = problem(8, 3, 4, 1)
    assert torch.autograd.gradcheck(
        lambda logits: label_consistency_loss(logits, labels, nodes, weight, reduction),
        logits.double().requires_grad_(),
    )


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("size", [1e2, 1e4])
def test_extreme_logits_give_a_finite_loss_and_gradient(size, choice):
    signs = torch.where(torch.rand(300, 4, generator=torch.Generator().manual_seed(0)) < 0.5, -1.0, 1.0)
    logits = torch.cat([size * signs, size * (2 * torch.eye(4) - 1)])  # Ties between classes, then one-hot rows.
    labels = torch.arange(304) % 4
    for nodes in (torch.arange(304), torch.tensor([303])):
        for reduction in ("mean", "sum"):
            loss, gradient = run(choice, logits, labels, nodes, 2.0, reduction)
            assert torch.isfinite(loss)
            assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_contradictory_one_hot_rows_have_the_largest_loss_there_is(choice):
    """All rows say class 0; half of the labelled nodes, and so half of the pairs, say otherwise."""
    logits = torch.tensor([[1e4, -1e4]]).repeat(64, 1)
    loss, gradient = run(choice, logits, torch.arange(64) % 2, torch.arange(64), 2.0, "mean")
    worst = -torch.tensor(torch.finfo(torch.float32).eps).log()
    torch.testing.assert_close(loss, 1.5 * worst)
    assert torch.isfinite(gradient).all()


@settings(max_examples=40)
@given(st.integers(1, 600), st.sampled_from([1, 2, 7]), st.floats(0, 1), st.integers(0, 2**32))
def test_fused_scores_equal_plain_ones_and_the_dense_formula(num_nodes, num_classes, share, seed):
    logits, labels, nodes = problem(num_nodes, num_classes, max(1, round(share * num_nodes)), seed)
    with use("fused"):
        loss, correct = label_consistency_scores(logits, labels, nodes)
    with use("plain"):
        plain_loss, plain_correct = label_consistency_scores(logits, labels, nodes)
    distribution = torch.softmax(logits.double(), dim=1)
    similarity = distribution @ distribution.T
    aggregated = (similarity / similarity.sum(dim=1, keepdim=True)) @ distribution
    chosen = aggregated[nodes, labels[nodes]] + torch.finfo(torch.float32).eps
    assert loss == pytest.approx(plain_loss, rel=1e-5, abs=1e-6)
    assert loss == pytest.approx(-chosen.log().mean().item(), rel=1e-5, abs=1e-6)
    # Two classes within rounding of each other may be taken for one another.
    two = aggregated[nodes].topk(min(2, num_classes), dim=1).values
    close = int((two[:, 0] - two[:, -1] < 1e-6).sum()) if num_classes > 1 else 0
    expected = int((aggregated[nodes].argmax(dim=1) == labels[nodes]).sum())
    assert abs(correct - expected) <= close
    assert abs(plain_correct - expected) <= close


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_the_loss_from_logits_is_that_of_their_label_distribution(choice):
    logits, labels, nodes = problem(50, 5, 10, 3)
    expected = consistency.label_consistency_loss(torch.softmax(logits, dim=1), labels, nodes, 2.0)
    torch.testing.assert_close(run(choice, logits, labels, nodes, 2.0, "mean")[0], expected)


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(1, 12), st.floats(0, 1), st.floats(0, 60), st.integers(0, 2**32))
def test_the_fused_cross_entropy_is_torch_s(num_nodes, num_classes, share, spread, seed):
    num_labelled = max(1, round(share * num_nodes))
    logits, labels, nodes = problem(num_nodes, num_classes, num_labelled, seed, spread)
    leaf = logits.clone().requires_grad_()
    expected = torch.nn.functional.cross_entropy(leaf[nodes], labels[nodes])
    (gradient,) = torch.autograd.grad(expected, leaf)
    loss, fused_gradient = cross_entropy_gradient(logits, labels, nodes)
    # A loss near 0 is a difference of logits, which are rounded as they are large.
    rounding = 1e-6 + torch.finfo(torch.float32).eps * logits.abs().max().item()
    assert loss == pytest.approx(expected.item(), rel=1e-5, abs=rounding)
    torch.testing.assert_close(fused_gradient, gradient, rtol=1e-4, atol=1e-7)
    with use("plain"):
        plain_loss, plain_correct = cross_entropy_scores(logits, labels, nodes)
    fused_loss, fused_correct = cross_entropy_scores(logits, labels, nodes)
    assert fused_loss == pytest.approx(plain_loss, rel=1e-5, abs=rounding)
    assert fused_correct == plain_correct


def test_a_node_that_is_given_twice_counts_twice():
    logits, labels, _ = problem(5, 3, 5, 0)
    nodes = torch.tensor([1, 1, 4])
    leaf = logits.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(torch.nn.functional.cross_entropy(leaf[nodes], labels[nodes]), leaf)
    torch.testing.assert_close(cross_entropy_gradient(logits, labels, nodes)[1], gradient)


@pytest.mark.parametrize("num_classes", [3, 20])
@pytest.mark.parametrize("num_nodes", [1, BLOCK, 2 * BLOCK + 5])
def test_the_class_agreement_and_its_way_back_are_those_of_autograd(num_nodes, num_classes):
    logits, _, _ = problem(num_nodes, num_classes, 1, seed=4)
    weights = torch.randn(num_classes, num_classes, generator=torch.Generator().manual_seed(5))
    leaf = logits.clone().requires_grad_()
    expected = consistency.agreement(torch.softmax(leaf, dim=1))
    (gradient,) = torch.autograd.grad((weights * expected).sum(), leaf)
    for choice in ("fused", "plain"):
        with use(choice):
            found, carry_back = class_agreement(logits)
            torch.testing.assert_close(found, expected.detach(), rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(carry_back(weights), gradient, rtol=1e-5, atol=1e-6)
