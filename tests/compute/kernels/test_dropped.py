"""Dropout on dense features with its projection: the fused form is the plain one, over many blocks of rows."""

import pytest
import torch

from lcgnn.compute.kernels import dropped, use
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.sparse import dropped_product


@pytest.mark.parametrize("rows", [None, torch.arange(500, 529)])
@pytest.mark.parametrize("block", [1, 8, 100])
def test_value_and_gradient_equal_the_plain_form(block, rows, monkeypatch):
    monkeypatch.setattr(dropped, "_ENTRIES", 6 * block)
    features = torch.randn(29, 6, generator=torch.Generator().manual_seed(0))
    results = []
    for choice in ("fused", "plain"):
        weight = torch.arange(18.0).view(6, 3).requires_grad_()
        with use(choice):
            product = dropped_product(features, weight, Dropout(0.4, 7, rows))
        (gradient,) = torch.autograd.grad(product, weight, torch.arange(87.0).view(29, 3))
        results.append((product, gradient))
    for fused, plain in zip(*results, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-3)
