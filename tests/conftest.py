"""Fixtures for all tests: the benchmark graphs, from the user's cache or fetched once, and a small one."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import settings
from scipy.sparse import csr_array

from lcgnn.graph import Graph, Split
from lcgnn.sources.benchmarks import load


def pytest_configure(config: pytest.Config) -> None:
    # The tests run side by side; more threads than cores only make them wait for each other.
    torch.set_num_threads(1)
    # How long an example takes says how busy the machine is.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    # Torch_geometric triggers both: on import, and on Python 3.13 where it reads the annotations of a layer.
    for message in (".torch.jit.script. is deprecated", "Failing to pass a value to the 'type_params' parameter"):
        config.addinivalue_line("filterwarnings", f"ignore:{message}:DeprecationWarning")


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., Any]:
    """Asks again and again until the answer is true, and gives it; fails where that takes too long."""

    def wait(condition: Callable[[], Any], seconds: float = 300) -> Any:
        deadline = time.monotonic() + seconds
        while not (answer := condition()):
            assert time.monotonic() < deadline, f"It did not happen within {seconds:g} seconds."
            time.sleep(0.02)
        return answer

    return wait


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, one for all tests of pages: a process can have but one of playwright's loops."""
    chromium = shutil.which("chromium")
    if chromium is None:
        message = "NO CHROMIUM: NO PAGE IS TESTED. Install it, on Debian with apt-get install chromium."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright
    from tests.labelling.page.serving import BROWSER

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(BROWSER))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def cora() -> tuple[Graph, Split]:
    return load("cora")


@pytest.fixture(scope="session")
def citeseer() -> tuple[Graph, Split]:
    return load("citeseer")


@pytest.fixture(scope="session")
def pubmed() -> tuple[Graph, Split]:
    return load("pubmed")


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
