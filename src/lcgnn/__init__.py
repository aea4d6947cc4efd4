"""Label-consistency graph neural networks: node classification with a handful of labels."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcgnn.estimator import LCGNNClassifier, LCGNNSearchCV
    from lcgnn.graph import Graph, Split
    from lcgnn.methods import create
    from lcgnn.networks.label_consistency import LabelConsistency
    from lcgnn.runs.compare import Comparison, compare
    from lcgnn.runs.doubt import doubt
    from lcgnn.runs.explain import explain
    from lcgnn.runs.model import TrainedModel
    from lcgnn.runs.predict import Prediction, predict
    from lcgnn.runs.suggest import suggest
    from lcgnn.runs.train import Training, train
    from lcgnn.runs.watching import Watcher
    from lcgnn.sources.benchmarks import load
    from lcgnn.sources.choice import source_of
    from lcgnn.sources.frames import from_frames
    from lcgnn.sources.in_memory import from_arrays
    from lcgnn.sources.loaded import Loaded
    from lcgnn.sources.networkx import from_networkx
    from lcgnn.sources.pyg import from_pyg, to_pyg
    from lcgnn.sources.tables.columns import Columns

__version__ = version("lcgnn")

__all__ = [
    "Columns",
    "Comparison",
    "Graph",
    "LCGNNClassifier",
    "LCGNNSearchCV",
    "LabelConsistency",
    "Loaded",
    "Prediction",
    "Split",
    "TrainedModel",
    "Training",
    "Watcher",
    "compare",
    "create",
    "doubt",
    "explain",
    "from_arrays",
    "from_frames",
    "from_networkx",
    "from_pyg",
    "load",
    "predict",
    "source_of",
    "suggest",
    "to_pyg",
    "train",
]

# Imported on first use, because torch takes seconds and ``lcgnn --help`` must not.
_PLACES = {
    "Columns": "lcgnn.sources.tables.columns",
    "Comparison": "lcgnn.runs.compare",
    "Graph": "lcgnn.graph",
    "LCGNNClassifier": "lcgnn.estimator",
    "LCGNNSearchCV": "lcgnn.estimator",
    "LabelConsistency": "lcgnn.networks.label_consistency",
    "Loaded": "lcgnn.sources.loaded",
    "Prediction": "lcgnn.runs.predict",
    "Split": "lcgnn.graph",
    "TrainedModel": "lcgnn.runs.model",
    "Training": "lcgnn.runs.train",
    "Watcher": "lcgnn.runs.watching",
    "compare": "lcgnn.runs.compare",
    "create": "lcgnn.methods",
    "doubt": "lcgnn.runs.doubt",
    "explain": "lcgnn.runs.explain",
    "from_arrays": "lcgnn.sources.in_memory",
    "from_frames": "lcgnn.sources.frames",
    "from_networkx": "lcgnn.sources.networkx",
    "from_pyg": "lcgnn.sources.pyg",
    "load": "lcgnn.sources.benchmarks",
    "predict": "lcgnn.runs.predict",
    "source_of": "lcgnn.sources.choice",
    "suggest": "lcgnn.runs.suggest",
    "to_pyg": "lcgnn.sources.pyg",
    "train": "lcgnn.runs.train",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'lcgnn' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
