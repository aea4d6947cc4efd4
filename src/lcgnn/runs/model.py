"""A fitted method that can be kept and used again: on the graph that it was fitted to, grown, or on another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.assessment.calibration import at_temperature
from lcgnn.compute.tensor_files import read_tensors, write_tensors
from lcgnn.errors import ConfigError, DataError, LCGNNError, OutputError
from lcgnn.graph import Graph
from lcgnn.methods import Fit, Method, recorded
from lcgnn.sources.tables.form import TableForm

FORMAT = "lcgnn model 1"


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """Everything that it takes to classify nodes without the graph that the method was fitted to.

    Args:
        name: The method's name.
        method: The method with its settings.
        class_names: The C classes, in the order of a distribution's columns.
        num_features: F, of every graph that it can be used on.
        tensors: What was fitted: the network's parameters and, with it, the (C, C) class agreement.
        temperature: Probabilities are taken to the power of 1 / temperature; 1 leaves them as they are.
        form: How tables become a graph for this model; None if it was not fitted to tables.
        about: Where it comes from, as plain data; nothing in it changes what it predicts.
    """

    name: str
    method: Method
    class_names: tuple[str, ...]
    num_features: int
    tensors: Mapping[str, Tensor]
    temperature: float = 1.0
    form: TableForm | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise ConfigError(f"The temperature is {self.temperature}; it must be positive and finite.")

    @classmethod
    def of(cls, name: str, method: Method, graph: Graph, fit: Fit, **more: Any) -> TrainedModel:
        """The model that a fit of a method to a graph gave; ``more`` are further fields."""
        return cls(name, method, graph.class_names, graph.num_features, fit.tensors, **more)

    def label_distribution(self, graph: Graph, device: str = "auto") -> NDArray[np.float32]:
        """(N, C) the probability of every class of this model, for every node of a graph with its features.

        The graph's labels and classes are not read. With label consistency every node is compared with the nodes
        that the model was fitted to, through their class agreement: O(C^2) a node.
        """
        self.check_inductive()
        if graph.num_features != self.num_features:
            raise DataError(
                f"{graph.name} has {graph.num_features} features, and the model was trained on "
                f"{self.num_features}. Use a graph with the same features, or train on this one."
            )
        try:
            distribution = self.method.apply(self.tensors, graph, device)
        except LookupError as error:
            raise DataError(f"The model's parameters are not those of {self.name}. Train it again.") from error
        if distribution.shape[1] != len(self.class_names):
            raise DataError(
                f"The model's parameters are for {distribution.shape[1]} classes, and it names "
                f"{len(self.class_names)}. Train it again."
            )
        return at_temperature(distribution, self.temperature)

    def check_inductive(self) -> None:
        """Raise ConfigError if the model has nothing to say of nodes that it was not fitted to."""
        if not self.method.inductive:
            raise ConfigError(
                f"{self.name} classifies only the nodes that it is trained with. Train it again with all nodes, "
                "or use a method with a network, such as lc-gcn."
            )

    def save(self, path: Path | str) -> None:
        """Write the model as safetensors with a description in JSON."""
        description = {
            "format": FORMAT,
            "method": self.name,
            "settings": self.method.plain_settings(),
            "classes": list(self.class_names),
            "num_features": self.num_features,
            "temperature": self.temperature,
            "tables": None if self.form is None else self.form.to_json(),
            "about": dict(self.about),
        }
        write_tensors(Path(path), self.tensors, description)

    @classmethod
    def load(cls, path: Path | str) -> TrainedModel:
        """Read what `save` wrote; OutputError names a file that was cut or altered, or is something else."""
        tensors, content = read_tensors(Path(path))
        if content.get("format") != FORMAT:
            raise OutputError(f"{path} is not a model of this version of lcgnn. Train it again.")
        try:
            return cls(
                content["method"],
                recorded(content["method"], content["settings"]),
                tuple(content["classes"]),
                content["num_features"],
                tensors,
                content["temperature"],
                content["tables"] and TableForm.from_json(content["tables"]),
                content["about"],
            )
        except (LCGNNError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise OutputError(f"{path} cannot be used: {error} Train the model again.") from error
