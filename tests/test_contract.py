"""What every registered method promises, on a small graph of three clusters."""

import functools
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, vstack

from lcgnn.compute.kernels import use
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import Context, Fit, create, entries
from lcgnn.methods.base import settings_of
from lcgnn.runs.model import TrainedModel
from lcgnn.training.checkpoint import CheckpointFile

ENTRIES = {entry.name: entry for entry in entries()}
DETERMINISTIC = [name for name, entry in ENTRIES.items() if entry.method.deterministic]
TRAINED = [name for name, entry in ENTRIES.items() if "epochs" in settings_of(entry.method)]
WITH_SELECTION = [name for name, entry in ENTRIES.items() if "selection" in settings_of(entry.method)]

TRANSDUCTIVE = {
    "lp",
    "spreading",
    "ica",
    "deepwalk",
    "planetoid",
}  # What they learn is about the nodes that are there.
INDUCTIVE = [name for name in ENTRIES if name not in TRANSDUCTIVE]

NUM_NODES, CLASSES = 63, ("red", "green", "blue")
SPLIT = Split(np.arange(18), np.arange(18, 30), np.arange(30, 54))  # Nodes 54 to 62 are in no part.

# A few epochs show what is read and what is not; enough of them show what is learnt.
FEW: dict[str, Any] = {"base_epochs": 3, "epochs": 3}
ENOUGH: dict[str, Any] = {"base_epochs": 50, "epochs": 50, "learning_rate": 0.02}
AT_MOST = 200  # Epochs of a method that has but one phase, and a learning rate of its own kind.


def clusters(*, labels=None, features: str | None = "sparse", draw: int = 7) -> Graph:
    """21 nodes a class, which mostly link among themselves and use words of their own; node 62 is alone."""
    generator = np.random.default_rng(draw)
    truth = np.arange(NUM_NODES) % 3
    together = truth[:, None] == truth
    linked = np.triu(generator.random((NUM_NODES, NUM_NODES)) < np.where(together, 0.25, 0.015), 1)
    linked[:, 62] = False
    own = truth[:, None] == np.arange(24) % 3
    words = (generator.random((NUM_NODES, 24)) < np.where(own, 0.6, 0.08)).astype(np.float32)
    forms = {"sparse": csr_array(words), "dense": words, None: None}
    return Graph.from_edges(
        "clusters",
        np.stack(np.nonzero(linked)),
        NUM_NODES,
        truth if labels is None else labels,
        CLASSES,
        features=forms[features],
    )


GRAPH, OTHER = clusters(), clusters(draw=8)
TRUTH = GRAPH.labels


def fit(name: str, graph: Graph = GRAPH, split: Split = SPLIT, seed: int = 0, **options) -> Fit:
    """A fit of a few epochs, where a method has epochs, unless ``options`` say otherwise."""
    context = options.pop("context", None)
    known = settings_of(ENTRIES[name].method)
    settings = {key: value for key, value in {**FEW, **options}.items() if key in known}
    return create(name, **settings).fit(graph, split, seed, context)


@functools.cache
def few_epochs(name: str) -> Fit:
    return fit(name)


def fit_well(name: str, graph: Graph) -> Fit:
    known: Any = settings_of(ENTRIES[name].method)
    if "base_epochs" in known:
        return fit(name, graph, **ENOUGH)
    return fit(name, graph, epochs=min(known["epochs"].default, AT_MOST) if "epochs" in known else None)


@functools.cache
def enough_epochs(name: str) -> Fit:
    return fit_well(name, GRAPH)


def applied(name: str, result: Fit, graph: Graph) -> np.ndarray:
    return create(name).apply(result.tensors, graph, "cpu")


def scrambled(nodes: np.ndarray) -> np.ndarray:
    """The labels, with those of the given nodes all wrong."""
    labels = TRUTH.copy()
    labels[nodes] = (labels[nodes] + 1 + nodes % 2) % 3
    return labels


def accuracy(result: Fit, nodes: np.ndarray, labels: np.ndarray = TRUTH) -> float:
    return float((result.label_distribution.argmax(axis=1) == labels)[nodes].mean())


def assert_same_to_the_bit(one: Fit, other: Fit) -> None:
    assert [stage.name for stage in one.stages] == [stage.name for stage in other.stages]
    for left, right in zip(one.stages, other.stages, strict=True):
        np.testing.assert_array_equal(left.label_distribution, right.label_distribution)


def assert_distributions(result: Fit, num_nodes: int = NUM_NODES) -> None:
    assert result.stages
    for stage in result.stages:
        distribution = stage.label_distribution
        assert distribution.shape == (num_nodes, 3)
        assert np.isfinite(distribution).all()
        assert (distribution >= 0).all()
        np.testing.assert_allclose(distribution.sum(axis=1), 1, atol=1e-4)


every_method = pytest.mark.parametrize("name", ENTRIES)


@every_method
def test_every_row_is_a_distribution_over_the_classes(name):
    for result in (few_epochs(name), enough_epochs(name)):
        assert_distributions(result)


@every_method
def test_the_labels_of_training_nodes_are_learnt_and_carried_to_the_others(name):
    result = enough_epochs(name)
    assert accuracy(result, SPLIT.train) >= 0.85
    assert accuracy(result, SPLIT.test) >= 0.6  # A guess is right in a third of the cases.


@every_method
def test_the_same_seed_repeats_to_the_bit(name):
    assert_same_to_the_bit(few_epochs(name), fit(name))


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_a_method_that_says_so_gives_the_same_result_for_every_seed(name):
    assert_same_to_the_bit(few_epochs(name), fit(name, seed=1))


@pytest.mark.parametrize("name", TRAINED)
def test_another_seed_gives_another_start(name):
    assert not np.array_equal(few_epochs(name).label_distribution, fit(name, seed=1).label_distribution)


@every_method
def test_labels_outside_train_and_validation_are_never_read(name):
    others = np.arange(30, NUM_NODES)
    assert_same_to_the_bit(few_epochs(name), fit(name, clusters(labels=scrambled(others))))


@every_method
def test_labels_outside_the_split_may_be_unknown(name):
    unknown = TRUTH.copy()
    unknown[30:] = UNLABELLED
    split = replace(SPLIT, test=np.array([], dtype=np.int64))
    assert_same_to_the_bit(few_epochs(name), fit(name, clusters(labels=unknown), split))


@pytest.mark.parametrize("name", WITH_SELECTION)
def test_validation_labels_only_choose(name):
    """A method that keeps its last epoch has nothing to choose, and needs no validation nodes at all."""
    graph = clusters(labels=scrambled(SPLIT.validation))
    expected = fit(name, selection="last")
    assert_same_to_the_bit(expected, fit(name, graph, selection="last"))
    alone = replace(SPLIT, validation=np.array([], dtype=np.int64))
    assert_same_to_the_bit(expected, fit(name, split=alone, selection="last"))


@every_method
def test_training_labels_matter(name):
    other = fit(name, clusters(labels=scrambled(SPLIT.train)))
    assert not np.array_equal(few_epochs(name).label_distribution, other.label_distribution)


@every_method
def test_a_class_with_a_single_label_and_a_training_node_without_neighbours_break_nothing(name):
    split = Split(np.array([0, 3, 6, 9, 1, 4, 62]), np.arange(18, 30), np.arange(30, 54))  # Only 62 is blue.
    assert_distributions(fit(name, split=split))


@every_method
def test_a_class_without_any_label_breaks_nothing(name):
    split = Split(np.array([0, 3, 6, 1, 4]), np.arange(18, 30), np.arange(30, 54))
    assert_distributions(fit(name, split=split))


@every_method
def test_a_graph_without_edges_breaks_nothing(name):
    graph = replace(GRAPH, adjacency=csr_array((NUM_NODES, NUM_NODES), dtype=np.float32))
    assert_distributions(fit(name, graph))


@every_method
def test_renaming_the_classes_renames_the_answers(name):
    """To the digit where no chance is involved; a random start treats classes differently, but equally well."""
    renaming = np.array([2, 0, 1])
    result, renamed = enough_epochs(name), fit_well(name, clusters(labels=renaming[TRUTH]))
    if ENTRIES[name].method.deterministic:
        np.testing.assert_allclose(
            renamed.label_distribution[:, renaming], result.label_distribution, rtol=1e-4, atol=1e-5
        )
    assert accuracy(renamed, SPLIT.test, renaming[TRUTH]) >= accuracy(result, SPLIT.test) - 0.15


@every_method
def test_dense_features_give_the_answer_of_sparse_ones(name):
    result = fit(name, clusters(features="dense"))
    np.testing.assert_allclose(result.label_distribution, few_epochs(name).label_distribution, atol=1e-3)


@every_method
def test_a_graph_without_features_is_classified_or_refused_with_the_reason(name):
    try:
        result = fit(name, clusters(features=None))
    except DataError as error:
        assert "features" in str(error)  # noqa: PT017
    else:
        assert_distributions(result)


@every_method
def test_a_method_says_whether_it_can_be_applied_to_other_nodes(name):
    assert create(name).inductive == (name not in TRANSDUCTIVE)


@pytest.mark.parametrize("name", sorted(TRANSDUCTIVE))
def test_a_method_for_the_nodes_that_are_there_is_not_applied_to_others(name):
    model = TrainedModel.of(name, create(name), GRAPH, few_epochs(name))
    with pytest.raises(ConfigError, match="only the nodes that it is trained with"):
        model.label_distribution(OTHER)


@pytest.mark.parametrize("name", INDUCTIVE)
def test_what_was_fitted_is_enough_to_say_the_same_again(name):
    result = few_epochs(name)
    np.testing.assert_allclose(applied(name, result, GRAPH), result.label_distribution, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", INDUCTIVE)
def test_a_graph_that_was_never_seen_is_classified(name):
    distribution = applied(name, enough_epochs(name), OTHER)
    assert (distribution.argmax(axis=1) == TRUTH).mean() >= 0.6


@pytest.mark.parametrize("name", INDUCTIVE)
def test_nodes_out_of_reach_change_nothing_when_a_fit_is_applied(name):
    """Label consistency included: everybody is compared with the nodes of the fit, not with each other."""
    together = replace(
        GRAPH,
        adjacency=csr_array(block_diag([GRAPH.adjacency, OTHER.adjacency])),
        labels=np.full(2 * NUM_NODES, UNLABELLED),
        features=csr_array(vstack([GRAPH.features, OTHER.features])),
    )
    result = few_epochs(name)
    apart = [applied(name, result, graph) for graph in (GRAPH, OTHER)]
    np.testing.assert_allclose(applied(name, result, together), np.concatenate(apart), rtol=1e-5, atol=1e-6)


@every_method
def test_watching_and_saving_do_not_change_the_result(name, tmp_path):
    context = Context(
        device="cpu",
        checkpoint=CheckpointFile(tmp_path / "state", "run", every=0),
        progress=lambda _: None,
    )
    assert_same_to_the_bit(few_epochs(name), fit(name, context=context))


@every_method
def test_the_plain_kernels_keep_the_promises_and_give_the_answer_of_the_compiled_ones(name):
    with use("plain"):
        result = fit(name)
        assert_distributions(result)
        assert_same_to_the_bit(result, fit(name))
    np.testing.assert_allclose(result.label_distribution, few_epochs(name).label_distribution, atol=1e-3)


def test_a_process_with_plain_kernels_fits_every_method_without_numba():
    code = (
        "import runpy, sys; contract = runpy.run_path(sys.argv[1])\n"
        "for name in contract['ENTRIES']: contract['assert_distributions'](contract['fit'](name))\n"
        "print([module for module in ('numba', 'llvmlite') if module in sys.modules])"
    )
    environment = {**os.environ, "LCGNN_KERNELS": "plain"}
    command = [sys.executable, "-c", code, __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@every_method
def test_a_split_that_does_not_belong_to_the_graph_is_refused(name):
    with pytest.raises(DataError, match=f"names node {NUM_NODES}"):
        fit(name, split=replace(SPLIT, test=np.array([NUM_NODES])))


@every_method
def test_every_setting_is_explained(name):
    assert ENTRIES[name].summary
    for setting_name, field in settings_of(ENTRIES[name].method).items():
        assert field.metadata.get("help"), f"{setting_name} has no help text; give it setting(default, 'help')."
