"""Every placement answers, or refuses in one line, everything that networks, objectives and the loop may ask."""

import inspect
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from lcgnn import consistency
from lcgnn.compute.kernels import use
from lcgnn.compute.placement.base import EVERYWHERE, Placement
from lcgnn.compute.placement.cutting import cut
from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.placement.ordered import OrderedTensors
from lcgnn.compute.placement.part_tensors import PartTensors
from lcgnn.compute.placement.reach import ReachTensors
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.placement.world import World
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split
from lcgnn.training.objectives import AdjacencyAggregation, CrossEntropy, LabelConsistencyObjective, Objective

NUM_NODES, NUM_FEATURES, CLASSES = 40, 6, ("a", "b", "c")
SPLIT = Split(np.arange(0, 40, 8), np.arange(1, 40, 8), np.arange(2, 40, 8))
TRAIN, VALIDATION = torch.tensor(SPLIT.train), torch.tensor(SPLIT.validation)


@cache
def graph_with(features: str) -> Graph:
    generator = np.random.default_rng(0)
    dense = generator.random((NUM_NODES, NUM_FEATURES)).astype(np.float32)
    forms = {"sparse": csr_array(np.where(dense < 0.5, 0, dense)), "dense": dense, "no": None}
    edges = generator.integers(0, NUM_NODES, (2, 80))
    labels = generator.integers(0, 3, NUM_NODES)
    return Graph.from_edges("random", edges, NUM_NODES, labels, CLASSES, features=forms[features])


def on_ranks(graph: Graph) -> PartTensors:
    """All of the graph on the only rank there is."""
    (part,) = cut(graph, SPLIT, np.zeros(graph.num_nodes, dtype=np.int64))
    return PartTensors(part, graph.num_classes, World(0, 1, torch.device("cpu")))


MAKE: dict[type[Placement], Callable[[Graph], Placement]] = {
    GraphTensors: GraphTensors,
    ReachTensors: lambda graph: ReachTensors(GraphTensors(graph), np.array([3, 20])),
    PartwiseTensors: lambda graph: PartwiseTensors(graph, 3),
    PartTensors: on_ranks,
    OrderedTensors: lambda graph: OrderedTensors(graph, np.random.default_rng(1).permutation(NUM_NODES)),
}


def concrete(kind: type = Placement) -> set[type]:
    children: list[type] = kind.__subclasses__()
    below: set[type] = set().union(*map(concrete, children))
    return below if inspect.isabstract(kind) else {kind, *below}


def logits_of(placement: Placement) -> torch.Tensor:
    return torch.randn(placement.num_nodes, 3, generator=torch.Generator().manual_seed(1))


def parameter_with_gradient() -> torch.Tensor:
    parameter = torch.ones(2, requires_grad=True)
    parameter.sum().backward()
    return parameter


ARGUMENTS = {
    "dropout": lambda _: (0.5, 7, "input"),
    "edge_rows": lambda _: (torch.tensor([0, 1]),),
    "agreement": lambda placement: (logits_of(placement),),
    "class_agreement": lambda placement: (logits_of(placement),),
    "by_rows": lambda placement: (torch.exp, logits_of(placement)),
    "zeros": lambda _: (4,),
    "scores": lambda _: (torch.tensor([-1.0, -2.0]), torch.tensor([True, False])),
    "sum": lambda _: (torch.ones(2),),
    "counts": lambda _: (3,),
    "total": lambda _: (3,),
    "gather": lambda _: (torch.ones(3, 2), [3]),
    "sum_gradients": lambda _: ([parameter_with_gradient()],),
    "refused": lambda _: ("Something",),
}
MEMBERS = sorted(
    {name for name in vars(Placement) if not name.startswith("_")}
    | {name for name in Placement.__annotations__ if not name.startswith("_")}
)

PLACEMENTS: list[type] = sorted(concrete(), key=lambda kind: kind.__name__)

every_placement = pytest.mark.parametrize("kind", PLACEMENTS)


def test_the_placements_are_those_that_are_tried_here():
    assert concrete() == set(MAKE)
    assert {kind.kind for kind in MAKE} == EVERYWHERE


@every_placement
@pytest.mark.parametrize("features", ["sparse", "dense", "no"])
@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_works_or_is_refused_in_one_line(kind, features, member):
    placement = MAKE[kind](graph_with(features))
    try:
        value = getattr(placement, member)
        if member in ARGUMENTS:
            value(*ARGUMENTS[member](placement))
    except (ConfigError, DataError) as error:
        assert "\n" not in str(error)  # noqa: PT017
        assert str(error).endswith(".")  # noqa: PT017


@every_placement
@pytest.mark.parametrize(
    "member", ["features", "labels", "num_nodes", "num_features", "num_classes", "row_numbers"]
)
def test_what_every_network_reads_is_there_everywhere(kind, member):
    getattr(MAKE[kind](graph_with("dense")), member)


@every_placement
def test_a_mask_goes_by_the_nodes_numbers_in_the_whole_graph(kind):
    placement = MAKE[kind](graph_with("dense"))
    whole = GraphTensors(graph_with("dense"))
    numbers = torch.arange(NUM_NODES) if placement.row_numbers is None else placement.row_numbers
    expected = whole.dropout(0.5, 9, "hidden").mask_like(torch.ones(NUM_NODES, 4))[numbers]
    mask = placement.dropout(0.5, 9, "hidden").mask_like(torch.ones(placement.num_nodes, 4))
    assert torch.equal(mask, expected)


@every_placement
def test_without_a_key_there_is_no_dropout(kind):
    assert MAKE[kind](graph_with("dense")).dropout(0.5, None, "hidden").rate == 0


def objectives(placement: Placement) -> dict[str, Objective]:
    return {
        "cross-entropy": CrossEntropy(placement, TRAIN),
        "adjacency": AdjacencyAggregation(placement, TRAIN),
        "consistency": LabelConsistencyObjective(placement, TRAIN, 2.0, "mean"),
        "consistency alone": LabelConsistencyObjective(placement, TRAIN, 0.0, "sum"),
    }


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("kind", [GraphTensors, PartwiseTensors, PartTensors])
@pytest.mark.parametrize("name", ["cross-entropy", "adjacency", "consistency", "consistency alone"])
def test_every_objective_is_the_same_wherever_the_rows_live(kind, name, choice):
    """Loss, gradient, scores and distribution against the formulas over all nodes, by autograd."""
    placement = MAKE[kind](graph_with("dense"))
    objective = objectives(placement)[name]
    if placement.kind not in objective.runs_on:
        pytest.skip("says that it does not run here")
    logits = 3 * logits_of(placement)
    leaf = logits.clone().requires_grad_()
    labels = torch.tensor(graph_with("dense").labels)
    distribution = torch.softmax(leaf, dim=1)
    if name == "cross-entropy":
        expected = torch.nn.functional.cross_entropy(leaf[TRAIN], labels[TRAIN])
        reported = said = distribution
    elif name == "adjacency":
        said = GraphTensors(graph_with("dense")).adjacency.matrix.to_dense() @ distribution
        expected = consistency.classification_loss(said, labels, TRAIN)
        reported = consistency.row_normalize(said)
    else:
        assert isinstance(objective, LabelConsistencyObjective)
        reported = said = consistency.aggregate(distribution)
        expected = consistency.label_consistency_loss(
            distribution, labels, TRAIN, objective.weight, objective.reduction
        )
    (expected_gradient,) = torch.autograd.grad(expected, leaf, retain_graph=True)
    with use(choice):
        loss, gradient = objective.loss_and_gradient(logits)
        validation_loss, correct = objective.scores(logits, VALIDATION)
        result = objective.distribution(logits)
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-4, atol=1e-6)
    chosen = said.detach()[VALIDATION]
    log_likelihood = consistency.safe_log(chosen.gather(1, labels[VALIDATION, None]))
    assert validation_loss == pytest.approx(-log_likelihood.mean().item(), rel=1e-4)
    assert correct == int((chosen.argmax(dim=1) == labels[VALIDATION]).sum())
    torch.testing.assert_close(result, reported.detach(), rtol=1e-4, atol=1e-6)


def test_label_consistency_is_refused_on_a_few_nodes_and_what_they_reach():
    reached = MAKE[ReachTensors](graph_with("dense"))
    with pytest.raises(ConfigError, match=r"all nodes.* a few nodes and what they reach"):
        LabelConsistencyObjective(reached, TRAIN[:0], 1.0, "mean").loss_and_gradient(logits_of(reached))
