"""A model that is kept: the same after it was saved, refused when it was cut or altered, at any temperature."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from lcgnn.assessment.calibration import at_temperature
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.features.encoding import ColumnEncoding, Encoding
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.runs.model import TrainedModel
from lcgnn.sources.tables.columns import Roles
from lcgnn.sources.tables.form import TableForm

FORM = TableForm(
    Roles("id", "label", None, "from", "to", None),
    Encoding(
        (ColumnEncoding("age", "number", 2.5, 1.5), ColumnEncoding("land", "category", categories=("é", "=")))
    ),
)


def ring(num_nodes: int = 12) -> Graph:
    nodes = np.arange(num_nodes)
    features = np.eye(num_nodes, 3, dtype=np.float32)[(nodes * 5) % num_nodes]
    labels = np.where(nodes < 4, nodes % 2, -1)
    return Graph.from_edges(
        "ring", np.stack([nodes, (nodes + 1) % num_nodes]), num_nodes, labels, ["no", "yes"], features=features
    )


@cache
def trained(name: str = "lc-gcn") -> TrainedModel:
    graph = ring()
    method = create(name, base_epochs=5, epochs=5, selection="last")
    fit = method.fit(graph, Split(np.arange(4), np.arange(0), np.arange(0)), seed=1)
    return TrainedModel.of(name, method, graph, fit, form=FORM, about={"dataset": "ring", "seed": 1})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    trained().save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_a_model_is_the_same_after_it_was_saved(saved: Path) -> None:
    model, again = trained(), TrainedModel.load(saved)
    for field in ("name", "method", "class_names", "num_features", "temperature", "form", "about"):
        assert getattr(again, field) == getattr(model, field), field
    np.testing.assert_array_equal(again.label_distribution(ring()), model.label_distribution(ring()))


def test_the_same_model_is_the_same_file(saved: Path, tmp_path: Path) -> None:
    TrainedModel.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_model_classifies_a_grown_graph_and_one_without_labels_or_classes() -> None:
    grown = replace(ring(15), labels=np.full(15, -1), class_names=())
    distribution = trained().label_distribution(grown)
    assert distribution.shape == (15, 2)
    np.testing.assert_allclose(distribution.sum(axis=1), 1, rtol=1e-5)


def test_label_consistency_is_with_the_nodes_of_the_training() -> None:
    """RowNormalize(Z M) with M = Z'Z of the fitted graph, Z being the network's softmax on the new one."""
    model, grown = trained(), ring(15)
    method: Any = model.method
    alone = replace(model, method=replace(method, aggregation=None))
    agreement = alone.label_distribution(ring()).T @ alone.label_distribution(ring())
    expected = alone.label_distribution(grown) @ agreement
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distribution(grown), expected, rtol=1e-5)


def test_other_features_are_refused() -> None:
    wider = replace(ring(), features=np.ones((12, 4), dtype=np.float32))
    with pytest.raises(DataError, match="ring has 4 features, and the model was trained on 3"):
        trained().label_distribution(wider)


def test_parameters_of_another_network_are_refused() -> None:
    model = trained()
    method: Any = model.method
    wider = replace(model, method=replace(method, hidden=17))
    with pytest.raises(DataError, match="do not fit the method's settings"):
        wider.label_distribution(ring())


def test_parameters_that_lack_something_or_are_for_other_classes_are_refused() -> None:
    model = trained()
    lacking = {name: value for name, value in model.tensors.items() if name != "class_agreement"}
    with pytest.raises(DataError, match="not those of lc-gcn"):
        replace(model, tensors=lacking).label_distribution(ring())
    with pytest.raises(DataError, match="for 2 classes, and it names 3"):
        replace(model, class_names=("a", "b", "c")).label_distribution(ring())


@pytest.mark.parametrize("temperature", [0.25, 0.5, 3.0])
def test_a_temperature_takes_probabilities_to_a_power(temperature: float) -> None:
    plain = trained().label_distribution(ring()).astype(np.float64)
    expected = plain ** (1 / temperature)
    expected /= expected.sum(axis=1, keepdims=True)
    warm = replace(trained(), temperature=temperature).label_distribution(ring())
    np.testing.assert_allclose(warm, expected, rtol=1e-5)


def test_a_temperature_breaks_neither_at_zeros_nor_at_extremes() -> None:
    sharp = np.array([[1, 0, 0], [0.5, 0.5, 0]], dtype=np.float32)
    np.testing.assert_array_equal(at_temperature(sharp, 1.0), sharp)
    np.testing.assert_allclose(at_temperature(sharp, 0.01), sharp, atol=1e-6)
    np.testing.assert_allclose(at_temperature(sharp, 1e9), np.full((2, 3), 1 / 3), rtol=1e-3)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("inf"), float("nan")])
def test_an_impossible_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ConfigError, match="temperature"):
        replace(trained(), temperature=temperature)


def refused(path: Path) -> str:
    with pytest.raises(OutputError) as error:
        TrainedModel.load(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    return str(error.value)


def test_a_file_that_was_cut_anywhere_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in {*range(16), *range(0, len(content), 61), len(content) - 1}:
        saved.write_bytes(content[:length])
        refused(saved)


@settings(max_examples=300, derandomize=True)
@given(data=st.data())
def test_a_file_that_was_altered_anywhere_is_refused_or_the_same(data: st.DataObject, tmp_path_factory) -> None:
    """White space in the header is all that can change without changing the model."""
    path = tmp_path_factory.getbasetemp() / "altered.safetensors"
    trained().save(path)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        model = TrainedModel.load(path)
    except OutputError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        model.save(path)
        again = path.read_bytes()
        trained().save(path)
        assert path.read_bytes() == again


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"\x80\x04cposix\nsystem\n", b"\0" * 64, b"id,label\na,x\n"]
)
def test_a_file_of_another_kind_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    refused(tmp_path / "file")


def test_a_folder_and_nothing_are_no_files(tmp_path: Path) -> None:
    assert "not a file" in refused(tmp_path)
    assert "not a file" in refused(tmp_path / "missing")


def test_safetensors_of_another_program_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(save({"weight": torch.zeros(2)}))
    assert "not a file of lcgnn" in refused(tmp_path / "file")


def test_parameters_under_another_name_have_another_checksum(saved: Path) -> None:
    content = saved.read_bytes()
    assert content.count(b'"bias_0"') == 1
    saved.write_bytes(content.replace(b'"bias_0"', b'"bias_2"'))
    assert "checksum" in refused(saved)


def test_a_sound_file_with_senseless_content_is_refused(saved: Path) -> None:
    for key, value in {"method": "no-such", "settings": {"hidden_": 3}, "temperature": 0, "tables": [1]}.items():
        change_description(saved, {key: value})
        refused(saved)
        trained().save(saved)


def test_a_later_format_is_not_read(saved: Path) -> None:
    change_description(saved, {"format": "lcgnn model 99"})
    assert "not a model of this version" in refused(saved)


def change_description(path: Path, changes: dict[str, object]) -> None:
    """Write the model again with another description and the checksum that belongs to it."""
    from lcgnn.compute.tensor_files import read_tensors, write_tensors

    tensors, description = read_tensors(path)
    write_tensors(path, tensors, {**description, **changes})
