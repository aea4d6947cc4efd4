"""A graph in another order gives the same logits, gradients and fits, in the graph's own."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.networks.strong import random_graph

from lcgnn.compute.kernels import use
from lcgnn.compute.placement import ordered, whole
from lcgnn.compute.placement.ordered import OrderedTensors, better_order
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.methods.base import Context
from lcgnn.methods.lc import TwoPhase
from lcgnn.networks import reach_passes
from lcgnn.networks.ordered_passes import OrderedPasses

METHODS = ("lc-gcn", "lc-gat", "lc-sgc", "lc-appnp", "lc-gcnii", "lc-dagnn", "lc-grand")


def shuffled(size: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).permutation(size)


def network_of(name: str, graph: Graph) -> Any:
    method = create(name)
    assert isinstance(method, TwoPhase)
    return method.network(graph.num_features, graph.num_classes, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
@pytest.mark.parametrize("name", METHODS)
def test_passes_in_another_order_are_those_of_the_graph(name: str, sparse: bool, choice: Any) -> None:
    graph = random_graph(sparse=sparse)
    found = []
    with use(choice):
        network = network_of(name, graph)
        network.prepare(GraphTensors(graph), 0)
        placed = OrderedTensors(graph, shuffled(graph.num_nodes))
        for passes in (network.passes(GraphTensors(graph)), OrderedPasses(network, placed)):
            network.zero_grad()
            passes.begin()
            answers = [passes.validate()]
            output = passes.train(7)
            gradients = [torch.sin(logits) for logits in output.answers]
            extra = [] if output.extra_loss is None else [torch.ones_like(output.extra_loss)]
            passes.backward(*gradients, *extra)
            answers += [*output.answers, *extra, *(weight.grad for weight in network.parameters())]
            found.append(answers)
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["lc-gcn", "lc-gat"])
def test_a_fit_in_another_order_is_the_fit_of_the_graph(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(sparse=False)
    nodes = np.arange(graph.num_nodes)
    split = Split(nodes[:12], nodes[12:20], nodes[20:])
    method = create(name, base_epochs=6, base_stop_window=0, epochs=8)
    plain = method.fit(graph, split, 0, Context("cpu"))
    monkeypatch.setattr(whole, "LARGE", 1)
    monkeypatch.setattr(reach_passes, "_MANY_EPOCHS", 1)
    monkeypatch.setattr(reach_passes, "_LARGEST_SHARE", 0.0)
    orders = []

    def other(given: Graph) -> np.ndarray[Any, Any]:
        orders.append(shuffled(given.num_nodes))
        return orders[-1]

    monkeypatch.setattr(ordered, "better_order", other)
    again = method.fit(graph, split, 0, Context("cpu"))
    # Both phases share one order.
    assert len(orders) == 1
    for one, two in zip(plain.stages, again.stages, strict=True):
        np.testing.assert_allclose(two.history, one.history, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(two.label_distribution, one.label_distribution, rtol=1e-3, atol=1e-5)


def communities(count: int, size: int, seed: int = 0) -> Graph:
    """Nodes that are linked within their community, which are one after the other, and hardly beyond."""
    generator = np.random.default_rng(seed)
    num_nodes = count * size
    first = generator.integers(0, num_nodes, 8 * num_nodes)
    second = first // size * size + generator.integers(0, size, first.size)
    across = generator.integers(0, num_nodes, (2, num_nodes // 4))
    edges = np.concatenate([np.stack([first, second]), across], axis=1)
    return Graph.from_edges("communities", edges, num_nodes, np.zeros(num_nodes, dtype=np.int64), ("a",))


def renumbered(graph: Graph, order: np.ndarray[Any, Any]) -> Graph:
    adjacency = graph.adjacency[order][:, order].tocoo()
    edges = np.stack([adjacency.row, adjacency.col])
    return Graph.from_edges(graph.name, edges, graph.num_nodes, graph.labels, graph.class_names)


@pytest.mark.parametrize("metis", [True, False], ids=["METIS", "Cuthill-McKee"])
def test_an_order_is_found_where_numbers_tell_nothing(metis: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if metis:
        pytest.importorskip("pymetis")
    else:
        monkeypatch.setattr(ordered, "find_spec", lambda _: None)
    monkeypatch.setattr(ordered, "_FAR", 100)
    near = communities(16, 100)
    assert better_order(near) is None
    mixed = renumbered(near, shuffled(near.num_nodes))
    order = better_order(mixed)
    assert order is not None
    assert sorted(order) == list(range(mixed.num_nodes))
    before, after = (ordered._far_away(mixed.adjacency, given) for given in (None, order))
    assert before > 0.8
    assert after < (0.3 if metis else 0.75)


def test_a_graph_without_any_locality_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "_FAR", 10)
    assert better_order(communities(1, 1000)) is None
    empty = np.empty((2, 0), dtype=np.int64)
    assert better_order(Graph.from_edges("empty", empty, 50, np.zeros(50, dtype=np.int64), ("a",))) is None


def test_nothing_is_looked_for_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "_FAR", 100)
    mixed = renumbered(communities(16, 100), shuffled(1600))
    assert better_order(mixed) is not None
    monkeypatch.setenv("LCGNN_MEMORY_GB", str(31 * mixed.adjacency.nnz / 1e9))
    assert better_order(mixed) is None


def test_small_graphs_and_short_phases_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "better_order", lambda _: pytest.fail("was looked at"))
    graph = GraphTensors(random_graph(sparse=False))
    assert graph.ordered is None
    monkeypatch.setattr(whole, "LARGE", 1)
    network = network_of("lc-gcn", graph.graph)
    passes = reach_passes.quickest_passes(network, GraphTensors(graph.graph), None, None, epochs=99)
    assert not isinstance(passes, OrderedPasses)
