"""A Dask cluster that is not there, loses its scheduler or its workers: one line each."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcgnn.errors import ConfigError, OutputError
from lcgnn.runs.board import Board
from lcgnn.runs.cluster import run_on_cluster

pytest.importorskip("distributed")


def start(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def scheduler(address: str) -> Iterator[subprocess.Popen[bytes]]:
    port = address.rpartition(":")[2]
    process = start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(port))) == 0:
                break
        time.sleep(0.1)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def worker(address: str, scheduler: subprocess.Popen[bytes], tmp_path: Path) -> Iterator[None]:
    arguments = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path), "--death-timeout", "20"]
    process = start("worker", address, *arguments)
    yield
    process.terminate()
    process.wait()


def test_a_scheduler_without_workers_is_told_after_a_while(
    address: str, scheduler: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LCGNN_CLUSTER_TIMEOUT", "1")
    with pytest.raises(ConfigError, match=f"has had no worker for 1 s. Start some: dask worker {address}"):
        list(run_on_cluster(time.sleep, [(0, 0)], Board(tmp_path / "board", 1), scheduler=address))


@pytest.mark.usefixtures("worker")
def test_a_scheduler_that_is_killed_is_told(
    address: str, scheduler: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    running = run_on_cluster(time.sleep, [(0, 0), (1, 600)], Board(tmp_path / "board", 2), scheduler=address)
    assert next(running) == (0, None)
    threading.Timer(1, scheduler.kill).start()
    with pytest.raises(OutputError, match=f"The Dask scheduler at {address} was lost. What is done is kept"):
        next(running)


@pytest.mark.usefixtures("worker")
def test_a_run_that_ends_every_worker_is_told(address: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="A run ended every Dask worker that it was given to"):
        list(run_on_cluster(os._exit, [(0, 1)], Board(tmp_path / "board", 1), scheduler=address))
