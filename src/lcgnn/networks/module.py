"""Any torch module as a network: PyTorch Geometric's models, or one of your own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy.sparse import coo_array
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from lcgnn.compute.placement.base import Placement
from lcgnn.compute.sparse import SparseMatrix
from lcgnn.errors import ConfigError
from lcgnn.networks.forms import kept_with_graph
from lcgnn.networks.network import Network

ModuleFactory: TypeAlias = Callable[[int, int], nn.Module]


class ModuleNetwork(Network):
    """Logits ``module(x, edge_index)`` of a module that is called as PyTorch Geometric's models are.

    ``x`` (N, F) are the features as a dense tensor and ``edge_index`` (2, E) both directions of every edge. If the
    edges have weights other than 1, a module that takes ``edge_weight`` (E,) gets them.

    Whatever is random in the module's training comes from torch's generator, which is seeded with the key: the
    same key gives the same masks. Validation and prediction use the module in its evaluation mode. Buffers that
    the module keeps, such as the statistics of a batch normalisation, are part of what is learnt.

    Args:
        num_features: F.
        num_classes: C.
        factory: Makes the module, given F and C.
        generator: Seeds torch's own generator for the module's initial weights.
    """

    def __init__(
        self, num_features: int, num_classes: int, factory: ModuleFactory, *, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        seed = int(torch.randint(2**31, (), generator=generator))
        with _seeded(seed, torch.device("cpu")):
            module = factory(num_features, num_classes)
        self.module = checked(module)
        self._takes_weights = _takes_weights(module)

    @property
    def kept_of_a_node(self) -> int:
        # Modules have their weights this way around or that.
        return max((min(weight.shape[-2:]) for weight in self.parameters() if weight.ndim > 1), default=0)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:  # noqa: ARG002
        if key is None:
            self.module.eval()
            return self._logits(graph)
        self.module.train()
        with _seeded(key, graph.device):
            return self._logits(graph)

    def _logits(self, graph: Placement) -> Tensor:
        inputs = module_inputs(graph)
        weighted = self._takes_weights and inputs.edge_weight is not None
        more = {"edge_weight": inputs.edge_weight} if weighted else {}
        logits = self.module(inputs.x, inputs.edge_index, **more)
        expected = (graph.num_nodes, self.num_classes)
        if not isinstance(logits, Tensor) or logits.shape != expected:
            given = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise ConfigError(
                f"The module {type(self.module).__name__} gave {given} where logits of shape {expected} are "
                "expected. Let its last layer have one output for each class."
            )
        return logits.float()


@dataclass(frozen=True, eq=False)
class ModuleInputs:
    """A graph as PyTorch Geometric's models take it.

    Args:
        x: (N, F) dense.
        edge_index: (2, E).
        edge_weight: (E,), or None if all weights are 1.
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None


@kept_with_graph
def module_inputs(graph: Placement) -> ModuleInputs:
    """Features and edges of a graph, which no epoch changes."""
    features, links = graph.features, coo_array(graph.links)
    # A copy, since the graph's own arrays must not be written to and a module may do so.
    x = features.matrix.to_dense() if isinstance(features, SparseMatrix) else features.clone()
    weighted = bool((links.data != 1).any())
    return ModuleInputs(
        x,
        torch.tensor(np.stack([links.row, links.col]), dtype=torch.int64, device=graph.device),
        torch.tensor(links.data, device=graph.device) if weighted else None,
    )


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Torch's generators seeded for a while, and afterwards as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield


def checked(module: Any) -> nn.Module:
    """The module if it can be trained as it is, with parameters in one piece each."""
    if not isinstance(module, nn.Module):
        raise ConfigError(f"A module factory gave a {type(module).__name__}; it must return a torch.nn.Module.")
    name = type(module).__name__
    parameters = list(module.parameters())
    if any(is_lazy(parameter) for parameter in parameters):
        raise ConfigError(
            f"The module {name} has parameters whose shape is not known yet. Give its layers the number of "
            "features, which the factory gets, instead of -1."
        )
    if not any(parameter.requires_grad for parameter in parameters):
        raise ConfigError(f"The module {name} has no parameter to train.")
    for parameter in parameters:
        parameter.data = parameter.data.contiguous()
    return module


def _takes_weights(module: nn.Module) -> bool:
    """Whether a module can be called with ``edge_weight``; some of PyTorch Geometric's have it and ignore it."""
    accepted = inspect.signature(module.forward).parameters
    named = "edge_weight" in accepted or any(item.kind is item.VAR_KEYWORD for item in accepted.values())
    return named and getattr(module, "supports_edge_weight", True) is not False
