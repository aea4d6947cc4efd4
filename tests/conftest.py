"""Fixtures for all tests: the benchmark graphs, from the user's cache or fetched once."""

import pytest
import torch

from lcgnn.graph import Graph, Split
from lcgnn.sources.benchmarks import load


def pytest_configure(config: pytest.Config) -> None:
    # The tests run side by side; more threads than cores only make them wait for each other.
    torch.set_num_threads(1)
    # torch_geometric's own import triggers it.
    config.addinivalue_line("filterwarnings", "ignore:.torch.jit.script. is deprecated:DeprecationWarning")


@pytest.fixture(scope="session")
def cora() -> tuple[Graph, Split]:
    return load("cora")


@pytest.fixture(scope="session")
def citeseer() -> tuple[Graph, Split]:
    return load("citeseer")


@pytest.fixture(scope="session")
def pubmed() -> tuple[Graph, Split]:
    return load("pubmed")
