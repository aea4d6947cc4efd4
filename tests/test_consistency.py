"""The paper's equations, held against the explicit N x N form and at the edges of floating point."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from lcgnn import consistency
from lcgnn.consistency import (
    aggregate,
    agreement,
    classification_loss,
    label_consistency_loss,
    regularization_loss,
    row_normalize,
    safe_log,
    same_label,
)

SMALLEST = 1e-6  # The oracle takes plain logarithms: what it takes them of must be far above the epsilon.


def dense_aggregate(distribution: Tensor) -> Tensor:
    """P Z with P = RowNormalize(Z Z'), as the paper writes it before Theorem 1."""
    similarity = distribution @ distribution.T  # (N, N)
    return (similarity / similarity.sum(dim=1, keepdim=True)) @ distribution


def dense_loss(distribution: Tensor, labels: Tensor, nodes: Tensor, weight: float, reduction: str) -> Tensor:
    """L_C + lambda L_R by equations 4 to 6, or with both sums replaced by means."""
    likelihood = dense_aggregate(distribution)[nodes, labels[nodes]]
    labelled, known = distribution[nodes], labels[nodes]
    pairwise = labelled @ labelled.T  # N of the paper
    same = torch.tensor([[bool(a == b) for b in known] for a in known])  # M of the paper
    classification = -likelihood.log().sum()
    regularization = -(pairwise[same].log().sum() + (1 - pairwise[~same]).log().sum())
    assume(min(likelihood.min(), pairwise[same].min()) > SMALLEST)
    assume(same.all() or (1 - pairwise[~same]).min() > SMALLEST)
    if reduction == "mean":
        classification, regularization = classification / len(nodes), regularization / len(nodes) ** 2
    return classification + weight * regularization


@st.composite
def problems(draw, dtype=torch.float64):
    """Logits, labels and labelled nodes of any shape, from nearly uniform to nearly one-hot distributions."""
    num_nodes = draw(st.integers(1, 40))
    num_classes = draw(st.integers(1, 8))
    num_labelled = draw(st.integers(1, num_nodes))
    spread = draw(st.sampled_from([0.1, 1.0, 4.0]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    logits = spread * torch.randn(num_nodes, num_classes, generator=generator, dtype=dtype)
    labels = torch.randint(num_classes, (num_nodes,), generator=generator)
    nodes = torch.randperm(num_nodes, generator=generator)[:num_labelled]
    return logits, labels, nodes


def value_and_gradient(function, logits: Tensor) -> tuple[Tensor, Tensor]:
    logits = logits.clone().requires_grad_()
    value = function(torch.softmax(logits, dim=1))
    (gradient,) = torch.autograd.grad(value, logits)
    return value.detach(), gradient


@settings(max_examples=60)
@given(problems())
def test_theorem_1_aggregation_equals_the_explicit_pairwise_product(problem):
    distribution = torch.softmax(problem[0], dim=1)
    torch.testing.assert_close(aggregate(distribution), dense_aggregate(distribution), rtol=1e-11, atol=1e-13)


@settings(max_examples=100)
@given(problems(), st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from(["mean", "sum"]))
def test_loss_and_gradient_equal_those_of_the_explicit_n_by_n_form(problem, weight, reduction):
    logits, labels, nodes = problem
    expected, expected_gradient = value_and_gradient(
        lambda z: dense_loss(z, labels, nodes, weight, reduction), logits
    )
    value, gradient = value_and_gradient(
        lambda z: label_consistency_loss(z, labels, nodes, weight, reduction), logits
    )
    torch.testing.assert_close(value, expected, rtol=1e-8, atol=1e-10)
    scale = expected_gradient.abs().max().item()
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-7, atol=1e-8 * scale + 1e-12)


@settings(max_examples=30)
@given(problems())
def test_the_sum_is_the_mean_times_the_count(problem):
    logits, labels, nodes = problem
    distribution, count = torch.softmax(logits, dim=1), len(nodes)
    aggregated, labelled = aggregate(distribution), distribution[nodes]
    torch.testing.assert_close(
        classification_loss(aggregated, labels, nodes, "sum"),
        count * classification_loss(aggregated, labels, nodes, "mean"),
    )
    torch.testing.assert_close(
        regularization_loss(labelled, labels[nodes], "sum"),
        count**2 * regularization_loss(labelled, labels[nodes], "mean"),
    )


@settings(max_examples=30)
@given(problems(dtype=torch.float32))
def test_rows_of_the_aggregated_distribution_sum_to_one(problem):
    aggregated = aggregate(torch.softmax(problem[0], dim=1))
    assert (aggregated >= 0).all()
    torch.testing.assert_close(aggregated.sum(dim=1), torch.ones(len(aggregated)), rtol=0, atol=1e-5)


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32))
def test_renaming_nodes_and_classes_renames_the_result_and_keeps_the_loss(problem, seed):
    logits, labels, nodes = problem
    distribution = torch.softmax(logits, dim=1)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(distribution.shape[0], generator=generator)  # New node i is old node order[i].
    classes = torch.randperm(distribution.shape[1], generator=generator)
    renamed = distribution[order][:, classes]
    torch.testing.assert_close(aggregate(renamed), aggregate(distribution)[order][:, classes])
    torch.testing.assert_close(
        label_consistency_loss(renamed, classes.argsort()[labels[order]], order.argsort()[nodes], 2.0),
        label_consistency_loss(distribution, labels, nodes, 2.0),
    )


@settings(max_examples=30)
@given(problems())
def test_nodes_aggregated_with_a_given_agreement_get_the_answer_of_the_whole_graph(problem):
    logits, _, nodes = problem
    distribution = torch.softmax(logits, dim=1)
    alone = aggregate(distribution[nodes], agreement(distribution))
    torch.testing.assert_close(alone, aggregate(distribution)[nodes])


@settings(max_examples=30)
@given(problems())
def test_only_the_labels_of_the_labelled_nodes_are_read(problem):
    logits, labels, nodes = problem
    distribution = torch.softmax(logits, dim=1)
    hidden = torch.full_like(labels, -1)
    hidden[nodes] = labels[nodes]
    assert label_consistency_loss(distribution, hidden, nodes) == label_consistency_loss(
        distribution, labels, nodes
    )


def test_nodes_that_agree_with_nobody_else_keep_their_distribution():
    distribution = torch.eye(3)
    torch.testing.assert_close(aggregate(distribution), distribution)


def test_uniform_nodes_are_pulled_towards_the_majority():
    """Two nodes of class 0, one of class 1: P of the undecided node is proportional to (1/2, 1/2, 1/2, 1/2)."""
    distribution = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    torch.testing.assert_close(aggregate(distribution)[3], torch.tensor([2.5 / 4, 1.5 / 4]))


def test_the_regulariser_of_two_nodes_is_the_binary_cross_entropy_of_their_agreement():
    distribution = torch.tensor([[0.8, 0.2], [0.4, 0.6]], dtype=torch.float64)
    agreements = torch.tensor([0.68, 0.44, 0.44, 0.52], dtype=torch.float64)
    same = -agreements.log().sum()
    different = -(agreements[[0, 3]].log().sum() + (1 - agreements[1:3]).log().sum())
    torch.testing.assert_close(regularization_loss(distribution, torch.tensor([1, 1]), "sum"), same)
    torch.testing.assert_close(regularization_loss(distribution, torch.tensor([0, 1]), "sum"), different)


def test_same_label_marks_the_pairs_with_equal_labels():
    expected = torch.tensor([[True, False, True], [False, True, False], [True, False, True]])
    assert torch.equal(same_label(torch.tensor([2, 0, 2])), expected)


def test_a_row_of_zeros_stays_zero_when_normalised():
    matrix = torch.tensor([[0.0, 0.0], [1.0, 3.0]], requires_grad=True)
    normalized = row_normalize(matrix)
    torch.testing.assert_close(normalized, torch.tensor([[0.0, 0.0], [0.25, 0.75]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_logarithm_is_finite_at_zero_and_just_below_and_exact_elsewhere(dtype):
    probability = torch.tensor([-1e-9, 0.0, 1.0, 0.25], dtype=dtype, requires_grad=True)
    logarithm = safe_log(probability)
    logarithm.sum().backward()
    assert torch.isfinite(logarithm).all()
    assert torch.isfinite(probability.grad).all()
    torch.testing.assert_close(logarithm[2:], torch.tensor([1.0, 0.25], dtype=dtype).log())


ONE_HOT = {
    "right": (torch.eye(4)[[0, 1, 2, 3, 0, 1]], [0, 1, 2, 3, 0, 1]),
    "one class": (torch.ones(6, 1), [0] * 6),
    "all nodes the same class": (torch.eye(3)[[1] * 6], [1] * 6),
    "all wrong": (torch.eye(3)[[0, 1, 2, 0, 1, 2]], [1, 2, 0, 1, 2, 0]),
    "same rows, different labels": (torch.eye(2)[[0] * 6], [0, 1, 0, 1, 0, 1]),
    "different rows, same label": (torch.eye(3)[[0, 1, 2, 0, 1, 2]], [2] * 6),
    "a class that no node has": (torch.eye(4)[[0, 0, 1, 1, 2, 2]], [3, 0, 3, 1, 2, 3]),
}


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("num_labelled", [1, 6])
@pytest.mark.parametrize("case", ONE_HOT)
def test_one_hot_rows_give_a_finite_loss_and_gradient(case, num_labelled, reduction):
    rows, labels = ONE_HOT[case]
    nodes = torch.arange(num_labelled)
    direct = rows.clone().requires_grad_()
    logits = (2e4 * rows - 1e4).requires_grad_()  # +-1e4
    for leaf, distribution in ((direct, direct), (logits, torch.softmax(logits, dim=1))):
        assert torch.equal(distribution.detach(), rows)
        loss = label_consistency_loss(distribution, torch.tensor(labels), nodes, 2.0, reduction)
        loss.backward()
        assert torch.isfinite(loss)
        assert torch.isfinite(leaf.grad).all()


def test_perfect_one_hot_rows_have_no_loss_and_contradictory_ones_the_largest():
    rows, labels = ONE_HOT["right"]
    nodes = torch.arange(6)
    assert abs(label_consistency_loss(rows, torch.tensor(labels), nodes, 2.0)) < 1e-5
    rows, labels = ONE_HOT["same rows, different labels"]
    # Half of the nodes are as wrong as can be, and so are half of the pairs.
    worst = -torch.tensor(torch.finfo(torch.float32).eps).log()
    loss = label_consistency_loss(rows, torch.tensor(labels), nodes, 2.0)
    torch.testing.assert_close(loss, 0.5 * worst + 2.0 * 0.5 * worst)


def test_no_matrix_over_pairs_of_all_nodes_is_built():
    """300,000 nodes: the N x N form would need 360 GB."""
    distribution = torch.softmax(torch.randn(300_000, 3, generator=torch.Generator().manual_seed(0)), dim=1)
    labels, nodes = torch.tensor([0, 1, 2]).repeat(100_000), torch.arange(30)
    assert torch.isfinite(consistency.label_consistency_loss(distribution, labels, nodes))
