"""A PyTorch Geometric model as a base: trained alone, then with label consistency, with all controls."""

from torch_geometric.nn.models import GCN

from lcgnn import load
from lcgnn.assessment.evaluation import accuracy
from lcgnn.methods import create, register_module


def two_layers(num_features: int, num_classes: int) -> GCN:
    """Any module will do that is called with features and edges and returns logits."""
    return GCN(num_features, 16, num_layers=2, out_channels=num_classes, dropout=0.5)


register_module("pyg-gcn", two_layers, title="PyG's GCN")  # and lc-pyg-gcn, pyg-gcn-control, ...

graph, split = load("cora")
fit = create("lc-pyg-gcn", consistency_weight=2.0, epochs=300).fit(graph, split)
for stage in fit.stages:
    print(f"{stage.name}: {accuracy(stage.label_distribution, graph.labels, split.test):.1%}")
