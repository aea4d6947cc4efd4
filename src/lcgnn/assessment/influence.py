r"""What every given label does for a node's answer: how much its log-odds would fall if the label were taken away.

Training again without a label, for every label, is what is meant; what is computed is that for the network
linearised at its trained parameters. With J the Jacobian of the labelled nodes' logits, a change d of the
parameters gives them :math:`z + J d`, and without label j it is the minimiser of

.. math:: \frac{1}{L-1} \sum_{k \neq j} \mathrm{CE}(z_k + J_k d, y_k) + \frac{\lambda}{2} |d|^2 + r \cdot d

where r makes d = 0 the minimiser with all labels: training ended there, whatever else it was trained for. As
:math:`d = J^\top \beta`, only the kernel :math:`K = J J^\top` of the labelled rows is needed, first derivatives of
any network, and Newton's method on (L C) numbers. With many labels one step of it has to do, for all of them at
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from lcgnn.assessment.calibration import at_temperature
from lcgnn.graph import Graph
from lcgnn.methods.fitted import FittedNetwork

# Labelled rows times classes up to which every label's problem is solved to its end.
_FEW_ROWS = 240
# Newton's steps, of which few are taken where they lead to the end, and how often one is halved at most.
_NEWTON_STEPS, _MOST_HALVED = 50, 20
# A slope so small beside the first is none.
_FLAT = 1e-10
# Rows of the Jacobian at most, numbers in it, and numbers of the graph that all backward passes may read together.
_MOST_ROWS = 1000
_MOST_NUMBERS = 100_000_000
_MOST_READ = 400_000_000
# Where nothing is decayed the least squares still need something.
_LEAST_DECAY = 1e-6
# Dropout holds parameters back as a larger penalty would. On the small graph of the tests the rank correlation
# with training again without each label was, without and with this: GCN 0.58 and 0.62, LC-GCN 0.47 and 0.55, APPNP
# 0.57 and 0.65 (40 nodes, 20 labels); four times as much was worse for all three.
_DAMPING = 5.0
# Log-odds beyond this say no more.
_ALMOST = 1e-6


@dataclass(frozen=True, eq=False)
class Influence:
    """What labels do for one node's answer.

    Args:
        nodes: (M,) the labelled nodes that were looked at.
        removed: (M,) by how much the log-odds of the answer fall if the node's label is taken away: positive for
            one that speaks for the answer.
        complete: Whether these are all labelled nodes, and not only those that are nearest.
    """

    nodes: NDArray[np.int64]
    removed: NDArray[np.float64]
    complete: bool


@dataclass(frozen=True, eq=False)
class LabelKernel:
    """A fitted network's Jacobian at its labelled nodes, for asking about any number of nodes.

    Args:
        fitted: The network.
        nodes: (M,) the labelled nodes.
        labels: (M,) their classes.
        logits: (N, C) of all nodes, with the gradient by the parameters.
        jacobian: (M C, P) of the labelled nodes' logits.
        temperature: At which the answers are said.
    """

    fitted: FittedNetwork
    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    logits: Tensor
    jacobian: Tensor
    temperature: float = 1.0

    @classmethod
    def of(
        cls, fitted: FittedNetwork, nodes: NDArray[np.int64], labels: NDArray[np.int64], temperature: float = 1.0
    ) -> LabelKernel:
        """Of a network and the nodes that it was trained on."""
        logits = fitted.logits()
        rows = []
        for node in nodes.tolist():
            for label in range(logits.shape[1]):
                rows.append(_gradient(fitted, logits, (node, label)))
        return cls(fitted, nodes, labels, logits, torch.stack(rows), temperature)

    def removed(self, node: int, label: int) -> NDArray[np.float64]:
        """(M,) by how much the log-odds of a node's class fall without each of the labels."""
        own = torch.stack([_gradient(self.fitted, self.logits, (node, c)) for c in range(self.logits.shape[1])])
        kernel = (self.jacobian @ own.T).double()  # (M C, C)
        logits = self.logits.detach().cpu()[node].double()
        after = logits + self._changes @ kernel  # (M, C) without each of the labels
        return self._log_odds(logits[None], label) - self._log_odds(after, label)

    @cached_property
    def _changes(self) -> Tensor:
        """(M, M C) beta without each of the labels, which is the same for whatever is asked."""
        kernel = (self.jacobian @ self.jacobian.T).double()
        logits = self.logits.detach().cpu()[torch.from_numpy(self.nodes)].double()
        problem = _Problem(kernel, logits, torch.from_numpy(self.labels), self._decay())
        return problem.to_the_end() if kernel.shape[0] <= _FEW_ROWS else problem.in_one_step()

    def _log_odds(self, logits: Tensor, label: int) -> NDArray[np.float64]:
        """(M,) of a class in the calibrated answers, by rows of logits (M, C)."""
        answers = self.fitted.answer_by_rows(logits.float()).cpu().numpy()
        calibrated = at_temperature(answers, self.temperature)[:, label].astype(np.float64)
        bounded = np.clip(calibrated, _ALMOST, 1 - _ALMOST)
        return np.asarray(np.log(bounded / (1 - bounded)))

    def _decay(self) -> float:
        method = self.fitted.method
        damping = _DAMPING if getattr(method, "dropout", 0.0) else 1.0
        return max(damping * method.weight_decay, _LEAST_DECAY)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Training the linearised network again without one of its labels.

    Args:
        kernel: (M C, M C).
        logits: (M, C) as they were trained.
        labels: (M,).
        decay: The L2 penalty.
    """

    kernel: Tensor
    logits: Tensor
    labels: Tensor
    decay: float

    @property
    def _targets(self) -> Tensor:
        return torch.nn.functional.one_hot(self.labels, self.logits.shape[1]).double()

    def to_the_end(self) -> Tensor:
        """(M, M C) for every label the change beta without it, by Newton's method."""
        return torch.stack([self._without(position) for position in range(self.labels.shape[0])])

    def _without(self, position: int) -> Tensor:
        count = self.labels.shape[0]
        share = torch.full((count, 1), 1 / max(count - 1, 1), dtype=torch.float64)
        share[position] = 0
        before = self._residual(self.logits, torch.full_like(share, 1 / count))

        def at(change: Tensor) -> tuple[Tensor, Tensor]:
            logits = self.logits + (self.kernel @ change).view_as(self.logits)
            return logits, self._residual(logits, share) - before + self.decay * change

        change = torch.zeros(self.kernel.shape[0], dtype=torch.float64)
        logits, slope = at(change)
        flat = _FLAT * slope.norm()
        for _ in range(_NEWTON_STEPS):
            if slope.norm() <= flat:
                break
            step = torch.linalg.solve(self._curvature(logits, share), slope)
            for _ in range(_MOST_HALVED):
                there = at(change - step)
                if there[1].norm() < slope.norm():
                    break
                # Far from the end a whole step may lead away from it.
                step = step / 2
            change, (logits, slope) = change - step, there
        return change

    def in_one_step(self) -> Tensor:
        """The same by one step, with the curvature of all labels."""
        count = self.labels.shape[0]
        share = torch.full((count, 1), 1 / count, dtype=torch.float64)
        before = self._residual(self.logits, share).view_as(self.logits)
        # Without a label its residual is gone, and the others count a little more.
        slopes = before[None] * (count / max(count - 1, 1) - 1) * torch.ones(count, 1, 1, dtype=torch.float64)
        every = torch.arange(count)
        slopes[every, every] = -before
        changes: Tensor = torch.linalg.solve(self._curvature(self.logits, share), -slopes.view(count, -1).T)
        return changes.T

    def _residual(self, logits: Tensor, share: Tensor) -> Tensor:
        """(M C,) the gradient of the loss by the labelled rows' logits."""
        return ((torch.softmax(logits, dim=1) - self._targets) * share).view(-1)

    def _curvature(self, logits: Tensor, share: Tensor) -> Tensor:
        """(M C, M C) ``D K + decay``, with D the second derivative of the loss by the logits."""
        probability = torch.softmax(logits, dim=1)
        blocks = torch.diag_embed(probability) - probability[:, :, None] * probability[:, None, :]
        rows = self.kernel.view(*logits.shape, -1)  # (M, C, M C)
        product = torch.bmm(blocks * share[:, :, None], rows).view_as(self.kernel)
        return product + self.decay * torch.eye(self.kernel.shape[0], dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class LabelInfluences:
    """What the training labels of a graph do for any node's answer, by the mean over several networks.

    Args:
        networks: That were fitted to the labels.
        graph: The graph.
        train: (L,) the nodes whose labels they were trained on.
        temperature: At which the answers are said.
    """

    networks: tuple[FittedNetwork, ...]
    graph: Graph
    train: NDArray[np.int64]
    temperature: float = 1.0

    def on(self, node: int, label: int) -> Influence | None:
        """On a node's class: of all labels, or of those that can be weighed in a few seconds; None if none can."""
        most = _most_labels(self.networks, self.graph)
        if most < 2:
            return None
        complete = self.train.size <= most
        near = self.train if complete else nearest_labels(self.graph, self.train, node, most)
        kernels = self._kernels if complete else self._kernels_of(near)
        removed = np.mean([kernel.removed(node, label) for kernel in kernels], axis=0)
        return Influence(near, removed, complete)

    @cached_property
    def _kernels(self) -> tuple[LabelKernel, ...]:
        return self._kernels_of(self.train)

    def _kernels_of(self, nodes: NDArray[np.int64]) -> tuple[LabelKernel, ...]:
        labels = self.graph.labels[nodes]
        return tuple(LabelKernel.of(fitted, nodes, labels, self.temperature) for fitted in self.networks)


def _most_labels(networks: tuple[FittedNetwork, ...], graph: Graph) -> int:
    """How many labels can be looked at in a few seconds."""
    features = graph.features
    stored = features.nnz if isinstance(features, csr_array) else 0 if features is None else features.size
    parameters = sum(value.numel() for value in networks[0].network.parameters())
    rows = min(_MOST_ROWS, _MOST_NUMBERS // max(parameters, 1), _MOST_READ // max(stored + graph.adjacency.nnz, 1))
    return int(rows // (graph.num_classes * len(networks)))


def nearest_labels(graph: Graph, train: NDArray[np.int64], node: int, count: int) -> NDArray[np.int64]:
    """The labelled nodes that a walk of a few steps from the node reaches most often."""
    degrees = np.maximum(np.asarray(graph.adjacency.sum(axis=1)).ravel(), 1e-12)
    step = np.zeros(graph.num_nodes)
    step[node] = 1.0
    visits = step.copy()
    for _ in range(6):
        step = graph.adjacency @ (step / degrees)
        visits += step
    return train[np.argsort(-visits[train], kind="stable")[:count]]


def _gradient(fitted: FittedNetwork, logits: Tensor, place: tuple[int, int]) -> Tensor:
    one = torch.zeros_like(logits)
    one[place] = 1.0
    return _by_parameters(fitted, logits, one)


def _by_parameters(fitted: FittedNetwork, logits: Tensor, by_logits: Tensor) -> Tensor:
    """(P,) a gradient by the logits carried on to all parameters, on the CPU."""
    parameters = list(fitted.network.parameters())
    found = torch.autograd.grad(logits, parameters, by_logits, retain_graph=True, allow_unused=True)
    parts = [torch.zeros_like(own) if part is None else part for own, part in zip(parameters, found, strict=True)]
    return torch.cat([part.reshape(-1) for part in parts]).cpu()
