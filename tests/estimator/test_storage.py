"""A classifier that was saved and loaded predicts what it did, and a damaged file is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from lcgnn import LCGNNClassifier
from lcgnn.errors import OutputError
from lcgnn.estimator.storage import save_fitted


def frame(data: Any) -> pd.DataFrame:
    return pd.DataFrame(data.X, columns=list("abcde")).assign(kind=np.take(["x", "y"], data.truth))


CASES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "numbers": lambda data: (data.X, data.y, data.adjacency),
    "booleans, no edges": lambda data: (data.X, data.truth.astype(bool), None),
    "sparse, floats": lambda data: (csr_array(np.maximum(data.X, 0)), data.truth + 0.5 - 0.5, None),
    "frame, text": lambda data: (frame(data), np.take(["no", "yes", None], data.y), data.adjacency),
}


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_classifier_is_the_one_that_was_saved(
    classifier: Any, data: Any, case: str, tmp_path: Path
) -> None:
    rows, labels, adjacency = CASES[case](data)
    saved = classifier(hidden=4, settings={"reduction": "sum"})
    saved.fit(rows, labels, adjacency=adjacency).save(tmp_path / "model.safetensors")
    loaded = LCGNNClassifier.load(str(tmp_path / "model.safetensors"))
    assert loaded.get_params() == {**saved.get_params(), "random_state": None}
    assert loaded.classes_.dtype == saved.classes_.dtype
    for name in ("classes_", "transduction_", "label_distributions_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(saved, name))
    assert hasattr(loaded, "feature_names_in_") == isinstance(rows, pd.DataFrame)
    assert loaded.notes_ == saved.notes_
    np.testing.assert_array_equal(loaded.predict(rows), saved.predict(rows))
    edges = csr_array((9, 9))
    np.testing.assert_array_equal(
        loaded.predict_proba(rows[:9], adjacency=edges), saved.predict_proba(rows[:9], adjacency=edges)
    )
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_file_that_was_altered_or_is_another_is_refused(classifier: Any, data: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    classifier().fit(data.X, data.truth).save(path)
    content = path.read_bytes()
    for broken in (content[:100], content[:-1], content[:-1] + bytes([content[-1] ^ 1]), b"", b"\x80\x04N."):
        path.write_bytes(broken)
        with pytest.raises(OutputError, match=r"model\.safetensors"):
            LCGNNClassifier.load(path)
    with pytest.raises(OutputError, match="is not a file"):
        LCGNNClassifier.load(tmp_path / "none")


def test_a_model_of_the_command_line_is_no_classifier(classifier: Any, data: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    made = classifier().fit(data.X, data.truth)
    made._fitted.model.save(path)
    with pytest.raises(OutputError, match="not a classifier"):
        LCGNNClassifier.load(path)


def test_a_file_of_another_version_is_refused(classifier: Any, data: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    made = classifier().fit(data.X, data.truth)
    save_fitted(path, made._fitted, {"base": "gcn", "a parameter of the future": 1})
    with pytest.raises(OutputError, match="another version"):
        LCGNNClassifier.load(path)


def test_a_parameter_that_is_no_plain_data_cannot_be_saved(classifier: Any, data: Any, tmp_path: Path) -> None:
    made = classifier().fit(data.X, data.truth).set_params(settings={"heads": object()})
    with pytest.raises(OutputError, match="cannot be written as JSON"):
        made.save(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())
