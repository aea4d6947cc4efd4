"""A program as a user would write it, with every public name in it: it runs, and mypy --strict is content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import networkx
import numpy as np
import pandas
import torch
from sklearn.datasets import load_iris
from sklearn.neighbors import kneighbors_graph

import lcgnn
from lcgnn import consistency, errors, methods
from lcgnn.assessment import evaluation, trust
from lcgnn.assessment import explanation as explanation_
from lcgnn.runs import doubt as doubt_
from lcgnn.runs import records
from lcgnn.runs import suggest as suggest_
from lcgnn.sources import arrays, npz, source
from lcgnn.sources.examples import write_example

SHORT = {"base_epochs": 4, "epochs": 4}


class Listening(lcgnn.Watcher):
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def notes(self, notes: Sequence[str]) -> None:
        self.heard += notes

    def trained(self, record: records.Record) -> None:
        last: records.StageRecord = record.last
        self.heard.append(f"{record.method}: {last.epochs} epochs")


@methods.register("user-majority", "The most frequent training class, for every node.")
@dataclass(frozen=True)
class Majority(methods.Method):
    """A method of the user's own."""

    smoothing: float = methods.setting(1.0, "Added to every class's count.")

    def fit(
        self, graph: lcgnn.Graph, split: lcgnn.Split, seed: int = 0, context: methods.Context | None = None
    ) -> methods.Fit:
        counts = np.bincount(graph.labels[split.train], minlength=graph.num_classes) + self.smoothing
        prior = (counts / counts.sum()).astype(np.float32)
        stage = methods.Stage("majority", np.tile(prior, (graph.num_nodes, 1)))
        return methods.Fit((stage,), tensors={}, seconds=0.0)


class Rows(torch.nn.Module):
    """A network of the user's own, called as PyTorch Geometric's are."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(num_features, num_classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.layer(x)
        return logits


def commands(folder: Path) -> None:
    """What the commands do."""
    watcher = Listening()
    training: lcgnn.Training = lcgnn.train(
        folder, "lc-gcn", folds=2, settings=SHORT, workers=1, out="run", watcher=watcher
    )
    expected: trust.Assessment | None = training.expected
    assert expected is not None
    overall: trust.Expected = expected.overall
    assert overall.low <= overall.accuracy <= overall.high
    assert watcher.heard[-1] == "lc-gcn: 4 epochs"
    prediction: lcgnn.Prediction = lcgnn.predict(training.folder, columns=lcgnn.Columns(label="label"))
    prediction.save("predictions.csv")
    model: lcgnn.TrainedModel = training.models()[0]
    assert model.label_distribution(prediction.loaded.graph).shape == (300, 3)
    compared: lcgnn.Comparison = lcgnn.compare(
        folder, ["gcn", "mlp"], folds=2, settings={"base_epochs": 4}, workers=1, out="compared"
    )
    assert compared.words
    explanation: explanation_.Explanation = lcgnn.explain(training.folder, "article-071", retrain=False)
    assert explanation.id == "article-071"
    doubts: doubt_.Doubts = lcgnn.doubt(
        folder, "gcn", folds=2, settings={"base_epochs": 4}, workers=1, out="doubt"
    )
    assert doubts.given == 30
    suggestions: suggest_.Suggestions = lcgnn.suggest(folder, 3, labels="none")
    assert len(suggestions.items) == 3


def graphs(folder: Path) -> tuple[lcgnn.Graph, lcgnn.Split]:
    """The ways in and out."""
    nodes, edges = (pandas.read_csv(folder / f"{name}.csv") for name in ("nodes", "edges"))
    made: lcgnn.Loaded = lcgnn.from_frames(nodes, edges)
    found: source.Source = lcgnn.source_of(str(folder))
    assert found.load().graph.num_nodes == made.graph.num_nodes
    data = lcgnn.to_pyg(made.graph, made.split)
    back, split = lcgnn.from_pyg(data)
    assert back.num_edges == made.graph.num_edges
    assert split is not None
    npz.save_npz(Path("graph.npz"), made.graph, made.split)
    arrays.save_arrays(made.graph, made.split, Path("arrays"))
    stored, _ = arrays.load_arrays(Path("arrays"))
    assert stored.num_edges == back.num_edges
    path = networkx.path_graph(3)
    networkx.set_node_attributes(path, {0: "a", 2: "b"}, "label")
    named = lcgnn.from_networkx(path)
    small = lcgnn.from_arrays(None, ["a", None, "b"], np.array([[0, 1], [1, 2]]))
    assert named.graph.num_nodes == small.graph.num_nodes == 3
    return made.graph, made.split


def fits(graph: lcgnn.Graph, split: lcgnn.Split) -> None:
    """Methods by name, and of one's own."""
    fit = methods.entry("user-majority").method().fit(graph, split)
    assert methods.is_registered("user-majority")
    assert "gcn" in {item.name for item in methods.entries()}
    first = lcgnn.create("gcn", base_epochs=3, selection="last")
    again = methods.recorded("gcn", first.plain_settings())
    assert again == first
    methods.register_module("user-rows", Rows)
    module: methods.ModuleMethod = methods.module_method(Rows, base_epochs=3, epochs=3, selection="last")
    for fitted in (fit, first.fit(graph, split), module.fit(graph, split)):
        found, nodes = fitted.label_distribution, split.train
        assert 0 <= evaluation.accuracy(found, graph.labels, nodes) <= 1
        assert 0 <= evaluation.calibration_error(found, graph.labels, nodes) <= 1
    assert evaluation.balanced_accuracy(np.array([1, 1]), np.array([2, 1])) == 0.75


def estimators() -> None:
    """As in scikit-learn."""
    x, truth = load_iris(return_X_y=True)
    neighbours = kneighbors_graph(x, 10)
    adjacency = neighbours.maximum(neighbours.T)
    y = np.where(np.arange(150) % 10 == 0, truth, -1)
    classifier = lcgnn.LCGNNClassifier(base_epochs=3, epochs=3, random_state=0)
    search = lcgnn.LCGNNSearchCV(classifier, {"hidden": [4]}, cv=2).fit(x, y, adjacency=adjacency)
    assert search.predict(x, adjacency=adjacency).shape == (150,)


def layer() -> None:
    """Label consistency as a module and as functions."""
    logits, labels, nodes = torch.randn(6, 3), torch.tensor([0, 1, 2, 0, 1, 2]), torch.tensor([0, 1, 2])
    distribution = torch.softmax(logits, dim=1)
    agreed = consistency.agreement(distribution)
    together = consistency.aggregate(distribution, consistency.balanced(agreed))
    whole = consistency.label_consistency_loss(distribution, labels, nodes, weight=0.0)
    alone = consistency.classification_loss(consistency.aggregate(distribution), labels, nodes)
    torch.testing.assert_close(whole, alone)
    assert consistency.regularization_loss(distribution[nodes], labels[nodes]) > 0
    assert consistency.same_label(labels).sum() == 12
    torch.testing.assert_close(consistency.row_normalize(together).sum(dim=1), torch.ones(6))
    assert consistency.safe_log(together).isfinite().all()
    model = lcgnn.LabelConsistency(torch.nn.Identity(), weight=1.0)
    assert model(logits).shape == (6, 3)


def faults() -> None:
    """Errors are caught by what they mean."""
    kinds: list[type[errors.LCGNNError]] = [errors.DataError, errors.InputError, errors.DownloadError]
    kinds += [errors.ConfigError, errors.ExtraError, errors.OutputError, errors.TrainingError, errors.RankError]
    assert issubclass(errors.InputWarning, UserWarning)
    try:
        lcgnn.load("atlantis")
    except errors.LCGNNError as error:
        found = type(error)
    assert found in kinds


if __name__ == "__main__":
    write_example(Path("example"))
    commands(Path("example"))
    fits(*graphs(Path("example")))
    estimators()
    layer()
    faults()
    print("Every public name does what it says.")
