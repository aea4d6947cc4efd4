"""The same models with the same settings in PyTorch Geometric, and label consistency as its authors wrote it."""

from __future__ import annotations

import torch
import torch_geometric
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv

from lcgnn.consistency import aggregate, regularization_loss, safe_log
from lcgnn.graph import Graph, Split
from lcgnn.sources.pyg import to_pyg


class PyGGCN(nn.Module):
    """GCN as in PyTorch Geometric's own example, with dropout on the hidden layer only."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.conv1 = GCNConv(num_features, 16, cached=True)
        self.conv2 = GCNConv(16, num_classes, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = functional.dropout(self.conv1(x, edge_index).relu(), 0.5, self.training)
        logits: Tensor = self.conv2(hidden, edge_index)
        return logits


class PyGGAT(nn.Module):
    """GAT as in PyTorch Geometric's own example."""

    def __init__(self, num_features: int, num_classes: int, output_heads: int = 1) -> None:
        super().__init__()
        self.conv1 = GATConv(num_features, 8, heads=8, dropout=0.6)
        self.conv2 = GATConv(64, num_classes, heads=output_heads, concat=False, dropout=0.6)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = functional.dropout(x, 0.6, self.training)
        hidden = functional.dropout(functional.elu(self.conv1(x, edge_index)), 0.6, self.training)
        logits: Tensor = self.conv2(hidden, edge_index)
        return logits


def aggregate_dense(distribution: Tensor) -> Tensor:
    """RowNormalize(Z Z') Z with the N x N matrix, as in the authors' code."""
    similarity = distribution @ distribution.T
    return (similarity / similarity.sum(dim=1, keepdim=True)) @ distribution


class PyGTraining:
    """A training run of such a model, one epoch (train and validate) a call.

    Args:
        model: "gcn" or "gat".
        graph: What to train on.
        split: Its labels.
        form: "base" without label consistency, "theorem" with Theorem 1, "dense" with the N x N matrix.
        weight: Of the regulariser.
    """

    def __init__(self, model: str, graph: Graph, split: Split, form: str, weight: float = 2.0) -> None:
        torch_geometric.seed_everything(0)
        self.data = to_pyg(graph, split)
        pubmed_gat = model == "gat" and graph.name.lower() == "pubmed"
        if model == "gcn":
            self.model: nn.Module = PyGGCN(graph.num_features, graph.num_classes)
        else:
            self.model = PyGGAT(graph.num_features, graph.num_classes, 8 if pubmed_gat else 1)
        self.rate = 0.01 if model == "gcn" or pubmed_gat else 0.005
        self.decay = 1e-3 if pubmed_gat else 5e-4
        self.weight = weight
        self.validation_loss = float("nan")
        self.continue_with(form)

    def continue_with(self, form: str) -> None:
        """Go on with the same parameters, another form and a new optimiser."""
        self.aggregate = {"base": None, "theorem": aggregate, "dense": aggregate_dense}[form]
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.rate, weight_decay=self.decay)

    def __call__(self) -> float:
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(self.data.x, self.data.edge_index)
        loss = self._loss(logits, self.data.train_mask)
        loss.backward()
        self.optimizer.step()
        return self._validate()

    def _loss(self, logits: Tensor, mask: Tensor) -> Tensor:
        labels = self.data.y[mask]
        if self.aggregate is None:
            return functional.cross_entropy(logits[mask], labels)
        distribution = logits.softmax(dim=1)
        likelihood = functional.nll_loss(safe_log(self.aggregate(distribution)[mask]), labels)
        return likelihood + self.weight * regularization_loss(distribution[mask], labels)

    @torch.no_grad()
    def _validate(self) -> float:
        scores, mask = self._scores(), self.data.val_mask
        self.validation_loss = functional.cross_entropy(scores[mask], self.data.y[mask]).item()
        return self._accuracy(scores, mask)

    @torch.no_grad()
    def test_accuracy(self) -> float:
        """With the parameters as they are."""
        return self._accuracy(self._scores(), self.data.test_mask)

    def _scores(self) -> Tensor:
        self.model.eval()
        logits = self.model(self.data.x, self.data.edge_index)
        return logits if self.aggregate is None else safe_log(self.aggregate(logits.softmax(dim=1)))

    def _accuracy(self, scores: Tensor, mask: Tensor) -> float:
        return float((scores[mask].argmax(dim=1) == self.data.y[mask]).float().mean())
