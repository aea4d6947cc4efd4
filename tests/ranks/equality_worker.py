"""One rank of the equality test: fit by worlds of several sizes, and compare with the fit of one process.

Run as ``equality_worker.py FOLDER PORT...``, one port for each case; the first rank does the comparing.
"""

import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lcgnn.compute.kernels import csr, use
from lcgnn.methods import Context, create
from lcgnn.methods.lc import TwoPhase
from lcgnn.runs.crew import at_work
from lcgnn.runs.records import Communication
from lcgnn.sources.parts.parted import load_parted

# Epochs of either phase, by method.
EPOCHS = {"lc-gcn": 25, "lc-gat": 25, "gcn-adjacency": 5, "lc-sgc": 5, "lc-mlp": 5}
EPOCHS |= {"lc-appnp": 5, "lc-dagnn": 5, "lc-gcnii": 5, "lc-grand": 5}
# Of many weights some have a gradient of almost nothing, whose sign is rounding's; Adam makes a full step of it.
SETTINGS: dict[str, Any] = {"lc-gcnii": {"learning_rate": 0.001}}
# World size, features, kernels: the usual ones, those without, those for large graphs.
CASES = (
    (4, "dense", "fused"),
    (3, "sparse", "fused"),
    (2, "dense", "large"),
    (2, "sparse", "plain"),
)


def method_named(name: str) -> TwoPhase:
    length: dict[str, Any] = {"base_epochs": EPOCHS[name], "epochs": EPOCHS[name], "base_stop_window": 0}
    method = create(name, **length, **SETTINGS.get(name, {}))
    assert isinstance(method, TwoPhase)
    return method


def compare(folder: Path, size: int, features: str) -> None:
    """Fit every method by a world of that size; the loss curves agree to 1e-5, the predictions are the same."""
    parts = folder / f"{features}-{size}"
    with at_work(parts, "cpu", {}) as crew:
        if crew is None:
            return
        _, split = load_parted(parts)
        for name in EPOCHS:
            expected = np.load(folder / f"{features}-{name}.npz")
            fit = crew.fit(name, method_named(name), split, 0, Context("cpu"))
            for number, stage in enumerate(fit.stages):
                history, distribution = expected[f"history-{number}"], expected[f"distribution-{number}"]
                np.testing.assert_allclose(stage.history, history, atol=1e-5, rtol=0, err_msg=name)
                np.testing.assert_allclose(stage.label_distribution, distribution, atol=1e-5, err_msg=name)
                assert np.array_equal(stage.label_distribution.argmax(1), distribution.argmax(1)), name
            for parameter, value in fit.tensors.items():
                np.testing.assert_allclose(value, expected[parameter], atol=2e-4, rtol=1e-4, err_msg=parameter)
        if size > 1:
            check_traffic(crew.communication(), size)


def check_traffic(communication: Communication, size: int) -> None:
    assert communication.ranks == size
    assert communication.epochs == 2 * sum(EPOCHS.values())
    assert communication.costs["weight gradients"].messages == 1
    assert all(cost.bytes > 0 for cost in communication.costs.values())


def kernels_of(choice: str) -> AbstractContextManager[None]:
    """The kernels of a case; those for large graphs are used whatever the size."""
    csr._LARGE = 0 if choice == "large" else 2**20
    return use("plain" if choice == "plain" else "fused")


def main(folder: Path, ports: list[str]) -> None:
    torch.set_num_threads(1)
    for (size, features, kernel), port in zip(CASES, ports, strict=True):
        if int(os.environ["RANK"]) < size:
            os.environ |= {"WORLD_SIZE": str(size), "MASTER_PORT": port}
            with kernels_of(kernel):
                compare(folder, size, features)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
