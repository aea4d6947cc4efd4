"""Where neighbours differ and what was tried only guesses, a method is named that can learn that."""

from pathlib import Path

import numpy as np
import pytest

import lcgnn
from lcgnn.graph import Graph

HINT = (
    "What would help most: a method that can learn that neighbours differ and nodes with a common neighbour are "
    "alike: lcgnn compare GRAPH --methods cheby,mlp,lc-gcn."
)
SHORT = {"base_epochs": 10, "epochs": 5, "selection": "last"}


def trade(among_each_other: bool) -> Graph:
    """Buyers and sellers, of whom no column tells anything; they trade with each other, or with anybody."""
    generator = np.random.default_rng(0)
    ends = generator.integers(0, 120, (2, 500))
    if among_each_other:
        ends = ends[:, (ends[0] - ends[1]) % 2 == 1]
    labels = np.where(np.arange(120) < 40, np.arange(120) % 2, -1)
    features = generator.standard_normal((120, 1)).astype(np.float32)
    return Graph.from_edges("trade", ends, 120, labels, ("buyer", "seller"), features=features)


@pytest.mark.parametrize(
    ("among_each_other", "methods", "is_hinted"),
    [(True, "mlp,spreading", True), (False, "mlp,spreading", False), (True, "mlp,cheby", False)],
)
def test_what_can_learn_that_neighbours_differ_is_named_after_a_comparison_without_it(
    tmp_path: Path, among_each_other: bool, methods: str, is_hinted: bool
) -> None:
    graph = trade(among_each_other)
    found = lcgnn.compare(graph, methods, settings=SHORT, folds=2, workers=1, out=tmp_path / "run")
    assert (found.words[-1] == HINT) == is_hinted
    assert list(found.words) == found.to_json()["words"]


def test_a_training_tries_it_itself_and_takes_it_or_its_base(tmp_path: Path) -> None:
    training = lcgnn.train(trade(True), settings=SHORT, folds=2, workers=1, out=tmp_path / "run")
    assert training.summary.method in ("lc-cheby", "cheby", "blend")
    assert HINT not in training.words
    # Of as many labels of each class none is called scarce.
    assert not any("of the other classes" in sentence for sentence in training.words)
