"""How a command ends that is killed or interrupted, or whose output goes nowhere."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lcgnn.cli.ending import Ended, interruptible
from lcgnn.files import process_token
from lcgnn.sources.examples import write_example

LCGNN = [sys.executable, "-m", "lcgnn"]
LONG = ["train", "g", "--no-estimate", "--seeds", "2", "--workers", "2", "--epochs", "10000000", "--out", "run"]

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="finds processes through /proc")


def children_of(parent: int) -> list[int]:
    """The processes below one, of which those that a worker is made of run Python."""
    folder = Path(f"/proc/{parent}/task")
    return [int(pid) for task in folder.glob("*/children") for pid in task.read_text().split()]


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def at_work(folder: Path, wait_until: Callable[..., Any]) -> subprocess.Popen[str]:
    """A command whose two workers train."""
    write_example(folder / "g")
    process = subprocess.Popen(
        [*LCGNN, *LONG],
        cwd=folder,
        env={**os.environ, "LCGNN_CHECKPOINT_SECONDS": "0"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whoever runs the tests under nohup would pass it on.
        preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),
    )
    for seed in (0, 1):
        wait_until((folder / "run" / f"seed-{seed}" / "checkpoint.safetensors").exists)
    return process


def leave_behind(path: Path, process: int) -> Path:
    """What a process that is killed while it writes a file leaves beside it."""
    host = process_token().partition("@")[2]
    left = path.parent / f".{path.name}.{process}@{host}.0123456789abcdef"
    left.write_bytes(b"half")
    return left


@linux
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], ids=lambda end: end.name)
def test_workers_end_with_the_command_whatever_ended_it(
    end: signal.Signals, tmp_path: Path, wait_until: Callable[..., Any]
) -> None:
    process = at_work(tmp_path, wait_until)
    workers = children_of(process.pid)
    assert len(workers) >= 2
    left = leave_behind(tmp_path / "run" / "seed-0" / "checkpoint.safetensors", process.pid)
    os.kill(process.pid, end)
    _, errors = process.communicate(timeout=60)
    if end != signal.SIGKILL:
        assert process.returncode == 128 + end
        assert errors.splitlines()[-1] == f"lcgnn: Ended by {end.name}. Give the command again to continue."
        assert "Traceback" not in errors
    deadline = time.monotonic() + 20
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_running, workers))
    again = subprocess.Popen(
        [*LCGNN, *LONG],
        cwd=tmp_path,
        env={**os.environ, "LCGNN_CHECKPOINT_SECONDS": "0"},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: not left.exists())
    finally:
        os.killpg(again.pid, signal.SIGKILL)
        again.wait()


@linux
def test_three_interrupts_end_it_without_a_traceback(tmp_path: Path, wait_until: Callable[..., Any]) -> None:
    process = at_work(tmp_path, wait_until)
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["methods"], ["--help"], ["--version"]])
def test_output_that_does_not_fit_is_told_in_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*LCGNN, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == "lcgnn: Cannot write the output: No space left on device.\n"


def test_a_reader_that_leaves_early_is_no_error_to_speak_of() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*LCGNN, "methods"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(writer)
    assert done.stderr == ""


@linux
def test_a_command_that_is_to_outlive_its_terminal_does(tmp_path: Path, wait_until: Callable[..., Any]) -> None:
    """As under nohup, which lets SIGHUP be ignored."""
    ignored = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    write_example(tmp_path / "g")
    process = subprocess.Popen(
        [sys.executable, "-c", ignored, *LCGNN, "train", "g", "--no-estimate", "--epochs", "400", "--out", "run"],
        cwd=tmp_path,
        env={**os.environ, "LCGNN_CHECKPOINT_SECONDS": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until((tmp_path / "run" / "seed-0" / "checkpoint.safetensors").exists)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=240) == 0


def swallow(number: int, went_on: list[int]) -> None:
    with interruptible():
        with suppress(BaseException):
            signal.raise_signal(number)
        went_on.append(number)


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGTERM, Ended), (signal.SIGINT, KeyboardInterrupt)])
def test_a_request_to_end_that_something_swallowed_still_ends_the_command(number, raised) -> None:
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    went_on: list[int] = []
    try:
        # As a command has them when it begins; whatever ran in this process before may have left others.
        for one in before:
            signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)
        with pytest.raises(raised):
            swallow(number, went_on)
    finally:
        for one, meaning in before.items():
            signal.signal(one, meaning)
    assert went_on == [number]
