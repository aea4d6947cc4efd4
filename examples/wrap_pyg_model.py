"""Label consistency around a PyTorch Geometric model: one line for the model, one for the loss."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import cross_entropy
from torch_geometric.nn.models import GraphSAGE

from lcgnn import LabelConsistency, load
from lcgnn.sources.pyg import to_pyg

torch.manual_seed(0)
data = to_pyg(*load("cora"))
base = GraphSAGE(data.num_features, hidden_channels=32, num_layers=2, out_channels=7, dropout=0.5)
model = LabelConsistency(base, weight=2.0)  # the one line


def train(loss_of: Callable[[], Tensor], epochs: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    model.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()


def test_accuracy(module: Module) -> float:
    model.eval()
    with torch.no_grad():
        predicted = module(data.x, data.edge_index).argmax(dim=1)
    return float((predicted == data.y)[data.test_mask].float().mean())


train(lambda: cross_entropy(base(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask]), epochs=60)
print(f"GraphSAGE alone: {test_accuracy(base):.1%}")
train(lambda: model.loss(data.y, data.train_mask, data.x, data.edge_index), epochs=100)
print(f"with label consistency: {test_accuracy(model):.1%}")
