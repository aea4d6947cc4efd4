"""Label-consistency graph neural networks: node classification with a handful of labels."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcgnn.datasets import load
    from lcgnn.datasets.frames import from_frames
    from lcgnn.datasets.in_memory import from_arrays
    from lcgnn.datasets.networkx import from_networkx
    from lcgnn.datasets.pyg import from_pyg
    from lcgnn.estimator import LCGNNClassifier, LCGNNSearchCV
    from lcgnn.graph import Graph, Split
    from lcgnn.methods import create
    from lcgnn.model import TrainedModel
    from lcgnn.models.label_consistency import LabelConsistency

__version__ = version("lcgnn")

# torch asks for large memory pages only where this is set; it looks when it first allocates something large.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

__all__ = [
    "Graph",
    "LCGNNClassifier",
    "LCGNNSearchCV",
    "LabelConsistency",
    "Split",
    "TrainedModel",
    "create",
    "from_arrays",
    "from_frames",
    "from_networkx",
    "from_pyg",
    "load",
]

# Imported on first use, because torch takes seconds and ``lcgnn --help`` must not.
_PLACES = {
    "Graph": "lcgnn.graph",
    "LCGNNClassifier": "lcgnn.estimator",
    "LCGNNSearchCV": "lcgnn.estimator",
    "LabelConsistency": "lcgnn.models.label_consistency",
    "Split": "lcgnn.graph",
    "TrainedModel": "lcgnn.model",
    "create": "lcgnn.methods",
    "from_arrays": "lcgnn.datasets.in_memory",
    "from_frames": "lcgnn.datasets.frames",
    "from_networkx": "lcgnn.datasets.networkx",
    "from_pyg": "lcgnn.datasets.pyg",
    "load": "lcgnn.datasets",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'lcgnn' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
