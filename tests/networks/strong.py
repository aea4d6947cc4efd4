"""A small graph, and what the tests of networks have in common."""

from typing import TypeVar

import numpy as np
import torch
from scipy.sparse import csr_array

from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph, Split
from lcgnn.networks.network import Network

AnyNetwork = TypeVar("AnyNetwork", bound=Network)

NUM_NODES, NUM_FEATURES, NUM_CLASSES = 40, 12, 3


def random_graph(*, sparse: bool = True) -> Graph:
    """Edges with weights, features of which most are zero."""
    generator = np.random.default_rng(2)
    edges = generator.integers(NUM_NODES - 1, size=(2, 90))
    shape = NUM_NODES, NUM_FEATURES
    features = (generator.normal(size=shape) * (generator.random(shape) < 0.4)).astype(np.float32)
    return Graph.from_edges(
        "random",
        edges,
        NUM_NODES,
        generator.integers(NUM_CLASSES, size=NUM_NODES),
        "abc",
        features=csr_array(features) if sparse else features,
        weights=np.asarray(0.5 + generator.random(edges.shape[1])),
    )


def split_of(graph: Graph) -> Split:
    """Every fourth node for training, every fourth for validation."""
    nodes = np.arange(graph.num_nodes)
    return Split(nodes[::4], nodes[1::4], nodes[2::4], "own")


def with_random_biases(network: AnyNetwork) -> AnyNetwork:
    """Biases start at zero, where a mistake about them would not show."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "bias" in name:
                parameter.uniform_(-0.3, 0.3, generator=generator)
    return network


def gradients(network: Network, logits: torch.Tensor) -> dict[str, torch.Tensor]:
    """By parameter, of a loss that looks at every logit."""
    upstream = torch.randn(logits.shape, generator=torch.Generator().manual_seed(3))
    names, parameters = zip(*network.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(logits, parameters, upstream), strict=True))


def assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    scale = expected.abs().max().item()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5 * max(scale, 1e-3))


def assert_passes_are_autograds(network: Network, peer: Network, graph: GraphTensors) -> None:
    """An epoch's passes give the logits and gradients of the forward pass, with parameters that change.

    Args:
        network: Whose passes are looked at.
        peer: The same network with the same parameters.
        graph: What they run on.
    """
    passes = network.passes(graph)
    for key in (5, 6):
        passes.begin()
        assert_close(passes.validate(), peer(graph).detach())
        logits = peer(graph, key)
        assert_close(passes.train(key).logits, logits.detach())
        upstream = torch.randn(logits.shape, generator=torch.Generator().manual_seed(key))
        for parameter in (*network.parameters(), *peer.parameters()):
            parameter.grad = None
        logits.backward(upstream)
        passes.backward(upstream)
        for (name, parameter), expected in zip(network.named_parameters(), peer.parameters(), strict=True):
            assert parameter.grad is not None, name
            assert_close(parameter.grad, expected.grad)
            with torch.no_grad():  # The next round sees other parameters, as after a step.
                parameter.sub_(0.1 * expected.grad)
                expected.sub_(0.1 * expected.grad)
