"""A small graph for the tests of this folder, and processes that train on it together."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import numpy as np
import pytest
from scipy.sparse import csr_array

from lcgnn.graph import Graph, Split

CLASSES = ("a", "b", "c", "d")


def make_small_graph(*, sparse: bool = False, named: bool = False) -> tuple[Graph, Split]:
    """Four classes, mostly homophilous edges with weights, a self-loop, an isolated node, features with signal."""
    random, num_nodes = np.random.default_rng(0), 240
    labels = random.integers(0, len(CLASSES), num_nodes)
    ends = random.integers(0, num_nodes - 1, (2, 8 * num_nodes))
    kept = (labels[ends[0]] == labels[ends[1]]) | (random.random(ends.shape[1]) < 0.2)
    features = random.normal(size=(num_nodes, 10)).astype(np.float32)
    features[np.arange(num_nodes), labels] += 1.5
    edges = ends[:, kept]
    adjacency = Graph.from_edges("small", edges, num_nodes, labels, CLASSES, weights=1 + random.random(kept.sum()))
    looped = adjacency.adjacency.tolil()
    looped[5, 5] = 2.0
    graph = Graph(
        "small",
        csr_array(looped),
        labels,
        CLASSES,
        csr_array(np.where(features > 0.5, features, 0)) if sparse else features,
        np.array([f"node {number}" for number in range(num_nodes)]) if named else None,
    )
    order = random.permutation(num_nodes)
    return graph, Split(order[:20], order[20:80], order[80:200], "small")


@pytest.fixture(scope="session")
def small_graph() -> Callable[..., tuple[Graph, Split]]:
    return make_small_graph


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
