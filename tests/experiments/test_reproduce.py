"""A small study through the real command, with real worker processes."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lcgnn.experiments.reproduce import Reproduction
from lcgnn.experiments.store import Store, read_pack
from lcgnn.experiments.study import keep_record, run_missing
from lcgnn.report.markdown import write_tables
from lcgnn.runs.board import Board
from lcgnn.runs.run import Run
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.in_python import Given

STUDY = """
title = "A small study"
seeds = 2
[[columns]]
dataset = "cora"
labels_per_class = 5
[[rows]]
name = "GCN"
method = "lc-gcn"
stage = "base"
settings = { base_epochs = 30, epochs = EPOCHS }
paper = [[69.4, 2.8]]
[[rows]]
name = "LC-GCN"
method = "lc-gcn"
compare = "GCN"
settings = { base_epochs = 30, epochs = EPOCHS }
paper = [[76.3, 1.6]]
[[rows]]
name = "LP"
method = "lp"
"""


@pytest.fixture
def folder(tmp_path: Path, cora: object) -> Path:
    (tmp_path / "study.toml").write_text(STUDY.replace("EPOCHS", "20"))
    return tmp_path


def reproduce(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return lcgnn(folder, "reproduce", "study.toml", *options)


def lcgnn(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lcgnn", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_study_gives_a_table_and_is_not_repeated(folder: Path) -> None:
    first = reproduce(folder)
    assert first.returncode == 0, first.stderr
    assert "0 runs have a record, 3 are to be done." in first.stdout
    table = (folder / "results" / "study.md").read_text()
    assert table in first.stdout
    assert "| LC-GCN minus GCN |" in table
    assert "76.3 ± 1.6" in table
    again = reproduce(folder)
    assert "3 runs have a record, 0 are to be done." in again.stdout
    assert (folder / "results" / "study.md").read_text() == table


def test_all_are_the_experiments_on_graphs_that_come_with_a_split(tmp_path: Path) -> None:
    """Others have to be named, because their graphs may have to be fetched first."""
    everything = Reproduction.of(["all"], None, [], tmp_path, tmp_path)
    names = {item.name for item in everything.experiments}
    assert {"table2", "few_labels_cora"} <= names
    assert not any(name.startswith("any_graph") for name in names)
    named = Reproduction.of(["any_graph_5"], None, ["auto"], tmp_path, tmp_path)
    assert [row.method for row in named.chosen[0].rows] == ["auto"]


def test_a_plan_runs_nothing(folder: Path) -> None:
    planned = reproduce(folder, "--plan")
    assert planned.returncode == 0, planned.stderr
    assert "Not counted: 3 runs of kinds that have no record yet." in planned.stdout
    assert not (folder / "runs").exists()
    assert not (folder / "results").exists()


def test_records_are_packed_without_running_anything(folder: Path) -> None:
    nothing = lcgnn(folder, "results", "pack", "study.toml")
    assert nothing.returncode == 2
    assert "There are no records of these experiments" in nothing.stderr
    assert reproduce(folder).returncode == 0
    packed = lcgnn(folder, "results", "pack", "study.toml", "--results", "again")
    assert packed.returncode == 0, packed.stderr
    for name in ("study.md", "study.jsonl"):
        assert (folder / "again" / name).read_text() == (folder / "results" / name).read_text()


def test_packed_records_alone_are_enough(folder: Path) -> None:
    assert reproduce(folder).returncode == 0
    table = (folder / "results" / "study.md").read_text()
    for path in (folder / "runs" / "records").glob("*.json"):
        path.unlink()
    assert "3 runs have a record, 0 are to be done." in reproduce(folder).stdout
    assert (folder / "results" / "study.md").read_text() == table


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lcgnn", "reproduce", "study.toml", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def workers_of(runner: int) -> list[int]:
    """The processes below a runner that have torch loaded, which are its workers."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            parent = re.search(r"^PPid:\t(\d+)$", status.read_text(), re.MULTILINE)
            if parent and int(parent[1]) == runner and "libtorch" in (status.parent / "maps").read_text():
                found.append(int(status.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="finds the workers through /proc")
def test_a_killed_worker_is_replaced(folder: Path, wait_until: Callable[..., Any]) -> None:
    (folder / "study.toml").write_text(STUDY.replace("EPOCHS", "2000"))
    process = started(folder, "--workers", "2")
    victims = wait_until(lambda: workers_of(process.pid))
    os.kill(victims[0], signal.SIGKILL)
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert "| LC-GCN minus GCN |" in output
    assert len(list((folder / "runs" / "records").glob("*.json"))) == 3


def test_two_runners_on_one_folder_do_not_disturb_each_other(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY.replace("EPOCHS", "200"))
    runners = [started(folder, "--workers", "1") for _ in range(2)]
    for runner in runners:
        output, errors = runner.communicate(timeout=240)
        assert runner.returncode == 0, errors
        assert "| LC-GCN minus GCN |" in output
    alone = reproduce(folder, "--records", "runs/alone", "--results", "alone")
    assert alone.returncode == 0, alone.stderr
    assert (folder / "alone" / "study.md").read_text() == (folder / "results" / "study.md").read_text()


def test_runners_with_records_of_their_own_do_not_drop_each_other_s_from_the_pack(folder: Path) -> None:
    assert reproduce(folder, "--only", "lp", "--records", "first").returncode == 0
    # This one has read the pack before the other one adds to it.
    reproduction = Reproduction.of([str(folder / "study.toml")], None, [], folder / "second", folder / "empty")
    reproduction = dataclasses.replace(reproduction, results=folder / "results")
    made = read_pack(folder / "results" / "study.jsonl")
    other = dataclasses.replace(made[0], run="other", seed=made[0].seed + 1)
    reproduction.store.add(other)
    assert [path.name for path, _ in write_tables(reproduction)] == ["study.md"]
    assert {record.run for record in read_pack(folder / "results" / "study.jsonl")} == {made[0].run, "other"}


def test_two_runners_share_the_runs_between_them(tmp_path: Path, small_graph: Callable[..., Any]) -> None:
    source = Given.of(*small_graph())
    runs = [Run(RunSpec(source, "lp", seed), source.load()) for seed in range(4)]
    store = Store(tmp_path)
    other = [store.claim(run.identity) for run in runs[:2]]
    done = run_missing(runs, store, Board(tmp_path / "board", 4), workers=1)
    assert [position for position, _ in (next(done), next(done))] == [2, 3]
    assert store.find(runs[0].identity) is None
    for claim in other:
        assert claim is not None
        claim.give_back()
    assert [position for position, _ in done] == [0, 1]
    assert not list((tmp_path / "unfinished").glob("*.claim"))


def test_a_first_phase_that_two_runs_begin_with_is_trained_once(
    tmp_path: Path, small_graph: Callable[..., Any]
) -> None:
    source = Given.of(*small_graph())
    short = {"base_epochs": 5, "epochs": 5}
    runs = [
        Run(RunSpec(source, method, 0, settings=settings), source.load())
        for method, settings in (("lc-gcn", short), ("gcn-control", short), ("lp", {}))
    ]
    shared = runs[0].first_phase
    assert shared is not None
    assert shared == runs[1].first_phase
    store = Store(tmp_path)
    # Somebody is at it: what does not begin with it is done meanwhile.
    claim = store.claim(f"{shared}-first-phase")
    assert claim is not None
    done = run_missing(runs, store, Board(tmp_path / "board", 3), workers=1)
    assert next(done)[0] == 2
    claim.give_back()
    found = dict(done)
    assert found.keys() == {0, 1}
    assert found[0].stages[0] == found[1].stages[0]
    assert not list((tmp_path / "unfinished").glob("*.claim"))


def test_killing_the_runner_loses_only_what_was_under_way(folder: Path, wait_until: Callable[..., Any]) -> None:
    (folder / "study.toml").write_text(STUDY.replace("EPOCHS", "400"))
    records = folder / "runs" / "records"
    process = started(folder, "--workers", "2")
    wait_until(lambda: any(records.glob("*.json")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = {path.name: path.stat().st_mtime_ns for path in records.glob("*.json")}
    assert kept
    assert reproduce(folder).returncode == 0
    for name, written in kept.items():
        assert (records / name).stat().st_mtime_ns == written
        assert json.loads((records / name).read_text())["run"] == Path(name).stem


def test_only_some_rows_can_be_run(folder: Path) -> None:
    done = reproduce(folder, "--only", "lp")
    assert "0 runs have a record, 1 are to be done." in done.stdout


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A Dask cluster of two worker processes."""
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def test_a_dask_cluster_gives_the_records_that_this_machine_gives(folder: Path, scheduler: str) -> None:
    on_cluster = reproduce(folder, "--cluster", scheduler)
    assert on_cluster.returncode == 0, on_cluster.stderr
    table = (folder / "results" / "study.md").read_text()
    assert len(list((folder / "runs" / "records").glob("*.json"))) == 3
    here = reproduce(folder, "--records", "runs/here", "--results", "here")
    assert here.returncode == 0, here.stderr
    assert (folder / "here" / "study.md").read_text() == table


def test_two_drivers_of_clusters_share_the_runs_between_them(
    tmp_path: Path, small_graph: Callable[..., Any], scheduler: str
) -> None:
    source = Given.of(*small_graph())
    runs = [Run(RunSpec(source, "lp", seed), source.load()) for seed in range(4)]
    store = Store(tmp_path)
    other = [store.claim(run.identity) for run in runs[:2]]
    done = run_missing(runs, store, Board(tmp_path / "board", 4), workers=1, scheduler=scheduler)
    assert {position for position, _ in (next(done), next(done))} == {2, 3}
    assert store.find(runs[0].identity) is None
    # What the other one has done is taken as it is, what it leaves is done.
    finished = dataclasses.replace(keep_record(runs[0], Store(tmp_path / "other")), seconds=4711.0)
    store.add(finished)
    for claim in other:
        assert claim is not None
        claim.give_back()
    left = dict(done)
    assert left.keys() == {0, 1}
    assert left[0] == finished
    assert not list((tmp_path / "unfinished").glob("*.claim"))


def test_a_driver_that_is_killed_keeps_no_claim(
    folder: Path, scheduler: str, wait_until: Callable[..., Any]
) -> None:
    (folder / "study.toml").write_text(STUDY.replace("EPOCHS", "1000"))
    process = started(folder, "--cluster", scheduler)
    unfinished = folder / "runs" / "records" / "unfinished"
    wait_until(lambda: any(unfinished.glob("*.claim")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert any(unfinished.glob("*.claim"))
    again = reproduce(folder, "--cluster", scheduler)
    assert again.returncode == 0, again.stderr
    assert len(list((folder / "runs" / "records").glob("*.json"))) == 3
    assert not list(unfinished.glob("*.claim"))


def test_a_scheduler_that_does_not_answer_is_named(folder: Path) -> None:
    failed = reproduce(folder, "--cluster", "tcp://127.0.0.1:9")
    assert failed.returncode == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1
