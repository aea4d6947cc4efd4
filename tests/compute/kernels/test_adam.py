"""Adam: both forms take torch's steps."""

from typing import Any

import pytest
import torch

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.adam import Adam


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_many_steps_equal_torchs(choice):
    torch.manual_seed(0)
    start = {"weight": torch.randn(7, 3), "bias": torch.randn(3)}
    ours = {name: value.clone().requires_grad_() for name, value in start.items()}
    theirs = {name: value.clone().requires_grad_() for name, value in start.items()}
    adam = Adam(ours, 0.05, {"weight": 0.01, "bias": 0.0})
    groups: list[dict[str, Any]] = [
        {"params": [theirs["weight"]], "weight_decay": 0.01},
        {"params": [theirs["bias"]]},
    ]
    reference = torch.optim.Adam(groups, lr=0.05)
    for _ in range(50):
        for name in start:
            gradient = torch.randn(start[name].shape)
            ours[name].grad, theirs[name].grad = gradient, gradient.clone()
        with use(choice):
            adam.step()
        reference.step()
    for name in start:
        torch.testing.assert_close(ours[name], theirs[name], rtol=1e-5, atol=1e-6)
        assert ours[name].grad is None


def test_a_restored_optimiser_goes_on_as_if_nothing_had_happened():
    def run(interrupted: bool) -> torch.Tensor:
        torch.manual_seed(1)
        parameter = torch.ones(4, requires_grad=True)
        adam = Adam({"p": parameter}, 0.1, {"p": 0.0})
        for step in range(10):
            if interrupted and step == 5:
                saved = {name: value.clone() for name, value in adam.moments().items()}
                adam = Adam({"p": parameter}, 0.1, {"p": 0.0})
                adam.restore(5, saved)
            parameter.grad = torch.randn(4)
            adam.step()
        return parameter.detach()

    assert torch.equal(run(interrupted=True), run(interrupted=False))


def test_a_parameter_without_gradient_stays_as_it_is():
    parameter = torch.ones(4, requires_grad=True)
    Adam({"p": parameter}, 0.1, {"p": 1.0}).step()
    assert torch.equal(parameter.detach(), torch.ones(4))
