"""A torch module that was registered is a row of an experiment like any other."""

from pathlib import Path

import pytest
from torch import Tensor, nn

from lcgnn.errors import ConfigError
from lcgnn.experiments.graphs import Graphs
from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.store import Store
from lcgnn.experiments.study import keep_record, missing_runs
from lcgnn.methods import register_module
from lcgnn.methods.base import _REGISTRY

STUDY = """
title = "A module of one's own"
seeds = 1
[[columns]]
dataset = "cora"
[[rows]]
name = "{name}"
method = "lc-{name}"
settings = {{ epochs = 2, base_epochs = 3 }}
[[rows]]
name = "control"
method = "{name}-control"
settings = {{ epochs = 2, base_epochs = 3 }}
"""


class Linear(nn.Module):
    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.layer = nn.Linear(num_features, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits: Tensor = self.layer(x)
        return logits + 0 * edge_index.sum()


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("lcgnn.methods.base._REGISTRY", dict(_REGISTRY))
    register_module("one-layer", Linear)
    return "one-layer"


def test_a_module_with_label_consistency_and_its_control_are_run_and_recorded(
    registered: str, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(name=registered))
    experiment, store = load_experiment(str(tmp_path / "study.toml")), Store(tmp_path / "records")
    runs = missing_runs([experiment], None, store, Graphs())
    records = [keep_record(run, store) for run in runs]
    assert [record.method for record in records] == ["lc-one-layer", "one-layer-control"]
    assert [stage.name for stage in records[0].stages] == ["base", "label consistency"]
    assert all(record.last.test_accuracy is not None for record in records)
    assert missing_runs([experiment], None, store, Graphs()) == []


def test_a_module_that_is_not_registered_is_told(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(name="nobody"))
    with pytest.raises(ConfigError, match="There is no method 'lc-nobody'"):
        load_experiment(str(tmp_path / "study.toml"))
