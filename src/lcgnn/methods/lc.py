"""The paper's procedure around any network: train the base, then train everything with label consistency."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.device import resolve_device
from lcgnn.compute.kernels.threads import steady
from lcgnn.compute.placement.base import Kind, Placement
from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.compute.usual import usual
from lcgnn.consistency import Reduction, aggregate, balanced
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import Context, Fit, Method, MethodClass, register, setting
from lcgnn.methods.guard import worse_than_base
from lcgnn.methods.phases import fit_in_phases, fitted_logits, nodes_on
from lcgnn.methods.placements import check_placement
from lcgnn.methods.several import apply_several, fit_several
from lcgnn.methods.sizes import check_size
from lcgnn.networks.network import Network
from lcgnn.training.loop import Phase, Selection, diverged
from lcgnn.training.objectives import AdjacencyAggregation, CrossEntropy, LabelConsistencyObjective, Objective

Aggregation = Literal["consistency", "adjacency", "none"]


@dataclass(frozen=True)
class TwoPhase(Method):
    """A network trained alone, then trained on with label consistency, or with a control in its place.

    Subclasses add the network's own settings and say how to build it; defaults are GCN's in the paper.
    """

    aggregation: Aggregation | None = setting(
        "consistency",
        "Second phase: 'consistency' (the paper), 'adjacency' (the paper's ablation), 'none' (the same budget "
        "without aggregation), or null for no second phase.",
    )
    consistency_weight: float = setting(
        1.0, "Weight of the regularisation loss (the paper's lambda); 0 turns it off."
    )
    reduction: Reduction = setting("mean", "Average ('mean') or add up ('sum') over labelled nodes and pairs.")
    base_epochs: int = setting(200, "Epochs of the first phase.")
    base_selection: Selection = setting("loss", "Which epoch of the base to report: accuracy, loss or last.")
    base_stop_window: int = setting(
        10,
        "Stop the first phase when the validation loss exceeds its mean over so many epochs; 0: never.",
        at_least=0,
    )
    epochs: int = setting(1000, "Epochs of the second phase.")
    selection: Selection = setting(
        "accuracy",
        "Which epoch to keep: by validation accuracy, by validation loss, or the last (needs no validation).",
    )
    learning_rate: float = setting(0.01, "Adam's learning rate.", at_least=0)
    weight_decay: float = setting(5e-4, "L2 penalty on all parameters.", at_least=0)
    base_patience: int = setting(
        0,
        "Stop the first phase after so many epochs without a better validation loss or accuracy; 0: never.",
        at_least=0,
        added="0.3",
    )
    patience: int = setting(0, "The same for the second phase.", at_least=0, added="0.3")
    cross_entropy_weight: float = setting(
        0.0,
        "Weight of the base's cross-entropy, kept beside label consistency's loss; 0 is the paper's form.",
        at_least=0,
        added="0.3",
    )
    balanced: bool = setting(
        False,
        "Whether every class counts the same in the aggregation, however large it is; false is the paper's form.",
        added="0.3",
    )
    guard: bool = setting(
        False,
        "Whether the base's answer is kept where label consistency made it worse, by the validation labels, or by "
        "classes that vanish where there are none; false is the paper's form.",
        added="0.3",
    )
    models: int = setting(
        1, "Train so many from different seeds and answer with their mean.", at_least=1, at_most=100, added="0.3"
    )

    def __post_init__(self) -> None:
        # Both check their settings, before any work starts.
        self.base_phase()
        self.second_phase()
        if self.consistency_weight < 0:
            raise ConfigError(f"consistency_weight is {self.consistency_weight}; it cannot be negative.")

    @abstractmethod
    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> Network:
        """The untrained network, its weights drawn from the generator."""

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        context = context or Context()
        split.check(graph)
        tensors: GraphTensors | PartwiseTensors
        if context.parts == 1:
            tensors = GraphTensors(graph, resolve_device(context.device))
        else:
            tensors = PartwiseTensors(graph, context.parts)
        train, validation = nodes_on(tensors, split.train), nodes_on(tensors, split.validation)
        return self.fit_tensors(tensors, train, validation, seed, context)

    def fit_tensors(self, graph: Placement, train: Tensor, validation: Tensor, seed: int, context: Context) -> Fit:
        """Fit to a graph, or to the part of one that this process holds; the stages have the same nodes."""
        check_placement(self, graph.kind)
        at_once = graph.num_nodes if graph.holds_all else 0
        check_size(self, "this graph", at_once, graph.num_features, graph.num_classes)

        def fit_one(seed: int, context: Context) -> Fit:
            return self._fit_one(graph, train, validation, seed, context)

        return fit_one(seed, context) if self.models == 1 else fit_several(fit_one, self.models, seed, context)

    @steady()
    @usual()
    def _fit_one(self, graph: Placement, train: Tensor, validation: Tensor, seed: int, context: Context) -> Fit:
        generator = torch.Generator().manual_seed(seed)
        network = self.network(graph.num_features, graph.num_classes, generator).to(graph.device)
        network.prepare(graph, seed)
        guard = worse_than_base if self.guard and self.aggregation == "consistency" else None
        # Who keeps the last epoch has no label decide, however many there are.
        deciding = validation[:0] if self.selection == "last" else validation
        fit = fit_in_phases(network, graph, validation, seed, context, self.phases(graph, train), guard, deciding)
        class_agreement = self._agreement(network, graph, fit).cpu()
        if not torch.isfinite(class_agreement).all():
            last = fit.stages[-1]
            phase = self.second_phase() or self.base_phase()
            raise diverged(phase, last.best_epoch, "a probability is not finite")
        return replace(fit, tensors={**fit.tensors, AGREEMENT: class_agreement})

    @torch.no_grad()
    def _agreement(self, network: Network, graph: Placement, fit: Fit) -> Tensor:
        """The (C, C) class agreement of the fitted network, which classifies a new node without the old graph."""
        if fit.stages[-1].note:
            # The identity leaves every distribution as it is.
            return torch.eye(graph.num_classes)
        with network.holding(fit.tensors):
            found = graph.agreement(network(graph))
        return balanced(found) if self.balanced else found

    @property
    def inductive(self) -> bool:
        return True

    @property
    def placements(self) -> frozenset[Kind]:
        # What a network's rows may live on does not depend on how many columns they have.
        of_network = self.network(1, 2, torch.Generator()).placements
        if self.models > 1:
            # Ranks share one checkpoint.
            of_network -= {"on ranks"}
        return of_network & AdjacencyAggregation.runs_on if self.aggregation == "adjacency" else of_network

    def apply(self, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto") -> NDArray[np.float32]:
        """(N, C); with label consistency every node is compared with the nodes that the method was fitted to."""
        tensors = GraphTensors(graph, resolve_device(device))
        if self.models == 1:
            return self._apply_one(fitted, tensors)
        return apply_several(lambda own: self._apply_one(own, tensors), self.models, fitted)

    @steady()
    def _apply_one(self, fitted: Mapping[str, Tensor], tensors: GraphTensors) -> NDArray[np.float32]:
        class_agreement = fitted[AGREEMENT].to(tensors.device)
        parameters = {name: value for name, value in fitted.items() if name != AGREEMENT}
        network = self.network(tensors.num_features, class_agreement.shape[0], torch.Generator())
        logits = fitted_logits(network, parameters, tensors)
        if self.aggregation == "consistency":
            distribution = aggregate(torch.softmax(logits, dim=1), class_agreement)
        else:
            _, objective = self.phases(tensors, nodes_on(tensors, np.empty(0, dtype=np.int64)))[-1]
            distribution = objective.distribution(logits)
        return distribution.cpu().numpy()

    def first_phase_settings(self) -> dict[str, Any] | None:
        if self.aggregation is None or self.models > 1:
            return None
        shared = {key: value for key, value in self.plain_settings().items() if key not in _SECOND_PHASE_SETTINGS}
        return {"network": type(self).__qualname__, "phase": asdict(self.base_phase()), **shared}

    def base_phase(self) -> Phase:
        """The first phase. Where the last epoch is kept in the end, no validation label is read here either."""
        return Phase(
            "base",
            self.base_epochs,
            self.learning_rate,
            self.weight_decay,
            "last" if self.selection == "last" else self.base_selection,
            self.base_stop_window,
            patience=self.base_patience,
            decays=self.decays(),
        )

    def alone(self) -> TwoPhase:
        """The base without a second phase: what the first stage of a fit is the answer of."""
        return replace(self, aggregation=None, guard=False, cross_entropy_weight=0.0)

    def second_phase(self) -> Phase | None:
        """The second phase, if there is one."""
        if self.aggregation is None:
            return None
        if self.aggregation not in _PHASE_NAMES:
            raise ConfigError(f"aggregation is {self.aggregation!r}; it can be {', '.join(_PHASE_NAMES)} or null.")
        name = _PHASE_NAMES[self.aggregation]
        return Phase(
            name,
            self.epochs,
            self.learning_rate,
            self.weight_decay,
            self.selection,
            patience=self.patience,
            decays=self.decays(),
        )

    def decays(self) -> Mapping[str, float] | None:
        """The L2 penalty of every parameter that has one, by name; None for ``weight_decay`` on all."""
        return None

    def phases(self, graph: Placement, train: Tensor) -> list[tuple[Phase, Objective]]:
        """What to train, how long and for what."""
        cross_entropy = CrossEntropy(graph, train)
        phases: list[tuple[Phase, Objective]] = [(self.base_phase(), cross_entropy)]
        second = self.second_phase()
        if second is None:
            return phases
        if self.aggregation == "consistency":
            objective: Objective = self.consistency(graph, train)
        elif self.aggregation == "adjacency":
            objective = AdjacencyAggregation(graph, train)
        else:
            objective = cross_entropy
        return [*phases, (second, objective)]

    def consistency(self, graph: Placement, train: Tensor) -> LabelConsistencyObjective:
        """What the second phase of LC is trained for."""
        return LabelConsistencyObjective(
            graph, train, self.consistency_weight, self.reduction, self.cross_entropy_weight, self.balanced
        )


AGREEMENT = "class_agreement"
"""What the class agreement is called beside the network's parameters, which have other names."""
# The first phase depends on none of these but through ``base_phase``.
_SECOND_PHASE_SETTINGS = {
    "aggregation",
    "consistency_weight",
    "reduction",
    "epochs",
    "selection",
    "base_selection",
    "patience",
    "cross_entropy_weight",
    "balanced",
    "guard",
}

_PHASE_NAMES = {"consistency": "label consistency", "adjacency": "adjacency", "none": "control"}


def register_network(name: str, title: str) -> Callable[[MethodClass], MethodClass]:
    """Register a ``TwoPhase`` subclass under five names: the base, its control, two ablations and LC.

    For ``register_network("gcn", "GCN")``: gcn, gcn-control, gcn-adjacency, lc-gcn-no-rl and lc-gcn.
    """
    variants: list[tuple[str, str, dict[str, Any]]] = [
        (name, f"{title} alone.", {"aggregation": None}),
        (f"lc-{name}", f"LC-{title}: {title}, then label consistency with its regulariser.", {}),
        (
            f"lc-{name}-no-rl",
            f"LC-{title} without the regularisation loss.",
            {"consistency_weight": 0.0},
        ),
        (
            f"{name}-adjacency",
            f"{title}, then label aggregation over the edges (the ablation without LC and RL).",
            {"aggregation": "adjacency"},
        ),
        (
            f"{name}-control",
            f"{title} with LC-{title}'s budget, without label consistency: the control.",
            {"aggregation": "none"},
        ),
    ]

    def add(method: MethodClass) -> MethodClass:
        for variant, summary, preset in variants:
            register(variant, summary, family=name, **preset)(method)
        return method

    return add
