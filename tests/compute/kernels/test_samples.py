"""How far several predictions are apart: compiled, plain, and by the definition in double precision."""

import pytest
import torch

from lcgnn.compute.kernels import use
from lcgnn.compute.kernels.samples import disagreement


def by_definition(logits: torch.Tensor, temperature: float, surest: float) -> tuple[float, torch.Tensor]:
    leaf = logits.double().requires_grad_()
    loss = 0 * leaf.sum()
    for node in range(leaf.shape[1]):
        shares = [torch.softmax(sample[node], dim=0) for sample in leaf]
        mean = torch.stack(shares).detach().mean(dim=0)
        sharp = mean ** (1 / temperature) / (mean ** (1 / temperature)).sum()
        if mean.max() >= surest:
            loss = loss + sum((share - sharp).square().sum() for share in shares)
    (gradient,) = torch.autograd.grad(loss, leaf)
    return loss.item(), gradient


@pytest.mark.parametrize("choice", ["fused", "plain"])
@pytest.mark.parametrize("shape", [(1, 5, 2), (4, 30, 7), (3, 2, 40)])
@pytest.mark.parametrize("temperature", [0.2, 1.0])
@pytest.mark.parametrize("surest", [0.0, 0.4])
def test_the_loss_and_its_gradient_are_those_of_the_definition(choice, shape, temperature, surest):
    logits = 3 * torch.randn(shape, generator=torch.Generator().manual_seed(1))
    with use(choice):
        loss, gradient = disagreement(logits, temperature, surest)
    expected_loss, expected = by_definition(logits, temperature, surest)
    assert loss == pytest.approx(expected_loss, rel=1e-5, abs=1e-6)
    torch.testing.assert_close(gradient, expected.float(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("choice", ["fused", "plain"])
def test_predictions_that_are_certain_and_equal_are_not_apart(choice):
    logits = torch.tensor([200.0, -200.0, 0.0]).expand(3, 4, 3).contiguous()
    with use(choice):
        loss, gradient = disagreement(logits, 0.5)
    assert loss == 0
    assert torch.equal(gradient, torch.zeros_like(logits))
