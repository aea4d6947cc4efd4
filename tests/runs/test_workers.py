"""Processes that are started before there is work for them."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lcgnn.cli import ahead
from lcgnn.runs import workers
from lcgnn.runs.board import temporary_board
from lcgnn.runs.runner import run_jobs
from lcgnn.sources.examples import write_example


class Recorded:
    """Instead of processes: how many were asked for, and what they were given."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.submitted: list[Any] = []

    def __call__(self, count: int) -> "Recorded":
        self.counts.append(count)
        return self

    def submit(self, task: Any) -> None:
        self.submitted.append(task)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    found = Recorded()
    monkeypatch.setattr(workers, "executor", found)
    monkeypatch.setattr(workers, "available_cores", lambda: 4)
    return found


@pytest.fixture
def graph(tmp_path: Path) -> str:
    write_example(tmp_path / "graph")
    return str(tmp_path / "graph")


def test_one_process_fewer_than_cores_is_started_for_folds(recorded: Recorded, graph: str) -> None:
    workers.start_ahead(graph, None)
    assert recorded.counts == [3]
    assert len(recorded.submitted) == 3


def test_as_many_are_started_as_are_asked_for(recorded: Recorded, graph: str) -> None:
    workers.start_ahead(graph, 2)
    workers.start_ahead("cora", None, seeds=2)
    assert recorded.counts == [1, 1]


@pytest.mark.parametrize(
    ("name", "options"),
    [("cora", {}), ("graph", {"folds": False}), ("nowhere", {}), ("graph", {"workers": 1})],
    ids=["a benchmark", "no folds", "no graph", "one worker"],
)
def test_nothing_is_started_where_one_process_does_it_all(
    name: str, options: dict[str, Any], recorded: Recorded, graph: str
) -> None:
    named = graph if name == "graph" else name
    workers.start_ahead(named, options.pop("workers", None), **options)
    assert recorded.counts == []


def test_nothing_is_started_for_a_large_graph_or_among_several_processes(
    recorded: Recorded, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as small:
        small.setattr(workers, "_LARGE", 10)
        workers.start_ahead(graph, None)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    workers.start_ahead(graph, None)
    assert recorded.counts == []


def test_a_program_that_calls_a_command_decides_for_itself(
    recorded: Recorded, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_is_program", False)
    ahead.start_workers(graph, None)
    assert recorded.counts == []


def test_starting_processes_does_not_wait_for_torch() -> None:
    program = "import sys, lcgnn.runs.workers, lcgnn.cli.ahead; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_processes_that_are_started_ahead_never_see_an_interrupt(
    graph: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "available_cores", lambda: 2)
    workers.start_ahead(graph, None)
    try:
        (beside,) = workers._started[0]._processes
        os.kill(beside, signal.SIGINT)
        # It ends at once where it does not ignore that yet, and the job with it.
        assert workers.executor(1).submit(os.getpid).result(60) == beside
    finally:
        workers.end_started()
    assert "KeyboardInterrupt" not in capfd.readouterr().err


def test_processes_can_be_ended_while_a_job_is_on_its_way_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    deaths: list[object] = []
    monkeypatch.setattr(threading, "excepthook", deaths.append)
    beside = workers.executor(1)
    handed_out = threading.Event()

    def hand_out(_: object) -> None:
        """In the executor's own thread, which then does not get to send the job for a while."""
        beside.submit(time.sleep, 60)
        handed_out.set()
        time.sleep(0.2)

    beside.submit(int).add_done_callback(hand_out)
    assert handed_out.wait(60)
    thread = beside._executor_manager_thread
    workers.end(beside)
    thread.join(60)
    assert not thread.is_alive()
    assert deaths == []


def doubled(job: int, _: object) -> int:
    return 2 * job


def test_a_lock_that_is_gone_is_no_last_line() -> None:
    """As where a process is killed between removing a lock and saying so."""
    program = (
        "import os\n"
        "from lcgnn.runs import workers\n"
        "workers.executor(1).submit(int).result()\n"
        "assert 'PYTHONWARNINGS' not in os.environ\n"
        "from joblib.externals.loky.backend import resource_tracker\n"
        "resource_tracker.register('/loky-1-gone', 'semlock')\n"
        "workers.end_started()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_processes_that_were_started_ahead_do_no_harm_to_work_that_joblib_hands_out() -> None:
    workers.executor(1).submit(int).result()
    try:
        for here in (False, True, False):
            with temporary_board(3) as board:
                done = dict(run_jobs(doubled, [1, 2, 3], board, workers=2, here=here))
            assert done == {0: 2, 1: 4, 2: 6}
    finally:
        workers.end_started()
        workers.end_all()
