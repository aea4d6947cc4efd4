"""GCNII's epoch with its gradient written out, for the CPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels import activation, dense
from lcgnn.compute.kernels.convolution import Support, convolution_gradient, convolve
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout
from lcgnn.compute.placement.base import Placement
from lcgnn.networks.input_layer import InputLayer
from lcgnn.networks.network import Passes, TrainingOutput

if TYPE_CHECKING:
    from lcgnn.networks.gcnii import GCNII


class GCNIIPasses(Passes):
    r"""The same numbers as autograd gives, in half its memory and with half of its dense products.

    A layer is :math:`\mathrm{ReLU}(P_l M_l)` with :math:`M_l = (1 - \beta_l) I + \beta_l W_l`. Of each, training
    keeps what dropout leaves of it. Where that is zero the gradient before the activation is zero too, mostly
    three quarters of it: both products of the backward pass are sparse ones. :math:`P_l` is computed again.

    Args:
        network: The network.
        graph: What it runs on.
    """

    def __init__(self, network: GCNII, graph: Placement) -> None:
        super().__init__(network, graph)
        self.gcnii, self.adjacency = network, graph.adjacency
        self.weight_1, self.bias_1 = network.weight_1.detach(), network.bias_1.detach()
        self.bias_0, self.no_bias = network.bias_0.detach().numpy(), network.no_bias.numpy()
        self.convolutions = network.convolutions.detach()
        self.strengths = torch.tensor(network.strengths)[:, None, None]
        self.mixed = torch.empty_like(self.convolutions)  # (L, D, D), the M_l
        self.input = InputLayer(graph, network.weight_0.detach())
        shape = graph.num_nodes, self.weight_1.shape[0]
        self.first = torch.empty(shape)
        # What is left of every layer: one after the other in training, two in turn in validation.
        self.layers = [torch.empty(shape) for _ in range(len(self.convolutions) + 1)]
        self.dropout = partial(graph.dropout, network.dropout, None)

    def begin(self) -> None:
        torch.mul(self.convolutions, self.strengths, out=self.mixed)
        self.mixed.diagonal(dim1=1, dim2=2).add_(1 - self.strengths[:, :, 0])

    def validate(self) -> Tensor:
        return self._logits(partial(self.graph.dropout, self.gcnii.dropout, None), self.layers[:2])

    def train(self, key: int) -> TrainingOutput:
        self.dropout = partial(self.graph.dropout, self.gcnii.dropout, key)
        return TrainingOutput(self._logits(self.dropout, self.layers))

    @torch.no_grad()
    def _logits(self, dropout: partial[Dropout], layers: list[Tensor]) -> Tensor:
        """The logits, every layer being written to the next of the matrices given, or to the first again."""
        projected = self.input.product(dropout("input"))
        self._activate(projected, self.bias_0, NO_DROPOUT, self.first)
        self._activate(self.first, self.no_bias, dropout("layer 0"), layers[0])
        last = len(self.mixed) - 1
        for layer, mixed in enumerate(self.mixed):
            place = "output" if layer == last else f"layer {layer + 1}"
            before, after = layers[layer % len(layers)], layers[(layer + 1) % len(layers)]
            convolve(self._support(before), mixed, dropout(place), after)
        hidden = layers[(last + 1) % len(layers)]
        return dense.plus_bias(dense.tall_product(hidden, self.weight_1), self.bias_1)

    def _support(self, before: Tensor) -> Support:
        teleport = self.gcnii.teleport
        return Support(*self.adjacency.operand(before), 1 - teleport, self.first, teleport)

    def _activate(self, rows: Tensor, bias: NDArray[np.float32], dropout: Dropout, result: Tensor) -> None:
        activation.forward(rows.numpy(), bias, False, dropout, result.numpy())

    @torch.no_grad()
    def backward(self, gradient: Tensor, *further: Tensor) -> None:  # noqa: ARG002
        network, teleport = self.gcnii, self.gcnii.teleport
        network.weight_1.grad = dense.transposed_product(self.layers[-1], gradient)
        network.bias_1.grad = dense.column_sums(gradient)
        by_layer = dense.product(gradient, self.weight_1.T)
        by_first, by_support = torch.zeros_like(self.first), torch.empty_like(self.first)
        by_weights, scale = torch.empty_like(self.convolutions), self.dropout().scale
        for layer in reversed(range(len(self.convolutions))):
            support, after = self._support(self.layers[layer]), self.layers[layer + 1]
            by_weights[layer] = convolution_gradient(
                support, self.mixed[layer], after, scale, by_layer, by_support
            )
            by_first.add_(by_support, alpha=teleport)
            by_layer = self.adjacency.blended(by_support, 1 - teleport, by_support, 0.0)
        network.convolutions.grad = by_weights.mul_(self.strengths)
        self._through_input(by_first, by_layer)

    def _through_input(self, by_first: Tensor, by_dropped: Tensor) -> None:
        """From the first layer, as the convolutions add it and as dropout left it, to the features' weights."""
        kept = self.dropout("layer 0")
        through = torch.empty_like(by_first)
        activation.backward(self.layers[0].numpy(), by_dropped.numpy(), False, kept, through.numpy())
        by_first.add_(through)
        by_projected = torch.where(self.first > 0, by_first, 0)
        self.gcnii.weight_0.grad = self.input.gradient(by_projected)
        self.gcnii.bias_0.grad = dense.column_sums(by_projected)
