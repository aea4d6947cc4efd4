"""Five labels per class on Cora: GCN alone, then with label consistency."""

from lcgnn import create, load
from lcgnn.assessment.evaluation import accuracy
from lcgnn.sources.splits import first_per_class

graph, public_split = load("cora")
split = first_per_class(graph, public_split, 5)
fit = create("lc-gcn", "cora").fit(graph, split, seed=0)
for stage in fit.stages:
    print(f"{stage.name}: {accuracy(stage.label_distribution, graph.labels, split.test):.1%}")
