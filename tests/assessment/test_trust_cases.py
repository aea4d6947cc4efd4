"""A dozen tiny generated graphs: what is said of predictions against the truth. The benchmark has 50 of them."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from benchmarks.cases import Case

from benchmarks import trust
from lcgnn.graph import Graph


@pytest.fixture(scope="module")
def rows() -> list[trust.Row]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(trust, "SETTINGS", {"selection": "last", "base_epochs": 60, "epochs": 60})
        monkeypatch.setattr(trust, "FOLDS", 5)
        tiny: dict[str, Any] = {"nodes": 160, "labels_per_class": 10, "fair": True}
        return [trust.measure_case(dataclasses.replace(Case.draw(seed), **tiny)) for seed in range(12)]


def test_nearly_all_intervals_hold_the_truth_and_say_something(rows: list[trust.Row]) -> None:
    held = [row["expected"]["low"] <= row["accuracy"] <= row["expected"]["high"] for row in rows]
    widths = [row["expected"]["high"] - row["expected"]["low"] for row in rows]
    assert sum(held) >= 10
    assert np.mean(widths) < 0.45


def test_calibration_helps_on_nodes_that_it_was_not_made_on(rows: list[trust.Row]) -> None:
    for before, after in (("error_before", "error_after"), ("log_loss_before", "log_loss_after")):
        assert np.mean([row[after] for row in rows]) < np.mean([row[before] for row in rows])


def test_the_results_are_told_by_group_and_by_verdict(rows: list[trust.Row]) -> None:
    described = {"processor": "p", "cores": 1, "memory_gib": 1, "python": "3", "torch": "", "torch_geometric": ""}
    told = trust.table({"machine": {**described, "numba": ""}, "rows": rows})
    held = sum(row["expected"]["low"] <= row["accuracy"] <= row["expected"]["high"] for row in rows)
    assert f"| all | 12 | {held} ({held / 12:.0%}) |" in told
    assert "| Label consistency is unlikely to help |" in told


@pytest.mark.parametrize("seed", range(3))
def test_a_case_is_what_it_says(seed: int) -> None:
    case = Case.draw(seed)
    graph, truth = case.generate()
    again, _ = case.generate()
    assert graph.checksum == again.checksum
    assert (graph.num_nodes, graph.num_classes) == (case.nodes, case.classes)
    assert (graph.labels[graph.labelled] == truth[graph.labelled]).all()
    assert graph.labelled.size == case.classes * case.labels_per_class
    assert np.bincount(graph.labels[graph.labelled], minlength=case.classes).min() >= 2
    whole = Graph("whole", graph.adjacency, truth, graph.class_names)
    assert np.nanmean(whole.label_consistency) == pytest.approx(case.consistency, abs=0.08)
