"""The mean of several models."""

from typing import Any

import numpy as np
import pytest
from tests.test_contract import GRAPH, OTHER, SPLIT

from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.errors import ConfigError, DataError, LCGNNError
from lcgnn.methods import Context, create
from lcgnn.runs.model import TrainedModel
from lcgnn.training.checkpoint import CheckpointFile

FEW: dict[str, Any] = {"base_epochs": 5, "epochs": 5}


def several(models: int = 3):
    return create("lc-gcn", models=models, **FEW)


def test_every_stage_is_the_mean_of_models_that_are_trained_alone():
    together = several().fit(GRAPH, SPLIT, 4)
    seeds = [4, derive_key(4, "model", 1), derive_key(4, "model", 2)]
    alone = [create("lc-gcn", **FEW).fit(GRAPH, SPLIT, seed) for seed in seeds]
    for position, stage in enumerate(together.stages):
        mean = np.mean([fit.stages[position].label_distribution for fit in alone], axis=0)
        np.testing.assert_allclose(stage.label_distribution, mean, atol=1e-6)


def test_what_is_kept_says_the_same_of_the_graph_and_something_of_another():
    method = several()
    fit = method.fit(GRAPH, SPLIT, 4)
    np.testing.assert_allclose(method.apply(fit.tensors, GRAPH, "cpu"), fit.label_distribution, atol=1e-5)
    assert method.apply(fit.tensors, OTHER, "cpu").shape == (OTHER.num_nodes, 3)


def test_a_model_without_some_of_its_members_is_refused_in_one_line():
    method = several()
    fit = method.fit(GRAPH, SPLIT, 4)
    cut = {name: value for name, value in fit.tensors.items() if not name.startswith("2/")}
    model = TrainedModel("lc-gcn", method, GRAPH.class_names, GRAPH.num_features, cut)
    with pytest.raises(DataError, match="not those of lc-gcn"):
        model.label_distribution(GRAPH, "cpu")


class Killed(Exception):
    pass


@pytest.mark.parametrize("after", [3, 8, 14, 22])
def test_a_fit_that_is_killed_in_any_of_the_models_ends_as_if_it_had_not_been(tmp_path, after):
    def checkpoint():
        return CheckpointFile(tmp_path / "checkpoint.safetensors", "the run", every=0)

    count = 0

    def kill(_):
        nonlocal count
        count += 1
        if count == after:
            raise Killed

    with pytest.raises(Killed):
        several().fit(GRAPH, SPLIT, 4, Context("cpu", checkpoint(), progress=kill))
    resumed = several().fit(GRAPH, SPLIT, 4, Context("cpu", checkpoint()))
    np.testing.assert_array_equal(resumed.label_distribution, several().fit(GRAPH, SPLIT, 4).label_distribution)


@pytest.mark.parametrize("models", [0, 101])
def test_no_model_at_all_or_very_many_are_refused(models):
    with pytest.raises(ConfigError, match="models is"):
        several(models)
    assert issubclass(ConfigError, LCGNNError)
