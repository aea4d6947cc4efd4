"""Records as runs would leave them, made without training, and a study that they belong to."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.spec import Experiment
from lcgnn.experiments.store import Store, write_pack
from lcgnn.runs.records import CurvePoint, Environment, Fifth, Record, StageRecord
from lcgnn.runs.spec import fingerprint
from lcgnn.sources.benchmarks import BENCHMARKS, benchmark

# What no page may run, put wherever a name can come from a file.
NASTY = "<script>alert(1)</script>"
FORMULA = "=1+1"

STUDY = f"""
title = "A study | of {NASTY}"
note = "A note with <b>tags</b>."
seeds = 4
[[columns]]
dataset = "nasty"
labels_per_class = 5
[[columns]]
dataset = "nasty"
labels_per_class = 10
[[rows]]
name = "GCN"
method = "lc-gcn"
stage = "base"
paper = [[70.0, 1.0], [75.0]]
[[rows]]
name = {json.dumps(NASTY)}
method = "lc-gcn"
compare = "GCN"
paper = [[76.3, 1.6], []]
[[rows]]
name = "{FORMULA}"
method = "gcn-control"
compare = "GCN"
[[rows]]
name = "not run"
method = "lp"
"""


@pytest.fixture(scope="module")
def nasty_dataset() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BENCHMARKS, "nasty", replace(benchmark("cora"), key="nasty", title=NASTY))
        yield


@pytest.fixture(scope="module")
def study(nasty_dataset: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's TOML file, with packed records in ``results`` and single ones in ``records`` beside it."""
    folder = tmp_path_factory.mktemp("study")
    path = folder / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    records = made_records(load_experiment(str(path)))
    write_pack(folder / "results" / "study.jsonl", records[::2])
    store = Store(folder / "records")
    for record in records[1::2]:
        store.add(record)
    return path


def made_records(experiment: Experiment, *, diagnostics: bool = True) -> list[Record]:
    """Four seeds of every row but the last; LC better than the base, the control about the same."""
    gains = {"lc-gcn": 0.06, "gcn-control": 0.0}
    records = {}
    for row in experiment.rows[:-1]:
        for position, column in enumerate(experiment.columns):
            for spec in experiment.runs(row, column, 4):
                base = 0.70 + 0.05 * position + 0.004 * spec.seed
                final = base + gains[row.method] + (0.003 if spec.seed % 2 else -0.003)
                identity = fingerprint({**spec.configuration(), "seed": spec.seed})
                records[identity] = Record(
                    run=identity,
                    dataset=spec.source.name,
                    method=spec.method,
                    settings=spec.create_method().plain_settings(),
                    split=spec.split,
                    seed=spec.seed,
                    graph="abc",
                    seconds=40.0 + spec.seed,
                    stages=(_stage("base", base, diagnostics), _stage("second", final, diagnostics)),
                    environment=Environment("0.1.0", machine="Linux x86_64", finished="2026-11-15T22:00:00Z"),
                    classes=(NASTY, "b<sub>i</sub> & c", "third") if diagnostics else None,
                )
    return list(records.values())


def _stage(name: str, accuracy: float, diagnostics: bool) -> StageRecord:
    stage = StageRecord(name, 3, 300, None, None, accuracy)
    if not diagnostics:
        return stage
    return dataclasses.replace(
        stage,
        calibration_error=0.12,
        confusion=((30, 2, 1), (4, 25, 3), (0, 0, 0)),
        fifths=tuple(Fifth(low / 5, (low + 1) / 5, 20 if low else 0, 12 + low if low else 0) for low in range(5)),
        curve=tuple(
            CurvePoint(epoch, 2.0 / epoch, None if epoch % 2 else 2.1 / epoch, 0.5) for epoch in range(1, 301)
        ),
    )
