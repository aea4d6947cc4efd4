"""The objectives against their formulas, written out with dense matrices."""

import numpy as np
import pytest
import torch

from lcgnn.compute.kernels import use
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SelectedRows
from lcgnn.consistency import safe_log
from lcgnn.graph import Graph
from lcgnn.training.objectives import AdjacencyAggregation, LabelConsistencyObjective


@pytest.fixture
def tensors() -> GraphTensors:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 30)
    return GraphTensors(Graph.from_edges("random", rng.integers(0, 30, (2, 60)), 30, labels, ("a", "b", "c")))


def dense(tensors: GraphTensors) -> torch.Tensor:
    return tensors.adjacency.matrix.to_dense()


def test_selected_rows_are_the_rows_of_the_matrix(tensors: GraphTensors) -> None:
    rows = torch.tensor([4, 0, 17])
    selected = SelectedRows.of(tensors.adjacency.matrix, rows)
    whole = torch.zeros(3, 30)
    whole[:, selected.columns] = selected.matrix.matrix.to_dense()
    assert torch.equal(whole, dense(tensors)[rows])


def test_aggregation_over_the_edges_has_the_dense_formulas_loss_and_gradient(tensors: GraphTensors) -> None:
    train = torch.tensor([3, 8, 21, 29])
    objective = AdjacencyAggregation(tensors, train)
    logits = torch.randn(30, 3, generator=torch.Generator().manual_seed(1), requires_grad=True)
    aggregated = dense(tensors) @ torch.softmax(logits, dim=1)
    expected = -safe_log(aggregated[train, tensors.labels[train]]).mean()
    (expected_gradient,) = torch.autograd.grad(expected, logits)
    loss, gradient = objective.loss_and_gradient(logits)
    assert loss == pytest.approx(expected.item(), rel=1e-6)
    assert torch.allclose(gradient, expected_gradient, atol=1e-7)


def test_aggregation_over_the_edges_scores_any_nodes(tensors: GraphTensors) -> None:
    objective = AdjacencyAggregation(tensors, torch.tensor([0]))
    logits = torch.randn(30, 3, generator=torch.Generator().manual_seed(2))
    aggregated = dense(tensors) @ torch.softmax(logits, dim=1)
    for nodes in (torch.arange(0, 30, 3), torch.arange(1, 30, 3), torch.arange(0, 30, 3)):
        loss, correct = objective.scores(logits, nodes)
        labels = tensors.labels[nodes]
        assert loss == pytest.approx(-safe_log(aggregated[nodes, labels]).mean().item(), rel=1e-6)
        assert correct == int((aggregated[nodes].argmax(dim=1) == labels).sum())


def explicit_loss(logits, labels, train, weight, cross_entropy_weight, balanced) -> torch.Tensor:
    """With the N x N matrix, as the formulas are written."""
    z = torch.softmax(logits, dim=1)
    if balanced:
        aggregated = z @ torch.diag(1 / z.sum(dim=0)) @ z.T @ z
    else:
        pairwise = z @ z.T
        aggregated = pairwise / pairwise.sum(dim=1, keepdim=True) @ z
    loss = -safe_log(aggregated[train, labels[train]]).mean()
    pairs = z[train] @ z[train].T
    same = labels[train][:, None] == labels[train]
    loss = loss - weight * safe_log(torch.where(same, pairs, 1 - pairs)).mean()
    return loss + cross_entropy_weight * torch.nn.functional.cross_entropy(logits[train], labels[train])


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("cross_entropy_weight", [0.0, 1.5])
def test_label_consistency_has_the_explicit_formulas_loss_and_gradient(
    tensors: GraphTensors, choice, balanced, cross_entropy_weight
) -> None:
    train = torch.tensor([3, 8, 21, 29, 4])
    logits = 2 * torch.randn(30, 3, generator=torch.Generator().manual_seed(1)).requires_grad_()
    expected = explicit_loss(logits, tensors.labels, train, 2.0, cross_entropy_weight, balanced)
    (expected_gradient,) = torch.autograd.grad(expected, logits)
    objective = LabelConsistencyObjective(tensors, train, 2.0, "mean", cross_entropy_weight, balanced)
    with use(choice):
        loss, gradient = objective.loss_and_gradient(logits.detach())
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-4, atol=1e-6)


def test_balanced_weights_are_doubly_stochastic_and_what_is_reported_is_scored(tensors: GraphTensors) -> None:
    logits = 2 * torch.randn(30, 3, generator=torch.Generator().manual_seed(1))
    z = torch.softmax(logits, dim=1)
    weights = z @ torch.diag(1 / z.sum(dim=0)) @ z.T
    torch.testing.assert_close(weights.sum(dim=0), torch.ones(30))
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(30))
    objective = LabelConsistencyObjective(tensors, torch.tensor([0]), 1.0, "mean", balanced=True)
    torch.testing.assert_close(objective.distribution(logits), weights @ z)
    nodes = torch.arange(1, 30, 3)
    loss, correct = objective.scores(logits, nodes)
    labels = tensors.labels[nodes]
    assert loss == pytest.approx(-safe_log((weights @ z)[nodes, labels]).mean().item(), rel=1e-5)
    assert correct == int(((weights @ z)[nodes].argmax(dim=1) == labels).sum())
