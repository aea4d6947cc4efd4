"""How much memory a method takes on a graph, known before any of it is taken."""

from __future__ import annotations

import dataclasses

import torch

from lcgnn.limits import check_memory
from lcgnn.methods.base import Method

# A weight of four bytes comes with its gradient and Adam's two moments.
_BYTES_OF_A_WEIGHT = 4 * 4
# Settings that say how wide a network is, of methods that do not make theirs beforehand.
_WIDTHS = ("hidden", "dimension")


def check_size(method: Method, name: str, num_nodes: int, num_features: int, num_classes: int) -> None:
    """Refuse a method whose network does not fit into memory, both figures told.

    What is counted are the weights and one row of the widest layer for each node, of every pass of a step: less
    than will be needed.

    Args:
        method: It and its settings.
        name: What the graph is called.
        num_nodes: That are in memory at once.
        num_features: Of a node.
        num_classes: Of the graph.
    """
    columns = max(num_features + num_classes, 1)
    weights = _num_weights(method, num_features, num_classes)
    if weights is None:
        widths = [getattr(method, field.name) for field in dataclasses.fields(method) if field.name in _WIDTHS]
        weights = max(widths, default=0) * columns
    passes = method.passes_a_step
    needed = weights * _BYTES_OF_A_WEIGHT + passes * num_nodes * (weights // columns) * 4
    times = f", {passes} times a step," if passes > 1 else ""
    check_memory(f"A network of {weights:,} weights on {name}{times}", needed)


def _num_weights(method: Method, num_features: int, num_classes: int) -> int | None:
    """Counted on the network itself, without memory for it; None where it cannot be made like that."""
    make = getattr(method, "network", None)
    if make is None:
        return None
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            network = make(num_features, num_classes, torch.Generator())
        return sum(int(weight.numel()) for weight in network.parameters())
    except Exception:
        # A module of the user's may do anything when it is made; what is wrong with it is told when it is used.
        return None
