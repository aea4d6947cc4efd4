"""How much memory a method takes on a graph, known before any of it is taken."""

from __future__ import annotations

import torch

from lcgnn.limits import check_memory
from lcgnn.methods.base import Method
from lcgnn.networks.network import Network

# A weight comes with its gradient and Adam's two moments.
_BYTES_OF_A_NUMBER = 4
_BYTES_OF_A_WEIGHT = 4 * _BYTES_OF_A_NUMBER
# Settings that say how wide a network is, of methods that do not make theirs beforehand.
_WIDTHS = ("hidden", "dimension")


def check_size(method: Method, name: str, num_nodes: int, num_features: int, num_classes: int) -> None:
    """Refuse a method whose network does not fit into memory, both figures told.

    What is counted are the weights and what a pass keeps of each node, for every pass of a step: less than will
    be needed.

    Args:
        method: It and its settings.
        name: What the graph is called.
        num_nodes: That are in memory at once.
        num_features: Of a node.
        num_classes: Of the graph.
    """
    network = _network(method, num_features, num_classes)
    if network is None:
        kept = max((getattr(method, name) for name in _WIDTHS if hasattr(method, name)), default=0)
        weights = kept * (num_features + num_classes)
    else:
        kept = network.kept_of_a_node
        weights = sum(int(weight.numel()) for weight in network.parameters())
    passes = method.passes_a_step
    needed = weights * _BYTES_OF_A_WEIGHT + passes * num_nodes * kept * _BYTES_OF_A_NUMBER
    times = f", {passes} times a step," if passes > 1 else ""
    check_memory(f"A network of {weights:,} weights on {name}{times}", needed)


def _network(method: Method, num_features: int, num_classes: int) -> Network | None:
    """The method's network without memory for its weights; None where it cannot be made like that."""
    make = getattr(method, "network", None)
    if make is None:
        return None
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            made = make(num_features, num_classes, torch.Generator())
    except Exception:
        # A module of the user's may do anything when it is made; what is wrong with it is told when it is used.
        return None
    return made if isinstance(made, Network) else None
