"""Processes that train together, for the tests of this folder."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import pytest


@pytest.fixture(scope="session")
def free_ports() -> Callable[[int], list[int]]:
    """Finds ports that nobody uses."""

    def find(count: int) -> list[int]:
        with ExitStack() as stack:
            found = [stack.enter_context(socket.socket()) for _ in range(count)]
            for item in found:
                item.bind(("127.0.0.1", 0))
            return [int(item.getsockname()[1]) for item in found]

    return find


@pytest.fixture
def run_rank(free_ports: Callable[[int], list[int]]) -> Callable[..., subprocess.Popen[str]]:
    """Starts a command as a rank of a world on this machine, with what torchrun would set."""
    (port,) = free_ports(1)

    def start(rank: int, size: int, command: Sequence[str], **environment: str) -> subprocess.Popen[str]:
        world = {
            "RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_RANK": str(rank),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
        return started(command, {**world, **environment})

    return start


def started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """A Python process of this installation, one thread, its output in pipes."""
    return subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def finished() -> Callable[..., list[str]]:
    """Waits for processes that are to end well, and gives what each wrote to stderr."""

    def wait(processes: Sequence[subprocess.Popen[str]], timeout: float = 400) -> list[str]:
        try:
            errors = [process.communicate(timeout=timeout)[1] for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.communicate()
        for rank, (process, error) in enumerate(zip(processes, errors, strict=True)):
            assert process.returncode == 0, f"rank {rank}:\n{error}"
        return errors

    return wait
