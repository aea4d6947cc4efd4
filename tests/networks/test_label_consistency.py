"""Label consistency around other people's modules."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import APPNP
from torch_geometric.nn.models import GAT, GCN, MLP, GraphSAGE

from lcgnn import consistency
from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.objective import label_consistency_loss
from lcgnn.errors import ConfigError, InputError
from lcgnn.networks.label_consistency import LabelConsistency

NUM_NODES, NUM_CLASSES = 30, 3
_generator = torch.Generator().manual_seed(0)
LABELS = torch.arange(NUM_NODES) % NUM_CLASSES
X = nn.functional.one_hot(LABELS, NUM_CLASSES) + 0.8 * torch.randn(NUM_NODES, NUM_CLASSES, generator=_generator)
_ring = torch.stack([torch.arange(NUM_NODES), (torch.arange(NUM_NODES) + NUM_CLASSES) % NUM_NODES])
EDGES = torch.cat([_ring, _ring.flip(0)], dim=1)
TRAIN = torch.tensor([7, 0, 2, 10, 5, 27])


class PredictThenPropagate(nn.Module):
    """APPNP: an MLP, whose predictions are spread by personalised PageRank."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = MLP([NUM_CLASSES, 8, NUM_CLASSES], norm=None)
        self.propagate = APPNP(K=5, alpha=0.1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(self.predict(x), edge_index)


BASES = {
    "GCN": lambda: GCN(NUM_CLASSES, 8, 2, NUM_CLASSES),
    "GAT": lambda: GAT(NUM_CLASSES, 8, 2, NUM_CLASSES, heads=2),
    "GraphSAGE": lambda: GraphSAGE(NUM_CLASSES, 8, 2, NUM_CLASSES),
    "APPNP": PredictThenPropagate,
}


@pytest.fixture(params=BASES)
def model(request) -> LabelConsistency:
    torch.manual_seed(0)
    return LabelConsistency(BASES[request.param](), weight=2.0)


def dense_aggregate(logits: Tensor) -> Tensor:
    distribution = torch.softmax(logits, dim=1)
    similarity = distribution @ distribution.T
    return (similarity / similarity.sum(dim=1, keepdim=True)) @ distribution


def test_the_output_is_the_logarithm_of_the_aggregated_distribution(model):
    torch.testing.assert_close(model(X, EDGES), dense_aggregate(model.base(X, EDGES)).log(), rtol=1e-5, atol=1e-5)


def test_cross_entropy_takes_the_output_for_logits(model):
    """Of log-probabilities the softmax is the probabilities: what comes out is equation 5."""
    aggregated = dense_aggregate(model.base(X, EDGES))
    torch.testing.assert_close(
        nn.functional.cross_entropy(model(X, EDGES)[TRAIN], LABELS[TRAIN]),
        consistency.classification_loss(aggregated, LABELS, TRAIN),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_the_loss_is_the_papers(model, weight, reduction):
    wrapped = LabelConsistency(model.base, weight, reduction)
    expected = consistency.label_consistency_loss(
        wrapped.label_distribution(X, EDGES), LABELS, TRAIN, weight, reduction
    )
    torch.testing.assert_close(wrapped.loss(LABELS, TRAIN, X, EDGES), expected)


def test_labelled_nodes_come_as_numbers_or_as_a_mask(model):
    mask = torch.zeros(NUM_NODES, dtype=torch.bool)
    mask[TRAIN] = True
    torch.testing.assert_close(model.loss(LABELS, mask, X, EDGES), model.loss(LABELS, TRAIN, X, EDGES))


def test_arguments_reach_the_base_by_name_as_well(model):
    assert torch.equal(model(X, edge_index=EDGES), model(X, EDGES))
    torch.testing.assert_close(
        model.loss(LABELS, TRAIN, X, edge_index=EDGES), model.loss(LABELS, TRAIN, X, EDGES), rtol=0, atol=0
    )


def train(model: nn.Module, loss_of) -> list[float]:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(15):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_few_steps_of_training_lower_the_loss_and_reach_every_parameter(model):
    train(model, lambda: nn.functional.cross_entropy(model.base(X, EDGES)[TRAIN], LABELS[TRAIN]))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    losses = train(model, lambda: model.loss(LABELS, TRAIN, X, EDGES))
    assert losses[-1] < 0.8 * losses[0]
    assert all(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


def test_with_a_frozen_agreement_nodes_alone_get_the_answer_of_the_whole_graph():
    """A base that looks at no edges, so that a subset of the nodes is a graph of its own."""
    torch.manual_seed(0)
    model = LabelConsistency(nn.Linear(NUM_CLASSES, NUM_CLASSES))
    whole = model(X)
    some = torch.tensor([3, 8, 1])
    assert not torch.allclose(model(X[some]), whole[some], atol=1e-4)
    model.freeze_agreement(X)
    torch.testing.assert_close(model(X[some]), whole[some])
    torch.testing.assert_close(model(X), whole)


def test_with_a_frozen_agreement_a_part_of_the_graph_gets_the_answer_of_the_whole(model):
    """The ring closes after every third node, so that the nodes of a class are a component of the graph."""
    whole = model(X, EDGES)
    model.freeze_agreement(X, EDGES)
    part = torch.arange(0, NUM_NODES, NUM_CLASSES)
    within = (EDGES % NUM_CLASSES == 0).all(dim=0)
    torch.testing.assert_close(model(X[part], EDGES[:, within] // NUM_CLASSES), whole[part], rtol=1e-5, atol=1e-5)


def test_freezing_the_agreement_records_no_gradient(model):
    model.freeze_agreement(X, EDGES)
    assert not model.class_agreement.requires_grad
    assert "class_agreement" not in dict(model.named_parameters())


def trained_elsewhere(model: LabelConsistency) -> LabelConsistency:
    """The same architecture with other weights, and an agreement of its own if the model has one."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.uniform_(-1, 1, generator=torch.Generator().manual_seed(1))
    assert not torch.equal(other(X, EDGES), model(X, EDGES))
    return other


def test_the_state_survives_a_round_trip(model):
    other = trained_elsewhere(model)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(X, EDGES), model(X, EDGES))
    assert other.class_agreement is None


def test_the_state_with_a_frozen_agreement_survives_a_round_trip(model, tmp_path):
    other = trained_elsewhere(model)
    model.freeze_agreement(X[:10], EDGES[:, (EDGES < 10).all(dim=0)])
    torch.save(model.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert torch.equal(other.class_agreement, model.class_agreement)
    assert torch.equal(other(X, EDGES), model(X, EDGES))


def test_a_state_without_a_frozen_agreement_removes_the_one_that_is_there(model):
    other = trained_elsewhere(model)
    other.freeze_agreement(X, EDGES)
    other.load_state_dict(model.state_dict())
    assert other.class_agreement is None
    assert torch.equal(other(X, EDGES), model(X, EDGES))


def test_a_wrapped_model_inside_another_module_keeps_its_frozen_agreement(model):
    model.freeze_agreement(X, EDGES)
    other = trained_elsewhere(model)
    other.class_agreement = None
    nn.ModuleDict({"inner": other}).load_state_dict(nn.ModuleDict({"inner": model}).state_dict())
    assert torch.equal(other(X, EDGES), model(X, EDGES))


@pytest.mark.parametrize("kernels", ["fused", "plain"])
@pytest.mark.parametrize(
    ("labels", "nodes", "told"),
    [
        (LABELS, torch.tensor([0, NUM_NODES]), f"{NUM_NODES} is none of the {NUM_NODES} nodes"),
        (LABELS, torch.tensor([0, -1]), "-1 is none of the"),
        (torch.full_like(LABELS, -1), TRAIN, "-1 is none of the 3 classes"),
        (LABELS + 1, TRAIN, "3 is none of the 3 classes"),
        (LABELS, TRAIN[:0], "no labelled nodes"),
        (LABELS, torch.zeros(NUM_NODES, dtype=torch.bool), "no labelled nodes"),
        (LABELS, torch.ones(3, dtype=torch.bool), r"a mask of shape \(3,\)"),
        (LABELS[:-1], TRAIN, "29 labels for 30 rows"),
        (LABELS.float(), TRAIN, "labels: float32"),
    ],
)
def test_nodes_and_labels_that_are_none_are_refused(labels, nodes, told, kernels):
    base = nn.Linear(NUM_CLASSES, NUM_CLASSES)
    with use(kernels), pytest.raises(InputError, match=told):
        LabelConsistency(base).loss(labels, nodes, X)


@pytest.mark.parametrize("kernels", ["fused", "plain"])
def test_short_numbers_name_labels_and_nodes_as_long_ones_do(kernels):
    around = LabelConsistency(nn.Linear(NUM_CLASSES, NUM_CLASSES))
    with use(kernels):
        found = around.loss(LABELS.short(), TRAIN.short(), X)
        torch.testing.assert_close(found, around.loss(LABELS, TRAIN, X))


@pytest.mark.parametrize("kernels", ["fused", "plain"])
def test_logits_that_are_no_table_are_refused(kernels):
    with use(kernels), pytest.raises(InputError, match=r"logits: of shape \(30,\)"):
        label_consistency_loss(torch.zeros(NUM_NODES), LABELS, TRAIN)


def test_a_reduction_that_there_is_not_is_refused():
    with pytest.raises(ConfigError, match="mean or sum"):
        LabelConsistency(nn.Identity(), reduction="Mean")  # type: ignore[arg-type]


def test_a_mask_of_bytes_and_a_column_of_labels_are_what_they_look_like(model):
    mask = torch.zeros(NUM_NODES, dtype=torch.uint8).index_fill(0, TRAIN, 1)
    expected = model.eval().loss(LABELS, TRAIN, X, EDGES)
    torch.testing.assert_close(model.loss(LABELS[:, None], mask, X, EDGES), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_under_autocast_only_the_base_has_half_the_precision(dtype):
    base, many = nn.Linear(2, 3), torch.randn(300_000, 2, generator=torch.Generator().manual_seed(0))
    model = LabelConsistency(base, weight=2.0)
    labels, nodes = torch.arange(300_000) % 3, torch.arange(30)
    with torch.autocast("cpu", dtype=dtype):
        halved = base(many).detach()
        loss, output = model.loss(labels, nodes, many), model(many)
    alone = LabelConsistency(nn.Identity(), weight=2.0)
    torch.testing.assert_close(loss, alone.loss(labels, nodes, halved.float()))
    torch.testing.assert_close(output, alone(halved.float()))
    assert output.isfinite().all()


def test_a_frozen_agreement_goes_into_a_model_of_double_precision():
    model = LabelConsistency(nn.Linear(NUM_CLASSES, NUM_CLASSES))
    model.freeze_agreement(X)
    double = LabelConsistency(nn.Linear(NUM_CLASSES, NUM_CLASSES)).double()
    double.load_state_dict(model.state_dict())
    torch.testing.assert_close(double(X.double()), model(X).double(), rtol=1e-5, atol=1e-5)
    halved = copy.deepcopy(model).bfloat16()
    torch.testing.assert_close(halved(X.bfloat16()), model(X), rtol=0.1, atol=0.1)
