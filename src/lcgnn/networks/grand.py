"""Graph random neural networks (Feng et al. 2020): random propagation, and predictions that agree."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from lcgnn.compute.kernels import fused
from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.dense import plus_bias, projected
from lcgnn.compute.kernels.dropout import NO_DROPOUT, Dropout, derive_key
from lcgnn.compute.kernels.dropped import kept_rows
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.kernels.samples import disagreement
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.sparse import SparseMatrix, dropped_product
from lcgnn.networks.averaged_norm import AveragedNorm
from lcgnn.networks.grand_passes import GRANDPasses
from lcgnn.networks.network import Network, Passes, TrainingOutput, glorot
from lcgnn.networks.propagation import personalized, powers_mean

GRANDSmoothing = Literal["mean", "personalized"]


class GRAND(Network):
    r"""Logits :math:`\mathrm{ReLU}(\bar A X W_0 + b_0)\, W_1 + b_1` with :math:`\bar A` the mean of powers 0..K.

    In training, S times: each node's features are dropped as a whole with probability p (DropNode), then
    propagated. Every one of the S predictions is trained for the labels, and the extra loss brings them together,

    .. math:: \lambda\, \frac1{SN} \sum_s \sum_i |Z^{(s)}_i - \bar Z'_i|^2,

    :math:`\bar Z'` being their mean, sharpened by a temperature. In prediction the features count 1 - p instead.
    The features are projected before they are propagated: an epoch propagates ``hidden`` columns S times, and
    never the features. With ``smoothing="personalized"``, :math:`\bar A` is personalised PageRank after K steps
    instead. With ``normalized``, averaged features and hidden layer are batch-normalised; see
    ``AveragedNorm`` for how that is done without the averages.

    Args:
        num_features: F.
        num_classes: C.
        hidden: Width of the hidden layer.
        steps: K.
        samples: S.
        temperature: Of the sharpened mean; 1 leaves it as it is.
        agreement_weight: The weight of the extra loss.
        confidence: The extra loss counts nodes whose mean prediction gives a class at least so many times 1 / C.
        drop_node: p.
        dropout: Rate on the hidden layer.
        input_dropout: Rate on the features; with ``normalized`` on their averages.
        normalized: Whether averaged features and hidden layer are batch-normalised, as in the original on PubMed.
        smoothing: The mean of the powers, or personalised PageRank.
        teleport: The share of a node's own row in every step of personalised PageRank, its alpha.
        generator: Draws the initial weights.
    """

    runs_on: ClassVar[frozenset[Kind]] = frozenset({"whole", "on ranks"})

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        *,
        hidden: int,
        steps: int,
        samples: int,
        temperature: float,
        agreement_weight: float,
        confidence: float,
        drop_node: float,
        dropout: float,
        input_dropout: float,
        normalized: bool = False,
        smoothing: GRANDSmoothing = "mean",
        teleport: float = 0.1,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.steps = steps
        self.samples = samples
        self.temperature = temperature
        self.agreement_weight = agreement_weight
        self.confidence = confidence
        self.drop_node = drop_node
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.smoothing = smoothing
        self.teleport = teleport
        self.weight_0 = glorot(num_features, hidden, generator=generator)
        self.bias_0 = nn.Parameter(torch.zeros(hidden))
        self.weight_1 = glorot(hidden, num_classes, generator=generator)
        self.bias_1 = nn.Parameter(torch.zeros(num_classes))
        self.averages = AveragedNorm(num_features) if normalized else None
        self.hidden_norm = nn.BatchNorm1d(hidden) if normalized else None

    @property
    def placements(self) -> frozenset[Kind]:
        # Batch normalisation asks for the mean over all nodes inside of a pass.
        return self.runs_on if self.averages is None else frozenset({"whole"})

    def prepare(self, graph: Placement, seed: int) -> None:
        if self.averages is not None:
            self.averages.measure(graph, self.drop_node, self.average, derive_key(seed, "averages"))

    def embed(self, graph: Placement) -> Tensor | None:
        """The projected features, where no dropout on them comes before."""
        if self.averages is not None:
            return dropped_product(graph.features, self.averages.folded(self.weight_0), NO_DROPOUT)
        return None if self.input_dropout else dropped_product(graph.features, self.weight_0, NO_DROPOUT)

    def readout(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        """Logits (N, C); with a key those of one sample."""
        propagated = self.average(graph.adjacency, self._projected(graph, embedding, key))
        dropout = graph.dropout(self.dropout, key, "hidden")
        if self.averages is not None:
            answers = projected(self._normalized(graph, self.averages, propagated, dropout, key), self.weight_1)
        else:
            answers = hidden_layer(propagated, self.bias_0, self.weight_1, "relu", dropout)
        return plus_bias(answers, self.bias_1)

    def average(self, adjacency: SparseMatrix, rows: Tensor) -> Tensor:
        """(N, D) rows averaged over the nodes up to K steps away; a symmetric operation, its own gradient."""
        if self.smoothing == "personalized":
            return personalized(adjacency, rows, self.steps, self.teleport)
        return powers_mean(adjacency, rows, self.steps)

    def _projected(self, graph: Placement, embedding: Tensor | None, key: int | None) -> Tensor:
        """(N, D) the projected features of the nodes that are not dropped."""
        if key is None:
            if embedding is None:
                embedding = dropped_product(graph.features, self.weight_0, NO_DROPOUT)
            return embedding * (1 - self.drop_node)
        kept = self.kept_nodes(graph, key)
        if embedding is not None:
            return embedding * kept[:, None]
        dropout = graph.dropout(self.input_dropout, key, "input")
        return dropped_product(graph.features, self.weight_0, dropout, kept)

    def kept_nodes(self, graph: Placement, key: int) -> Tensor:
        """(N,) the nodes whose features are not dropped under a sample's key."""
        return kept_rows(graph.dropout(self.drop_node, key, "nodes"), graph.zeros(1))

    def _normalized(
        self, graph: Placement, averages: AveragedNorm, propagated: Tensor, dropout: Dropout, key: int | None
    ) -> Tensor:
        """(N, D) the hidden layer, normalised before and after its activation."""
        assert self.hidden_norm is not None
        if key is not None and self.input_dropout:
            propagated = propagated + averages.noise(graph, self.weight_0, self.input_dropout, key)
        hidden = activate(propagated, self.bias_0 + averages.bias(self.weight_0))
        self.hidden_norm.train(key is not None)
        normal: Tensor = self.hidden_norm(hidden)
        if not dropout.rate:
            return normal
        # The mask by itself: normalised values may be negative, which an activation would not leave.
        mask = activate(torch.ones_like(normal), torch.zeros_like(self.bias_0), "relu", dropout)
        return normal * mask

    def passes(self, graph: Placement) -> Passes:
        here = graph.kind != "in turn" and self.averages is None and fused(self.weight_0)
        return GRANDPasses(self, graph) if here else super().passes(graph)

    def least_confidence(self, num_classes: int) -> float:
        """The mean probability from which on samples are to agree.

        Where so many times chance's is no probability, as with two classes, it is halfway between chance and 1.
        """
        asked = self.confidence / num_classes
        return asked if asked < 1 else (1 + 1 / num_classes) / 2

    def train_pass(self, graph: Placement, embedding: Tensor | None, key: int) -> TrainingOutput:
        samples = [self.readout(graph, embedding, derive_key(key, sample)) for sample in range(self.samples)]
        surest = self.least_confidence(samples[0].shape[1])
        apart: Tensor = _Disagreement.apply(torch.stack(samples), self.temperature, surest)  # type: ignore[no-untyped-call]
        share = 1 / self.samples
        extra_loss = apart * (self.agreement_weight * share / graph.total(graph.num_nodes))
        return TrainingOutput(samples[0], tuple(samples[1:]), extra_loss, share)


class _Disagreement(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, temperature: float, surest: float) -> Tensor:
        loss, gradient = disagreement(logits.detach(), temperature, surest)
        ctx.save_for_backward(gradient)
        return logits.new_tensor(loss)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_output, None, None
