"""The stronger bases in PyTorch Geometric and in plain torch, with the same settings, one epoch a call.

A network is a module of (features, propagation) whose layers over the edges come from either library; to add
one is to write its module and to name it in ``MODULES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch_geometric
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import APPNP, GCN2Conv, GCNConv

from lcgnn.compute.sparse import normalized_adjacency
from lcgnn.graph import Graph, Split
from lcgnn.methods.appnp import APPNPMethod
from lcgnn.methods.dagnn import DAGNNMethod
from lcgnn.methods.gcnii import GCNIIMethod
from lcgnn.methods.grand import GRANDMethod
from lcgnn.methods.lc import TwoPhase
from lcgnn.sources.pyg import to_pyg

# A step over the edges: the normalised adjacency's product with dense rows.
Step = Callable[[Tensor], Tensor]


def plain_step(graph: Graph) -> Step:
    """The product of torch itself, with a sparse matrix of coordinates as most authors' code has it."""
    coordinates = normalized_adjacency(graph.adjacency).tocoo()
    adjacency = torch.sparse_coo_tensor(
        torch.tensor([coordinates.row.tolist(), coordinates.col.tolist()]),
        torch.tensor(coordinates.data),
        coordinates.shape,
        check_invariants=False,
    ).coalesce()
    return lambda rows: torch.sparse.mm(adjacency, rows)


class _Perceptron(nn.Module):
    """What APPNP and DAGNN begin with."""

    def __init__(self, graph: Graph, hidden: int, rate: float) -> None:
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(graph.num_features, hidden), nn.Linear(hidden, graph.num_classes)
        self.rate = rate

    def answers(self, x: Tensor) -> Tensor:
        x = functional.dropout(x, self.rate, self.training)
        hidden = functional.dropout(self.lin1(x).relu(), self.rate, self.training)
        answers: Tensor = self.lin2(hidden)
        return answers


class PeerAPPNP(_Perceptron):
    """Predict, then propagate: by PyTorch Geometric's layer, or by torch's products."""

    def __init__(self, graph: Graph, method: APPNPMethod, step: Step | None, edges: Tensor) -> None:
        super().__init__(graph, method.hidden, method.dropout)
        self.step, self.edges, self.method = step, edges, method
        self.propagate = APPNP(K=method.steps, alpha=method.teleport, cached=True)

    def forward(self, x: Tensor) -> Tensor:
        start = self.answers(x)
        if self.step is None:
            output: Tensor = self.propagate(start, self.edges)
            return output
        current, teleport = start, self.method.teleport
        for _ in range(self.method.steps):
            current = (1 - teleport) * self.step(current) + teleport * start
        return current


class PeerDAGNN(_Perceptron):
    """As its authors wrote it on PyTorch Geometric's message passing, or with torch's products."""

    def __init__(self, graph: Graph, method: DAGNNMethod, step: Step | None, edges: Tensor) -> None:
        super().__init__(graph, method.hidden, method.dropout)
        self.edges, self.steps = edges, method.steps
        self.gate = nn.Linear(graph.num_classes, 1)
        self.step = step or self._pyg_step(graph)

    def _pyg_step(self, graph: Graph) -> Step:
        layer: Any = GCNConv(graph.num_classes, graph.num_classes, bias=False, cached=True)
        layer.lin = nn.Identity()
        return lambda rows: layer(rows, self.edges)

    def forward(self, x: Tensor) -> Tensor:
        powers = [self.answers(x)]
        for _ in range(self.steps):
            powers.append(self.step(powers[-1]))
        stacked = torch.stack(powers, dim=1)
        retained = torch.sigmoid(self.gate(stacked)).transpose(1, 2)
        return torch.matmul(retained, stacked).squeeze(1)


class PeerGCNII(nn.Module):
    """PyTorch Geometric's convolutions, or the authors' own."""

    def __init__(self, graph: Graph, method: GCNIIMethod, step: Step | None, edges: Tensor) -> None:
        super().__init__()
        self.step, self.edges, self.method = step, edges, method
        hidden = method.hidden
        self.lin1, self.lin2 = nn.Linear(graph.num_features, hidden), nn.Linear(hidden, graph.num_classes)
        layers = [
            GCN2Conv(hidden, method.teleport, method.strength, number + 1, cached=True)
            for number in range(method.layers)
        ]
        self.convolutions: Any = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        rate, training = self.method.dropout, self.training
        first = current = self.lin1(functional.dropout(x, rate, training)).relu()
        for number, layer in enumerate(self.convolutions):
            current = functional.dropout(current, rate, training)
            if self.step is None:
                current = layer(current, first, self.edges).relu()
            else:
                current = self._convolved(current, first, layer.weight1, number + 1).relu()
        output: Tensor = self.lin2(functional.dropout(current, rate, training))
        return output

    def _convolved(self, current: Tensor, first: Tensor, weight: Tensor, number: int) -> Tensor:
        assert self.step is not None
        strength = math.log(self.method.strength / number + 1)
        support = (1 - self.method.teleport) * self.step(current) + self.method.teleport * first
        return strength * torch.mm(support, weight) + (1 - strength) * support


class PeerGRAND(nn.Module):
    """As its authors wrote it: dense features propagated, S times a step, then the perceptron."""

    def __init__(self, graph: Graph, method: GRANDMethod, step: Step | None, edges: Tensor) -> None:
        super().__init__()
        self.edges, self.method = edges, method
        self.lin1 = nn.Linear(graph.num_features, method.hidden)
        self.lin2 = nn.Linear(method.hidden, graph.num_classes)
        self.step = step or self._pyg_step(graph)

    def _pyg_step(self, graph: Graph) -> Step:
        layer: Any = GCNConv(graph.num_features, graph.num_features, bias=False, cached=True)
        layer.lin = nn.Identity()
        return lambda rows: layer(rows, self.edges)

    def forward(self, x: Tensor) -> Tensor:
        method, rate = self.method, self.method.drop_node
        x = x * torch.bernoulli(torch.full((x.shape[0], 1), 1 - rate)) if self.training else x * (1 - rate)
        total = power = x
        for _ in range(method.steps):
            power = self.step(power)
            total = total + power
        hidden = functional.dropout(total / (method.steps + 1), method.input_dropout, self.training)
        hidden = functional.dropout(self.lin1(hidden).relu(), method.dropout, self.training)
        output: Tensor = self.lin2(hidden)
        return output

    def training_loss(self, x: Tensor, labels: Tensor, train: Tensor) -> Tensor:
        """The mean over the samples, and how far they are from their sharpened mean."""
        samples = [self(x) for _ in range(self.method.samples)]
        predictions = torch.stack([torch.softmax(sample, dim=1) for sample in samples])
        sharp = predictions.mean(dim=0).pow(1 / self.method.temperature)
        sharp = (sharp / sharp.sum(dim=1, keepdim=True)).detach()
        supervised = torch.stack([functional.cross_entropy(sample[train], labels[train]) for sample in samples])
        return supervised.mean() + self.method.agreement_weight * (predictions - sharp).square().sum(2).mean()


MODULES: dict[str, Any] = {"appnp": PeerAPPNP, "dagnn": PeerDAGNN, "gcnii": PeerGCNII, "grand": PeerGRAND}


class PeerTraining:
    """Training of such a module, one epoch (train and validate) a call.

    Args:
        name: Of the network.
        method: Its settings.
        graph: What to train on.
        split: Its labels.
        form: "PyG" or "plain torch".
    """

    def __init__(self, name: str, method: TwoPhase, graph: Graph, split: Split, form: str) -> None:
        torch_geometric.seed_everything(0)
        self.data = to_pyg(graph, split)
        step = plain_step(graph) if form == "plain torch" else None
        self.model: nn.Module = MODULES[name](graph, method, step, self.data.edge_index)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01, weight_decay=5e-4)

    def __call__(self) -> float:
        self.model.train()
        self.optimizer.zero_grad()
        train, validation, labels = self.data.train_mask, self.data.val_mask, self.data.y
        self._training_loss(train, labels).backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            scores = self.model(self.data.x)[validation]
            functional.cross_entropy(scores, labels[validation]).item()
            return float((scores.argmax(dim=1) == labels[validation]).float().mean())

    def _training_loss(self, train: Tensor, labels: Tensor) -> Tensor:
        if isinstance(self.model, PeerGRAND):
            return self.model.training_loss(self.data.x, labels, train)
        return functional.cross_entropy(self.model(self.data.x)[train], labels[train])
