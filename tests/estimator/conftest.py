"""Fixtures for the tests of the estimators: a small graph whose edges tell the class, and a quick classifier."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn import LCGNNClassifier


@dataclass(frozen=True, eq=False)
class Blocks:
    """60 nodes, of which 10 have a label; five of six edges join nodes of the same class."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    truth: NDArray[np.int64]
    adjacency: csr_array


@pytest.fixture(scope="session")
def data() -> Blocks:
    generator = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    probability = np.where(truth[:, None] == truth, 0.25, 0.05)
    upper = np.triu(generator.random((60, 60)) < probability, 1).astype(float)
    X = generator.normal(size=(60, 5)) + 0.5 * truth[:, None]
    y = np.full(60, -1)
    y[::6] = truth[::6]
    return Blocks(X, y, truth, csr_array(upper + upper.T))


@pytest.fixture(scope="session")
def classifier() -> Callable[..., LCGNNClassifier]:
    def make(**parameters: Any) -> LCGNNClassifier:
        quick = {"base_epochs": 30, "epochs": 20, "learning_rate": 0.05, "random_state": 0}
        return LCGNNClassifier(**{**quick, **parameters})

    return make
