"""A torch module, or a method, as the base of the classifier."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from torch_geometric.nn.models import GCN

from lcgnn import LCGNNClassifier, create
from lcgnn.errors import ConfigError, OutputError
from lcgnn.methods import module_method, register_module
from lcgnn.methods.base import _REGISTRY
from lcgnn.methods.lc import TwoPhase


def pyg_gcn(num_features: int, num_classes: int) -> GCN:
    return GCN(num_features, 16, 2, num_classes, dropout=0.5, norm="batch_norm")


QUICK: dict[str, Any] = {"base_epochs": 30, "epochs": 30, "learning_rate": 0.02, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    """X, y with most labels missing, the adjacency and the true classes."""
    generator = np.random.default_rng(0)
    truth = np.arange(60) % 3
    linked = np.triu(generator.random((60, 60)) < np.where(truth[:, None] == truth, 0.3, 0.02), 1)
    X = generator.random((60, 9)) + (truth[:, None] == np.arange(9) % 3)
    return X, np.where(np.arange(60) < 15, truth, -1), csr_array((linked | linked.T).astype(float)), truth


@pytest.mark.parametrize("label_consistency", [True, False])
@pytest.mark.parametrize("base", [pyg_gcn, module_method(pyg_gcn), create("lc-gcn", hidden=8)])
def test_a_module_or_a_method_is_a_base(rows, base, label_consistency):
    X, y, adjacency, truth = rows
    model = LCGNNClassifier(base, label_consistency=label_consistency, **QUICK).fit(X, y, adjacency)
    assert (model.transduction_ == truth).mean() >= 0.8
    np.testing.assert_allclose(model.predict_proba(X, adjacency), model.label_distributions_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("base", [pyg_gcn, module_method(pyg_gcn)])
def test_a_clone_gives_the_same_to_the_bit(rows, base):
    X, y, adjacency, _ = rows
    model = LCGNNClassifier(base, **QUICK)
    again = clone(model)
    assert again.get_params() == model.get_params()
    one, other = (item.fit(X, y, adjacency).label_distributions_ for item in (model, again))
    np.testing.assert_array_equal(one, other)


def test_the_settings_of_a_method_hold_unless_others_are_given(rows):
    base = module_method(pyg_gcn, epochs=3, base_epochs=4, consistency_weight=5.0)
    _, method = LCGNNClassifier(base, epochs=7, settings={"reduction": "sum"})._method()
    assert isinstance(method, TwoPhase)
    assert (method.epochs, method.base_epochs, method.consistency_weight, method.reduction) == (7, 4, 5.0, "sum")
    assert method.selection == "last"
    _, alone = LCGNNClassifier(base, label_consistency=False)._method()
    assert isinstance(alone, TwoPhase)
    assert alone.aggregation is None


def test_a_setting_of_the_modules_inside_is_refused():
    with pytest.raises(ConfigError, match="lc-module has no setting 'hidden'"):
        LCGNNClassifier(pyg_gcn, hidden=4)._method()
    with pytest.raises(ConfigError, match="base has no setting 'hidden'"):
        LCGNNClassifier(module_method(pyg_gcn), hidden=4)._method()


def test_a_base_is_saved_by_its_name_only(rows, tmp_path, monkeypatch):
    registry = dict(_REGISTRY)
    monkeypatch.setattr("lcgnn.methods.base._REGISTRY", registry)
    X, y, adjacency, _ = rows
    few = {**QUICK, "base_epochs": 2, "epochs": 2}
    with pytest.raises(OutputError, match="this base is a function"):
        LCGNNClassifier(pyg_gcn, **few).fit(X, y, adjacency).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    register_module("mine", pyg_gcn)
    model = LCGNNClassifier("mine", **few).fit(X, y, adjacency)
    model.save(tmp_path / "model")
    loaded = LCGNNClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X, adjacency), model.predict_proba(X, adjacency))
    del registry["lc-mine"]
    with pytest.raises(OutputError, match=r"no method 'lc-mine'\..* has to be registered first"):
        LCGNNClassifier.load(tmp_path / "model")
