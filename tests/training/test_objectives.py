"""The objectives against their formulas, written out with dense matrices."""

import numpy as np
import pytest
import torch

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.sparse import SelectedRows
from lcgnn.consistency import safe_log
from lcgnn.graph import Graph
from lcgnn.training.objectives import AdjacencyAggregation


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
