"""GRAND's epoch with its gradient written out, for the CPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lcgnn.compute.kernels import activation, dense
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout, derive_key
from lcgnn.compute.kernels.samples import disagreement
from lcgnn.compute.placement.base import Placement
from lcgnn.networks.input_layer import InputLayer
from lcgnn.networks.network import Passes, TrainingOutput

if TYPE_CHECKING:
    from lcgnn.networks.grand import GRAND


class GRANDPasses(Passes):
    """The same numbers as autograd gives, without its bookkeeping.

    Args:
        network: One without batch normalisation.
        graph: What it runs on.
    """

    def __init__(self, network: GRAND, graph: Placement) -> None:
        super().__init__(network, graph)
        self.grand = network
        self.weight_0, self.weight_1 = network.weight_0.detach(), network.weight_1.detach()
        self.bias_0, self.bias_1 = network.bias_0.detach(), network.bias_1.detach()
        self.input = InputLayer(graph, self.weight_0)
        shape = graph.num_nodes, self.weight_0.shape[1]
        self.samples = [
            _Sample(InputLayer(graph, self.weight_0), torch.empty(shape)) for _ in range(network.samples)
        ]
        self.logits = torch.empty(network.samples, graph.num_nodes, graph.num_classes)
        self.apart = torch.empty(0)
        # What the disagreement counts: the mean over samples and over everybody's nodes.
        self.scale = network.agreement_weight / network.samples / graph.total(graph.num_nodes)

    def begin(self) -> None:
        """The projected features, where no dropout on them comes before."""
        self.embedding = None if self.grand.input_dropout else self.input.product(NO_DROPOUT)

    @torch.no_grad()
    def validate(self) -> Tensor:
        embedding = self.input.product(NO_DROPOUT) if self.embedding is None else self.embedding
        hidden = torch.empty_like(embedding)
        return self._logits(embedding * (1 - self.grand.drop_node), NO_DROPOUT, hidden)

    @torch.no_grad()
    def train(self, key: int) -> TrainingOutput:
        network, graph = self.grand, self.graph
        for number, (sample, logits) in enumerate(zip(self.samples, self.logits, strict=True)):
            own_key = derive_key(key, number)
            sample.kept = network.kept_nodes(graph, own_key)
            if self.embedding is None:
                dropout = graph.dropout(network.input_dropout, own_key, "input")
                projected = sample.input.product(dropout, sample.kept)
            else:
                projected = self.embedding * sample.kept[:, None]
            sample.dropout = graph.dropout(network.dropout, own_key, "hidden")
            logits.copy_(self._logits(projected, sample.dropout, sample.hidden))
        surest = network.least_confidence(graph.num_classes)
        loss, self.apart = disagreement(self.logits, network.temperature, surest)
        extra_loss = torch.tensor(loss * self.scale)
        return TrainingOutput(self.logits[0], tuple(self.logits[1:]), extra_loss, 1 / network.samples)

    def _logits(self, projected: Tensor, dropout: Dropout, hidden: Tensor) -> Tensor:
        """(N, C) from the projected features; what is left of the hidden layer is written to the matrix given."""
        propagated = self.grand.average(self.graph.adjacency, projected)
        activation.forward(propagated.numpy(), self.bias_0.numpy(), False, dropout, hidden.numpy())
        return dense.plus_bias(dense.tall_product(hidden, self.weight_1), self.bias_1)

    @torch.no_grad()
    def backward(self, gradient: Tensor, *further: Tensor) -> None:
        *gradients, extra = (gradient, *further)
        by_logits = self.apart.mul_(float(extra) * self.scale)
        by_weight_0, by_weight_1 = torch.zeros_like(self.weight_0), torch.zeros_like(self.weight_1)
        by_bias_0, by_bias_1 = torch.zeros_like(self.bias_0), torch.zeros_like(self.bias_1)
        by_embedding = None if self.embedding is None else torch.zeros_like(self.embedding)
        for sample, by_answer, more in zip(self.samples, by_logits, gradients, strict=True):
            by_answer += more
            by_weight_1 += dense.transposed_product(sample.hidden, by_answer)
            by_bias_1 += dense.column_sums(by_answer)
            through = self._through_activation(sample, dense.product(by_answer, self.weight_1.T))
            by_bias_0 += dense.column_sums(through)
            by_projected = self.grand.average(self.graph.adjacency, through)
            if by_embedding is None:
                by_weight_0 += sample.input.gradient(by_projected)
            else:
                by_embedding.addcmul_(by_projected, sample.kept[:, None])
        if by_embedding is not None:
            by_weight_0 = self.input.gradient(by_embedding)
        self.grand.weight_0.grad, self.grand.weight_1.grad = by_weight_0, by_weight_1
        self.grand.bias_0.grad, self.grand.bias_1.grad = by_bias_0, by_bias_1

    def _through_activation(self, sample: _Sample, by_hidden: Tensor) -> Tensor:
        result = torch.empty_like(by_hidden)
        activation.backward(sample.hidden.numpy(), by_hidden.numpy(), False, sample.dropout, result.numpy())
        return result


@dataclass(eq=False)
class _Sample:
    """What training keeps of one random propagation.

    Args:
        input: The projection of its features.
        hidden: (N, D) what dropout left of its hidden layer.
        kept: (N,) the nodes whose features are not dropped.
        dropout: Of its hidden layer.
    """

    input: InputLayer
    hidden: Tensor
    kept: Tensor = field(default_factory=lambda: torch.empty(0))
    dropout: Dropout = NO_DROPOUT
