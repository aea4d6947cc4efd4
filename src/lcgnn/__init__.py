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
    from lcgnn.runs.compare import compare
    from lcgnn.runs.doubt import doubt
    from lcgnn.runs.explain import explain
    from lcgnn.runs.model import TrainedModel
    from lcgnn.runs.predict import predict
    from lcgnn.runs.suggest import suggest
    from lcgnn.runs.train import train
    from lcgnn.sources.benchmarks import load
    from lcgnn.sources.choice import source_of
    from lcgnn.sources.frames import from_frames
    from lcgnn.sources.in_memory import from_arrays
    from lcgnn.sources.networkx import from_networkx
    from lcgnn.sources.pyg import from_pyg

__version__ = version("lcgnn")

__all__ = [
    "Graph",
    "LCGNNClassifier",
    "LCGNNSearchCV",
    "LabelConsistency",
    "Split",
    "TrainedModel",
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
    "train",
]

# Imported on first use, because torch takes seconds and ``lcgnn --help`` must not.
_PLACES = {
    "Graph": "lcgnn.graph",
    "LCGNNClassifier": "lcgnn.estimator",
    "LCGNNSearchCV": "lcgnn.estimator",
    "LabelConsistency": "lcgnn.networks.label_consistency",
    "Split": "lcgnn.graph",
    "TrainedModel": "lcgnn.runs.model",
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
    "train": "lcgnn.runs.train",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'lcgnn' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
