"""Where a method can be trained, its network says: whoever can gives the same, whoever cannot is told who can."""

import functools
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from lcgnn.compute.placement.base import IN_WORDS
from lcgnn.compute.placement.cutting import cut
from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.placement.part_tensors import PartTensors
from lcgnn.compute.placement.world import World
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, create, entries
from lcgnn.methods.lc import TwoPhase
from lcgnn.methods.placements import bases_that_run, check_placement
from lcgnn.networks.network import Network

NETWORKS = [item.name for item in entries() if issubclass(item.method, TwoPhase)]
NUM_NODES = 60
SPLIT = Split(np.arange(12), np.arange(12, 30), np.arange(30, 60))


@functools.cache
def clusters() -> Graph:
    generator = np.random.default_rng(0)
    labels = np.arange(NUM_NODES) % 3
    linked = generator.random((NUM_NODES, NUM_NODES)) < np.where(labels[:, None] == labels, 0.3, 0.02)
    features = generator.random((NUM_NODES, 12)).astype(np.float32) + (labels[:, None] == np.arange(12) % 3)
    edges = np.stack(np.nonzero(np.triu(linked, 1)))
    return Graph.from_edges("clusters", edges, NUM_NODES, labels, "abc", features=features)


def in_turn() -> PartwiseTensors:
    return PartwiseTensors(clusters(), 3)


def on_ranks() -> PartTensors:
    (part,) = cut(clusters(), SPLIT, np.zeros(NUM_NODES, dtype=np.int64))
    return PartTensors(part, 3, World(0, 1, torch.device("cpu")))


@pytest.mark.parametrize("place", [in_turn, on_ranks])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_method_gives_the_result_of_the_whole_graph_or_says_that_it_cannot(name, place):
    tensors = place()
    second: dict[str, Any] = {"epochs": 4} if "epochs" in vars(create(name)) else {}
    method = create(name, base_epochs=4, **second)
    assert isinstance(method, TwoPhase)
    nodes = torch.tensor(SPLIT.train), torch.tensor(SPLIT.validation)
    if tensors.kind not in method.placements:
        with pytest.raises(ConfigError, match=f"^{name} cannot be trained on {IN_WORDS[tensors.kind]}"):
            method.fit_tensors(tensors, *nodes, 0, Context("cpu"))
        return
    fit, whole = method.fit_tensors(tensors, *nodes, 0, Context("cpu")), method.fit(clusters(), SPLIT)
    np.testing.assert_allclose(fit.label_distribution, whole.label_distribution, atol=1e-4)
    np.testing.assert_allclose(fit.stages[-1].history, whole.stages[-1].history, atol=1e-4)


def test_the_registry_knows_who_can():
    assert set(bases_that_run("in turn")) == {"gcn"}
    assert set(bases_that_run("on ranks")) == {"gcn", "gat", "sgc", "mlp", "appnp", "dagnn", "gcnii", "grand"}
    assert set(bases_that_run("reached")) == {"gcn", "gat", "mlp"}


@pytest.mark.parametrize("name", ["cheby", "lc-monet", "monet-control", "semiemb", "lp", "planetoid"])
def test_who_cannot_is_told_who_can(name):
    with pytest.raises(ConfigError) as told:
        check_placement(create(name), "on ranks")
    assert str(told.value).startswith(f"{name} cannot be trained on")
    for able in bases_that_run("on ranks"):
        assert f" {able}" in str(told.value)


def test_a_setting_can_rule_a_placement_out():
    assert "in turn" in create("gcn").placements
    assert "in turn" not in create("gcn-kipf").placements
    assert "in turn" in create("gcn-kipf", input_dropout=0.0).placements
    assert "in turn" not in create("gcn-adjacency").placements


def test_a_network_from_outside_runs_on_the_whole_graph_unless_it_says_more():
    assert Network.runs_on == {"whole"}


def test_sparse_features_in_turn_are_refused_before_any_epoch():
    graph = clusters()
    sparse = Graph(graph.name, graph.adjacency, graph.labels, graph.class_names, csr_array(graph.features))
    with pytest.raises(Exception, match="sparse features, and parts need dense ones"):
        create("gcn").fit(sparse, SPLIT, context=Context(parts=2))
