"""Which of the two versions of a kernel runs."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from lcgnn.compute.kernels import fused, use
from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.attention import Neighbourhood, attend
from lcgnn.compute.kernels.objective import label_consistency_loss
from lcgnn.errors import ConfigError

SINGLE = torch.zeros(2, 2)
PROGRAM = "import torch; from lcgnn.compute.kernels import fused; print(fused(torch.zeros(1)))"


def run_with_environment(value: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != "LCGNN_KERNELS"}
    if value is not None:
        environment["LCGNN_KERNELS"] = value
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)


def uses_fused_kernels(dtype: torch.dtype) -> list[bool]:
    """Whether each operation ran as one node of autograd's graph."""
    weight = torch.ones(2, 2, dtype=dtype, requires_grad=True)
    neighbourhood = Neighbourhood(csr_array(np.eye(2)), torch.device("cpu"))
    outputs = [
        activate(weight, torch.zeros(2, dtype=dtype)),
        attend(weight, torch.ones(1, 2, dtype=dtype), torch.ones(1, 2, dtype=dtype), neighbourhood),
        label_consistency_loss(weight, torch.tensor([0, 1]), torch.tensor([0, 1])),
    ]
    names = [{type(node).__name__ for node in _ancestors(output.grad_fn)} for output in outputs]
    own = ("ActivateBackward", "AttendRowsBackward", "_LabelConsistencyLossBackward")
    return [name in found for name, found in zip(own, names, strict=True)]


def _ancestors(node):
    yield node
    for parent, _ in node.next_functions:
        if parent is not None:
            yield from _ancestors(parent)


def test_use_switches_inside_the_block_and_restores_what_was_before():
    before = fused(SINGLE)
    with use("plain"):
        assert not fused(SINGLE)
        with use("fused"):
            assert fused(SINGLE)
        assert not fused(SINGLE)
    assert fused(SINGLE) == before


def test_use_restores_after_an_error():
    with use("fused"):
        with pytest.raises(ZeroDivisionError), use("plain"):
            _ = 1 / 0
        assert fused(SINGLE)


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_every_operation_follows_the_switch_for_single_precision(choice):
    with use(choice):
        assert uses_fused_kernels(torch.float32) == [choice == "fused"] * 3


def test_double_precision_takes_the_plain_path():
    with use("fused"):
        assert uses_fused_kernels(torch.float64) == [False] * 3
        assert not fused(SINGLE, SINGLE.double())


@pytest.mark.parametrize(("value", "expected"), [(None, "True"), ("plain", "False")])
def test_the_environment_chooses_the_kernels(value, expected):
    finished = run_with_environment(value)
    assert (finished.returncode, finished.stdout.strip()) == (0, expected)


def test_an_unknown_choice_is_told_with_the_known_ones():
    wrong: Any = "fast"
    with use(wrong), pytest.raises(ConfigError, match="'fast'; it can be 'fused' or 'plain'"):
        fused(SINGLE)
    finished = run_with_environment("fast")
    assert finished.returncode == 1
    assert "LCGNN_KERNELS is 'fast'" in finished.stderr
