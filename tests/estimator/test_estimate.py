"""What a classifier says of itself: it is what hiding labels by hand gives, and calibrates its probabilities."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn import LCGNNClassifier
from lcgnn.assessment.calibration import HeldOut, at_temperature
from lcgnn.assessment.trust import Assessment
from lcgnn.errors import ConfigError, InputError
from lcgnn.graph import Graph
from lcgnn.sources.in_memory import all_labels
from lcgnn.sources.splits import folds

# With a guard the held-out labels would choose between the base and label consistency.
UNGUARDED: dict[str, Any] = {"base_epochs": 80, "settings": {"guard": False}}


def noisy_labels(data: Any) -> NDArray[np.int64]:
    """40 labels, every third of which is wrong, so that the network is too sure of itself."""
    labels = np.where(np.arange(60) % 3 < 2, data.truth, -1)
    wrong = np.flatnonzero(labels >= 0)[::3]
    labels[wrong] = 1 - labels[wrong]
    return labels


@pytest.fixture(scope="module")
def estimated(classifier: Any, data: Any) -> LCGNNClassifier:
    made: LCGNNClassifier = classifier(estimate=4, **UNGUARDED)
    return made.fit(data.X, noisy_labels(data), adjacency=data.adjacency)


def test_nothing_is_estimated_unless_asked_for(classifier: Any, data: Any) -> None:
    fitted = classifier().fit(data.X, data.y, adjacency=data.adjacency)
    assert (fitted.expected_, fitted.temperature_) == (None, 1.0)


def test_the_estimate_is_what_hiding_labels_by_hand_gives(
    classifier: Any, data: Any, estimated: LCGNNClassifier
) -> None:
    labels = noisy_labels(data)
    graph = Graph("g", csr_array((60, 60), dtype=np.float32), labels, ("0", "1"))
    parts = [fold.test for fold in folds(graph, all_labels(graph), 4)]
    found = []
    for part in parts:
        known = labels.copy()
        known[part] = -1
        fitted = classifier(**UNGUARDED).fit(data.X, known, adjacency=data.adjacency)
        found.append(fitted.label_distributions_[part])
    nodes, fold = np.concatenate(parts), np.repeat(np.arange(4), [part.size for part in parts])
    by_hand = Assessment.of(HeldOut(labels[nodes], np.concatenate(found), fold), given=40, of_folds=4)
    assert estimated.expected_ == by_hand
    assert set(by_hand.sentences()[:1]) <= set(estimated.notes_)


def test_estimated_probabilities_are_calibrated_everywhere(
    classifier: Any, data: Any, estimated: LCGNNClassifier, tmp_path: Path
) -> None:
    plain = classifier(**UNGUARDED).fit(data.X, noisy_labels(data), adjacency=data.adjacency)
    assert estimated.temperature_ > 1
    calibrated = at_temperature(plain.label_distributions_, estimated.temperature_)
    np.testing.assert_array_equal(estimated.label_distributions_, calibrated)
    np.testing.assert_array_equal(estimated.transduction_, plain.transduction_)
    again = estimated.predict_proba(data.X, adjacency=data.adjacency)
    np.testing.assert_allclose(again, calibrated, atol=1e-6)
    estimated.save(tmp_path / "model.safetensors")
    loaded = LCGNNClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.expected_, loaded.temperature_) == (estimated.expected_, estimated.temperature_)
    np.testing.assert_array_equal(loaded.predict_proba(data.X, adjacency=data.adjacency), again)


def test_what_cannot_be_estimated_is_refused(classifier: Any, data: Any) -> None:
    with pytest.raises(ConfigError, match="number of folds cannot be 1"):
        classifier(estimate=1).fit(data.X, data.y, adjacency=data.adjacency)
    single = np.full(60, -1)
    single[[0, 59]] = [0, 1]
    with pytest.raises(InputError, match="no class has two labels"):
        classifier(estimate=True).fit(data.X, single, adjacency=data.adjacency)


def test_a_guard_that_left_label_consistency_out_says_so(
    classifier: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcgnn.methods.lc.worse_than_base", lambda *_: "It is worse.")
    assert "It is worse." in classifier().fit(data.X, data.y, adjacency=data.adjacency).notes_
